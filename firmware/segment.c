/* What happens when a segment of records is full: called out of line by every marker (segment.S). Linked into
 * every program that has markers. */
#include "noc.h"
#include "records.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

/* Tells the host that this program was compiled to record. */
__asm__(".pushsection .devlog.build,\"\",@progbits\n\t.4byte " DEVLOG_STR_(
    DEVLOG_BUILD_LITERALS) "\n\t.popsection");

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
    if (code < DEVLOG_CODE_SPECIAL || kind == DEVLOG_KIND_PRINT)
        return 12 + wide + 4 * (word[2 + wide / 4] & 15u);
    return code == DEVLOG_CODE_SUM ? 32 : 12;
}

static uint32_t count_records(uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (; from < to; n++)
        from += record_bytes(from);
    return n;
}

#if defined(DEVLOG_NOC0_REGS)
/* Sends a full segment on its way to DRAM; false when there is no room for it. The other segment is written
 * meanwhile, and the next flush waits for this one. */
static uint32_t flush(volatile devlog_control *control, uint32_t segment, uint32_t end)
{
    uint32_t base = records_segment(segment), bytes = (end - base + 31u) & ~31u, at = end;
    if (control->stream_size - control->streamed < bytes) return 0;
    /* The padding up to whole flits reads as "no record". */
    for (; at < base + bytes; at += 4)
        *(volatile uint32_t *)(uintptr_t)at = 0;
    noc_wait();
    /* The last store must have reached L1 before the NIU reads it (WormholeB0/TensixTile/BabyRISCV/
     * MemoryOrdering.md): a load from the same address waits for it. */
    (void)*(volatile uint32_t *)(uintptr_t)(at - 4);
    noc_write(base, control->stream_target, control->stream_base + control->streamed, bytes);
    control->streamed = control->streamed + bytes;
    return 1;
}
#else
static uint32_t flush(volatile devlog_control *control, uint32_t segment, uint32_t end)
{
    (void)control, (void)segment, (void)end;
    return 0;
}
#endif

/* The first record behind a flush says how long it held the RISC up. */
static uint32_t record_stall(volatile devlog_control *control, uint32_t base, uint32_t start)
{
    uint64_t clock = devlog_clock();
    uint32_t cycles = (uint32_t)clock - start;
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)base;
    word[0] = ((uint32_t)(clock >> 32) << 12) + DEVLOG_CODE_STALL - 0x1000u;
    word[1] = (uint32_t)clock;
    word[2] = cycles;
    control->stall_cycles = control->stall_cycles + cycles;
    return base + 12;
}

/* The cursor stands behind a full segment: returns the cursor for the next record, or 0 to drop it. */
uint32_t devlog_next_segment(uint32_t tp);
uint32_t devlog_next_segment(uint32_t tp)
{
    volatile devlog_control *control = records_control();
    uint32_t start = devlog_clock_low_();
    uint32_t segment = control->segment & 1u, next = segment ^ 1u; /* whatever a kernel wrote there */
    uint32_t full = records_segment(segment) + DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS);
    if (tp - full > DEVLOG_SLACK) { /* the kernel has changed it: where its records end is not known */
        control->damage = control->damage | DEVLOG_DAMAGE_CURSOR;
        tp = full;
    }
    if (control->frozen) goto drop;
    if (control->mode == DEVLOG_MODE_STREAM && control->segment_end[segment] == 0 &&
        flush(control, segment, tp)) {
        control->segment = next;
        control->switches = control->switches + 1;
        return record_stall(control, records_segment(next), start);
    }
    control->segment_end[segment] = tp;
    if (control->segment_end[next] != 0) {
        if (control->mode != DEVLOG_MODE_RING) goto drop;
        uint32_t base = records_segment(next), end = control->segment_end[next];
        if (end - base > DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS) + DEVLOG_SLACK)
            control->damage = control->damage | DEVLOG_DAMAGE_CURSOR;
        else
            control->overwritten = control->overwritten + count_records(base, end);
        control->segment_end[next] = 0;
    }
    control->segment = next;
    control->switches = control->switches + 1;
    return records_segment(next);
drop:
    control->dropped = control->dropped + 1;
    return 0;
}

/* The end of a zone in code that is not optimised: `code` as the low bits of the first word; `word` follows
 * the stamp of a wide record; `start` follows when the zone is a complete one. */
uint32_t devlog_emit_slow(uint32_t code, uint32_t word, uint32_t start);
uint32_t devlog_emit_slow(uint32_t code, uint32_t word, uint32_t start)
{
    uint32_t low = code & 0xFFFu, n = 2;
    uint32_t at = records_cursor();
    while (at & DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS)) {
        at = devlog_next_segment(at);
        if (at == 0) return 0;
    }
    uint64_t clock = devlog_clock();
    uint32_t complete = low == DEVLOG_CODE_WIDE ? word >> 28 == DEVLOG_KIND_COMPLETE
                                                : low >= DEVLOG_CODE_COMPLETE && low < DEVLOG_CODE_EVENT;
    volatile uint32_t *to = (volatile uint32_t *)(uintptr_t)at;
#if defined(DEVLOG_STAMP32)
    to[0] = low & 0x800u ? low | 0xFFFFF000u : low;
#else
    to[0] = ((uint32_t)(clock >> 32) << 12) + (low & 0x800u ? low - 0x1000u : low);
#endif
    to[1] = (uint32_t)clock;
    if (low == DEVLOG_CODE_WIDE) to[n++] = word;
    if (complete) to[n++] = start;
    records_set_cursor(at + 4 * n);
    return at;
}

/* DEVLOG_FREEZE at cursor tp: returns a cursor at which the segment is full. */
uint32_t devlog_freeze_at(uint32_t tp);
uint32_t devlog_freeze_at(uint32_t tp)
{
    volatile devlog_control *control = records_control();
    uint32_t segment = control->segment & 1u;
    control->frozen = DEVLOG_FROZEN_BY_KERNEL;
    if (control->segment_end[segment] == 0) control->segment_end[segment] = tp;
    return records_segment(segment) + DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS);
}

#endif
