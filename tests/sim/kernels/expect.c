/* Markers of every kind with what is expected of them. Arguments: how many steps, how much work is in the last of them, a value,
 * and whether the first load comes too late. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

enum { FEWEST = 2, MOST = 6 };

#ifndef NO_EXPECTATIONS
DEVLOG_EXPECT_COUNT("step", FEWEST, MOST);
DEVLOG_EXPECT_ORDER("load", "step");
DEVLOG_EXPECT_CYCLES("sum, of \"passes\"", 0, 1000);
#endif

static volatile uint32_t sink;

static void work(uint32_t n)
{
    while (n--)
        sink = sink + n;
}

static inline void step(uint32_t n)
{
    DEVLOG_ZONE("step");
#ifndef NO_EXPECTATIONS
    DEVLOG_EXPECT_CYCLES("step", 20, 64 * 30 + 80);
    DEVLOG_EXPECT_CYCLES("complete", 1, DEVLOG_ANY);
#endif
    {
        DEVLOG_ZONE_COMPLETE("complete");
        work(n);
    }
    DEVLOG_ZONE_SUM("sum, of \"passes\"");
    work(n / 8);
}

void kernel_main(void)
{
    const uint32_t steps = devlog_arg(0), last = devlog_arg(1), level = devlog_arg(2), late = devlog_arg(3);
    for (uint32_t i = 0; i < steps; i++) {
        if (!late) DEVLOG_EVENT("load");
        step(i + 1 == steps ? last : 20);
        if (late) DEVLOG_EVENT("load");
        DEVLOG_VALUE("level", level + i);
    }
#ifndef NO_EXPECTATIONS
    DEVLOG_EXPECT_VALUE("level", 0, 9);
#endif
}
