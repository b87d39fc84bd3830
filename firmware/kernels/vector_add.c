/* Adds two vectors of words in L1. Arguments: address of a, of b, of the sum, number of words. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    const uint32_t *a = (const uint32_t *)(uintptr_t)devlog_arg(0);
    const uint32_t *b = (const uint32_t *)(uintptr_t)devlog_arg(1);
    uint32_t *sum = (uint32_t *)(uintptr_t)devlog_arg(2);
    uint32_t n = devlog_arg(3);
    for (uint32_t block = 0; block < n; block += 64) {
        DEVLOG_ZONE("add block");
        uint32_t end = block + 64 < n ? block + 64 : n;
        for (uint32_t i = block; i < end; i++)
            sum[i] = a[i] + b[i];
    }
}
