/* The own cost of markers, measured on the device when its firmware starts. */
#include "records.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile.h"

enum {
    COST_MARKERS = 8,
    COST_SHIFT = 1
}; /* 16 / COST_MARKERS = 1 << COST_SHIFT: sixteenths of a cycle each */

#define COST_EIGHT(marker)                                                                                   \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker;                                                                                                  \
    marker

/* Measures `code` with eight markers: the time from before the first to behind the last, less the time that
 * two readings of the clock take when nothing is between them. */
#define COST_MEASURE(kind, code)                                                                             \
    do {                                                                                                     \
        records_set_cursor(records_segment(0));                                                              \
        uint32_t start = devlog_clock_low_();                                                                \
        code;                                                                                                \
        uint32_t cycles = devlog_clock_low_() - start;                                                       \
        records_control()->cost[kind] = (cycles > nothing ? cycles - nothing : 0) << COST_SHIFT;             \
    } while (0)

/* What the last of the eight complete zones says of itself: its end and start are words 1 and 2 of 3. */
static uint32_t complete_by_itself(void)
{
    const volatile uint32_t *last =
        (const volatile uint32_t *)(uintptr_t)records_segment(0) + 3 * (COST_MARKERS - 1);
    return (last[1] - last[2]) << 4;
}

void records_measure_cost(void)
{
    uint32_t start = devlog_clock_low_();
    uint32_t nothing = devlog_clock_low_() - start;
    /* Twice: the first time fills the instruction cache. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        COST_MEASURE(DEVLOG_KIND_EVENT, COST_EIGHT(DEVLOG_EVENT("cost")));
        COST_MEASURE(DEVLOG_KIND_VALUE32, COST_EIGHT(DEVLOG_VALUE("cost", start)));
        COST_MEASURE(DEVLOG_KIND_VALUE64, COST_EIGHT(DEVLOG_VALUE64("cost", start)));
        COST_MEASURE(DEVLOG_KIND_PRINT, COST_EIGHT(DEVLOG_PRINTF("cost")));
        COST_MEASURE(DEVLOG_KIND_COMPLETE, COST_EIGHT({ DEVLOG_ZONE_COMPLETE("cost"); }));
        records_control()->cost[0] = complete_by_itself();
        COST_MEASURE(DEVLOG_KIND_ZONE, COST_EIGHT(DEVLOG_EVENT("cost")));
    }
    records_control()->cost[DEVLOG_KIND_COUNTER] = records_control()->cost[DEVLOG_KIND_VALUE32];
    records_control()->cost[DEVLOG_KIND_ZONE_END] = records_control()->cost[DEVLOG_KIND_ZONE];
    /* The segment is left as the host cleared it. */
    for (uint32_t at = records_segment(0); at < records_segment(0) + COST_MARKERS * 16u; at += 4)
        *(volatile uint32_t *)(uintptr_t)at = 0;
}

#endif
