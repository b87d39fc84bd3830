/* The records of this RISC: control block, default markers, segments and sums. See include/devlog/record.h
 * for the layout. Not for the marker itself: that is inline assembly in include/devlog/profile_impl.h. */
#include "records.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

/* Tells the host that this program was compiled to record. */
__asm__(".pushsection .devlog.build,\"\",@progbits\n\t.4byte 1\n\t.popsection");

static uint32_t segment_base(uint32_t segment)
{
    return RECORDS_REGION + segment * DEVLOG_SEGMENT_STRIDE(DEVLOG_SEGMENT_BITS);
}

static uint32_t cursor(void)
{
    uint32_t tp;
    __asm__ __volatile__("mv %0,tp" : "=r"(tp));
    return tp;
}

static void set_cursor(uint32_t tp)
{
    __asm__ __volatile__("mv tp,%0" ::"r"(tp));
}

void records_boot(void)
{
    volatile devlog_control *control = records_control();
    control->state = DEVLOG_STATE_IDLE;
    control->marks = 0;
    control->magic = DEVLOG_MAGIC;
}

static void mark(volatile devlog_control *control, uint32_t id, uint64_t clock, uint32_t state)
{
    control->stamps[2 * (id - 1)] = (uint32_t)clock;
    control->stamps[2 * (id - 1) + 1] = (uint32_t)(clock >> 32);
    control->marks = control->marks | 1u << (id - 1);
    control->state = state;
}

void records_begin(uint32_t launch, uint32_t host_id)
{
    uint64_t clock = devlog_clock();
    volatile devlog_control *control = records_control();
    control->launch = launch;
    control->host_id = host_id;
    control->marks = 0;
    control->tail = 0;
    control->segment = 0;
    for (uint32_t i = 0; i < DEVLOG_SEGMENTS; i++)
        control->segment_end[i] = 0;
    control->switches = 0;
    control->dropped = 0;
    control->overwritten = 0;
    control->streamed = 0;
    control->stall_cycles = 0;
    /* A launch that begins frozen records nothing: its cursor starts where the segment is full. */
    set_cursor(segment_base(0) + (control->frozen ? DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS) : 0));
    if (control->frozen) control->segment_end[0] = segment_base(0);
    mark(control, DEVLOG_ID_FW_START, clock, DEVLOG_STATE_FW);
}

void records_mark(uint32_t id, uint32_t state)
{
    mark(records_control(), id, devlog_clock(), state);
}

void records_finish(void)
{
    volatile devlog_control *control = records_control();
    uint32_t tail = cursor();
    /* A segment that was left full or frozen has its end already, and the cursor behind it says nothing. */
    uint32_t full = control->segment_end[control->segment];
    control->tail = full ? full : tail;
}

#if defined(DEVLOG_KERNEL)

/* Bytes of the record that begins at `at`. */
static uint32_t record_bytes(uint32_t at)
{
    const volatile uint32_t *word = (const volatile uint32_t *)(uintptr_t)at;
    uint32_t code = word[0] & 0xFFFu;
    uint32_t kind = 0, wide = 0;
    if (code == DEVLOG_CODE_WIDE) {
        wide = 4;
        kind = word[2] >> 28;
    }
    if (code < DEVLOG_CODE_COMPLETE || kind == DEVLOG_KIND_ZONE || kind == DEVLOG_KIND_ZONE_END)
        return 8 + wide;
    if (code < DEVLOG_CODE_EVENT || kind == DEVLOG_KIND_COMPLETE) return 12 + wide;
    if (code < DEVLOG_CODE_VALUE32 || kind == DEVLOG_KIND_EVENT) return 8 + wide;
    if (code < DEVLOG_CODE_VALUE64 || kind == DEVLOG_KIND_VALUE32 || kind == DEVLOG_KIND_COUNTER)
        return 12 + wide;
    if (code < DEVLOG_CODE_PRINT || kind == DEVLOG_KIND_VALUE64) return 16 + wide;
    if (code < DEVLOG_CODE_SPECIAL || kind == DEVLOG_KIND_PRINT) return 12 + wide + 4 * word[2 + wide / 4];
    return code == DEVLOG_CODE_SUM ? 32 : 12;
}

static uint32_t count_records(uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (; from < to; n++)
        from += record_bytes(from);
    return n;
}

/* The cursor stands behind a full segment: returns the cursor for the next record, or 0 to drop it. */
uint32_t devlog_next_segment(uint32_t tp);
uint32_t devlog_next_segment(uint32_t tp)
{
    volatile devlog_control *control = records_control();
    uint32_t segment = control->segment, next = segment ^ 1u;
    if (control->frozen || control->mode == DEVLOG_MODE_STREAM) goto drop;
    if (control->mode == DEVLOG_MODE_STOP && segment != 0) {
        control->segment_end[segment] = tp;
        goto drop;
    }
    control->segment_end[segment] = tp;
    if (control->segment_end[next] != 0) {
        control->overwritten =
            control->overwritten + count_records(segment_base(next), control->segment_end[next]);
        control->segment_end[next] = 0;
    }
    control->segment = next;
    control->switches = control->switches + 1;
    return segment_base(next);
drop:
    control->dropped = control->dropped + 1;
    return 0;
}

/* DEVLOG_FREEZE at cursor tp: returns a cursor at which the segment is full. */
uint32_t devlog_freeze_at(uint32_t tp);
uint32_t devlog_freeze_at(uint32_t tp)
{
    volatile devlog_control *control = records_control();
    uint32_t segment = control->segment;
    control->frozen = 1;
    if (control->segment_end[segment] == 0) control->segment_end[segment] = tp;
    return segment_base(segment) + DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS);
}

/* At kernel end: one record for every zone that was summed and passed at least once. */
extern devlog_sum_ devlog_sums_start[], devlog_sums_end[];
void devlog_record_sums(void);
void devlog_record_sums(void)
{
    for (const devlog_sum_ *sum = devlog_sums_start; sum < devlog_sums_end; sum++) {
        if (sum->passes == 0) continue;
        uint32_t at = cursor();
        while (at & DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS)) {
            at = devlog_next_segment(at);
            if (at == 0) break;
            set_cursor(at);
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
        set_cursor(at + 32);
    }
}

#endif

#else /* no PROFILE_DEVICE */

#if defined(DEVLOG_KERNEL)
void devlog_record_sums(void);
void devlog_record_sums(void) {}
#endif

#endif
