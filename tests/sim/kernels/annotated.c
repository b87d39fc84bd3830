/* Work whose cycles are known line by line: a loop of loads from L1 whose values are used at once, one of divisions, and
 * one of nothing, in a zone. -DMORE adds one instruction to the last, once. */
#include "devlog/kernel.h"
#include "devlog/profile.h"

static volatile uint32_t *const words = (volatile uint32_t *)0x60000;

static __attribute__((noinline)) uint32_t loads(uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += words[4 * (i & 63)];
    return sum;
}

static __attribute__((noinline)) uint32_t divisions(uint32_t n)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i <= n; i++)
        __asm__ __volatile__("divu %0, %1, %2" : "=r"(at) : "r"(0x7fffffff), "r"(i + 2));
    return at;
}

void kernel_main(void)
{
    DEVLOG_ZONE("work");
    words[1] = loads(devlog_arg(0)) + divisions(devlog_arg(1));
    for (uint32_t i = 0; i < 16; i++)
        __asm__ __volatile__("nop");
#ifdef MORE
    __asm__ __volatile__("nop");
#endif
}
