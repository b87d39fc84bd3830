/* At the end of a kernel: one record for every zone that was summed on the device. Linked into every kernel.
 */
#include "records.h"

void devlog_record_sums(void);

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

extern devlog_sum_ devlog_sums_start[], devlog_sums_end[];

uint32_t devlog_next_segment(uint32_t tp, uint32_t start);
extern uint32_t devlog_sums_began;

__attribute__((section(".text.devlog_machine"))) void devlog_record_sums(void)
{
    if (&devlog_sums_start[0] == &devlog_sums_end[0]) return;
    enum { AROUND = 32 };
    volatile devlog_control *control = records_control();
    uint32_t start = devlog_clock_low_(), before = control->stall_cycles;
    uint32_t passes = 0;
    devlog_sums_began = 1;
    for (const devlog_sum_ *sum = devlog_sums_start; sum < devlog_sums_end; sum++) {
        if (sum->passes == 0) continue;
        passes = passes + sum->passes < passes ? UINT32_MAX : passes + sum->passes;
        uint32_t at = records_cursor();
        if (at & DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS)) {
            at = devlog_next_segment(at, devlog_clock_low_());
            records_set_cursor(at);
            if (at & DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS)) continue; /* dropped */
        }
        uint64_t clock = devlog_clock();
        volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)at;
        word[0] = ((uint32_t)(clock >> 32) << 12) + DEVLOG_CODE_SUM - 0x1000u;
        word[1] = (uint32_t)clock;
        word[2] = sum->id;
        word[3] = sum->passes;
        word[4] = sum->total_low;
        word[5] = sum->total_high;
        word[6] = sum->shortest;
        word[7] = sum->longest;
        records_set_cursor(at + 32);
    }
    /* What changes of segments added meanwhile is part of the time that this took; AROUND is what lies before
     * the first reading of the clock and behind the last one: registers are kept, the cost is added up. */
    control->passes = passes;
    control->stall_cycles = AROUND + before + devlog_clock_low_() - start;
}

#else

void devlog_record_sums(void) {}

#endif
