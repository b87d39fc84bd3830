/* Two RISCs hand words to one another by semaphores: BRISC writes, TRISC1 adds up. Arguments: which of them, place. There are the
 * two semaphores, the sum, and from 64 bytes on the words. */
#include <devlog/kernel.h>

#define WORDS  4u
#define ROUNDS 200u

void kernel_main(void)
{
    const uint32_t at = devlog_arg(1), full = at, empty = at + 4;
    volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)(at + 64);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (devlog_arg(0) == 0) {
            if (i >= WORDS) devlog_semaphore_wait(empty, i + 1 - WORDS);
            words[i % WORDS] = i * 2654435761u;
            devlog_semaphore_post(full, i + 1);
        } else {
            devlog_semaphore_wait(full, i + 1);
            sum = sum * 31 + words[i % WORDS];
            devlog_semaphore_post(empty, i + 1);
        }
    }
    if (devlog_arg(0)) *(volatile uint32_t *)(uintptr_t)(at + 8) = sum;
}
