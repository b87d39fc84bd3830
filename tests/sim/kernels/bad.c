/* Zones as they should not be: ended without a beginning, left open, nested deeper than any stack, and with
 * -DGARBAGE the kernel's own records overwritten. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

static void end_only(void)
{
    DEVLOG_ZONE_BEGIN(never, "never begun");
    DEVLOG_ZONE_END(never);
    DEVLOG_ZONE_END(never);
}

static void begin_only(void)
{
    DEVLOG_ZONE_BEGIN(open, "left open");
    (void)devlog_zone_tag_open;
}

static void deep(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        DEVLOG_ZONE_BEGIN(down, "down");
        (void)devlog_zone_tag_down;
    }
}

void kernel_main(void)
{
    end_only();
    begin_only();
    deep(100);
#if defined(GARBAGE)
    volatile uint32_t *records =
        (volatile uint32_t *)(uintptr_t)(DEVLOG_PROFILER +
                                         DEVLOG_RISC * DEVLOG_REGION_BYTES(DEVLOG_SEGMENT_BITS));
    for (uint32_t i = 10; i < 30; i++)
        records[i] = 0xDEADBEEFu * i;
#endif
    DEVLOG_EVENT("last");
}
