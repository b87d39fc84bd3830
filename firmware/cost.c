/* The own cost of markers, measured on the device when its firmware starts. */
#include "records.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile.h"

enum {
    COST_MARKERS = 8,
    COST_SHIFT = 1
}; /* 16 / COST_MARKERS = 1 << COST_SHIFT: sixteenths of a cycle each */

/* What stands between markers in a program, as far as it matters to them: every other time a variable on the
 * stack is written and read again, which waits for the marker's stores to L1; and then there is time enough.
 */
#define COST_NOPS "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
#define COST_WORK __asm__ __volatile__(COST_NOPS COST_NOPS::: "memory")
#define COST_WORK_ON_STACK                                                                                   \
    do {                                                                                                     \
        uint32_t variable;                                                                                   \
        __asm__ __volatile__(                                                                                \
            "nop\n\tnop\n\tsw zero,%0\n\tnop\n\tnop\n\tlw t1,%0\n\tadd t1,t1,t1\n\t" COST_NOPS               \
            : "=m"(variable)                                                                                 \
            :                                                                                                \
            : "t1", "memory");                                                                               \
    } while (0)
#define COST_EIGHT(marker)                                                                                   \
    for (uint32_t i_ = 0; i_ < COST_MARKERS; i_ += 2) {                                                      \
        marker;                                                                                              \
        COST_WORK;                                                                                           \
        marker;                                                                                              \
        COST_WORK_ON_STACK;                                                                                  \
    }

/* Measures `code` with eight markers at a cursor: the time from before the first to behind the last, less the
 * time that two readings of the clock take when only the work is between them. */
#define COST_MEASURE_FROM(cursor, kind, ...)                                                                 \
    do {                                                                                                     \
        records_set_cursor(cursor);                                                                          \
        uint32_t start_at = devlog_clock_low_();                                                             \
        __VA_ARGS__;                                                                                         \
        uint32_t cycles = devlog_clock_low_() - start_at;                                                    \
        records_control()->cost[kind] = (cycles > nothing ? cycles - nothing : 0) << COST_SHIFT;             \
    } while (0)
#define COST_MEASURE(kind, ...) COST_MEASURE_FROM(records_segment(0), kind, __VA_ARGS__)

/* What the last of the eight complete zones says of itself: its end and start are words 1 and 2 of 3. */
static uint32_t complete_by_itself(void)
{
    const volatile uint32_t *last =
        (const volatile uint32_t *)(uintptr_t)records_segment(0) + 3 * (COST_MARKERS - 1);
    return (last[1] - last[2]) << 4;
}

/* A pass through a sum with nothing in it. */
#define COST_PASS                                                                                            \
    do {                                                                                                     \
        uint32_t begun = DEVLOG_START_(0);                                                                   \
        DEVLOG_END_PASS_("0", "", &sum, begun, );                                                            \
    } while (0)

void records_measure_cost(void)
{
    volatile devlog_control *control = records_control();
    uint32_t start = devlog_clock_low_();
    uint32_t nothing = 0;
    devlog_sum_ sum = {.shortest = UINT32_MAX};
    /* Twice: the first time fills the instruction cache. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        start = devlog_clock_low_();
        COST_EIGHT((void)0);
        nothing = devlog_clock_low_() - start;
        COST_MEASURE(DEVLOG_KIND_EVENT, COST_EIGHT(DEVLOG_EVENT("cost")));
        COST_MEASURE(DEVLOG_KIND_VALUE32, COST_EIGHT(DEVLOG_VALUE("cost", start)));
        COST_MEASURE(DEVLOG_KIND_VALUE64, COST_EIGHT(DEVLOG_VALUE64("cost", start)));
        COST_MEASURE(DEVLOG_COST_ARGUMENT, COST_EIGHT(DEVLOG_PRINTF("cost %u %u %u %u", 0u, 0u, 0u, 0u)));
        COST_MEASURE(DEVLOG_KIND_PRINT, COST_EIGHT(DEVLOG_PRINTF("cost")));
        COST_MEASURE(DEVLOG_KIND_COMPLETE, COST_EIGHT({ DEVLOG_ZONE_COMPLETE("cost"); }));
        control->cost[0] = complete_by_itself();
        COST_MEASURE(DEVLOG_KIND_ZONE, COST_EIGHT(DEVLOG_EVENT("cost")));
        COST_MEASURE(DEVLOG_KIND_SUM, COST_EIGHT(COST_PASS));
        control->cost[DEVLOG_COST_SUM_SELF] = sum.longest << 4;
        sum.longest = 0;
        COST_MEASURE_FROM(devlog_drops_cursor(1, DEVLOG_SEGMENT_BITS), DEVLOG_COST_DROP,
                          COST_EIGHT(DEVLOG_EVENT("cost")));
    }
    control->cost[DEVLOG_KIND_COUNTER] = control->cost[DEVLOG_KIND_VALUE32];
    control->cost[DEVLOG_KIND_ZONE_END] = control->cost[DEVLOG_KIND_ZONE];
    control->cost[DEVLOG_COST_ARGUMENT] =
        (control->cost[DEVLOG_COST_ARGUMENT] - control->cost[DEVLOG_KIND_PRINT]) / 4u;
    control->dropping = 0;
    /* The segment is left as the host cleared it. */
    for (uint32_t at = records_segment(0); at < records_segment(0) + COST_MARKERS * 28u; at += 4)
        *(volatile uint32_t *)(uintptr_t)at = 0;
}

#endif
