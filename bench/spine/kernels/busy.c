/* Keeps a RISC busy with a mix of arithmetic, local and L1 accesses and branches. Argument: rounds. */
#include <devlog/kernel.h>

void kernel_main(void)
{
    volatile uint32_t *l1 = (volatile uint32_t *)(uintptr_t)(DEVLOG_USER_BASE + 64u * DEVLOG_RISC);
    uint32_t a = DEVLOG_RISC + 1u, rounds = devlog_arg(0);
    for (uint32_t i = 0; i < rounds; i++) {
        a = a * 1664525u + i;
        if (a & 16u) a ^= a >> 7;
        if ((i & 15u) == 0) l1[i & 7u] = a;
    }
    l1[8] = a;
}
