/* A stage of test_causes_run: takes a page from up to two circular buffers, works for some rounds, and gives one to up to two
 * others. Arguments: pages, rounds, buffers in (two, 0: none), buffers out (two), and a semaphore that it waits for in front of
 * each page (0: none), or (with 1 added) posts behind each. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#define ROOM  2u
#define BYTES 16u

void kernel_main(void)
{
    const uint32_t pages = devlog_arg(0), rounds = devlog_arg(1), semaphore = devlog_arg(6);
    for (uint32_t page = 0; page < pages; page++) {
        if (semaphore && !(semaphore & 1)) devlog_semaphore_wait(semaphore, page + 1);
        for (uint32_t i = 2; i < 4; i++)
            if (devlog_arg(i)) (void)devlog_cb_front(devlog_arg(i), ROOM, BYTES);
        for (uint32_t i = 4; i < 6; i++)
            if (devlog_arg(i)) (void)devlog_cb_reserve(devlog_arg(i), ROOM, BYTES);
        {
            DEVLOG_ZONE("work");
            for (uint32_t n = rounds; n; n--)
                __asm__ __volatile__("nop");
        }
        for (uint32_t i = 2; i < 4; i++)
            if (devlog_arg(i)) devlog_cb_pop(devlog_arg(i));
        for (uint32_t i = 4; i < 6; i++)
            if (devlog_arg(i)) devlog_cb_push(devlog_arg(i));
        if (semaphore & 1) devlog_semaphore_post(semaphore - 1, page + 1);
    }
}
