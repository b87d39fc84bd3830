/* At the end of a kernel: one record for every zone that was summed on the device. Linked into every kernel.
 */
#include "records.h"

void devlog_record_sums(void);

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

uint32_t devlog_next_segment(uint32_t tp);

extern devlog_sum_ devlog_sums_start[], devlog_sums_end[];
void devlog_record_sums(void)
{
    for (const devlog_sum_ *sum = devlog_sums_start; sum < devlog_sums_end; sum++) {
        if (sum->passes == 0) continue;
        uint32_t at = records_cursor();
        while (at & DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS)) {
            at = devlog_next_segment(at);
            if (at == 0) break;
            records_set_cursor(at);
        }
        if (at == 0) continue;
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
}

#else

void devlog_record_sums(void) {}

#endif
