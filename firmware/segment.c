/* What happens when a segment of records is full: called out of line by every marker (segment.S). Linked into
 * every program that has markers. */
#include "devlog/order.h"
#include "noc.h"
#include "records.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

/* Code that runs for markers and for nothing else is in a section of its own, so that its place is known. */
#define MACHINE __attribute__((section(".text.devlog_machine")))

/* Tells the host that this program was compiled to record. */
__asm__(".pushsection .devlog.build,\"\",@progbits\n\t.4byte " DEVLOG_STR_(
    DEVLOG_BUILD_LITERALS) "\n\t.popsection");

/* Bytes of a record whose code has all of its upper four bits set, by its first, third and fourth word. Never
 * 0, whatever the kernel may have written over them. */
MACHINE static inline uint32_t rare_bytes(uint32_t first, uint32_t third, uint32_t fourth)
{
    /* Of wide records by kind, four bits each: words. The end of a zone, kind 9, has three. */
    const uint32_t wide = 0x34543433u;
    uint32_t code = first & 0xFFFu;
    if (code < DEVLOG_CODE_PRINT) return 16;
    if (code < DEVLOG_CODE_SPECIAL) return 12 + 4 * (third & 15u);
    if (code != DEVLOG_CODE_WIDE) return code == DEVLOG_CODE_SUM ? 32 : 12;
    uint32_t kind = third >> 28;
    if (kind == DEVLOG_KIND_PRINT) return 16 + 4 * (fourth & 15u);
    return kind > DEVLOG_KIND_PRINT ? 12 : 4 * (wide >> 4 * kind & 15u);
}

uint32_t devlog_sums_began;

/* The records between two addresses when those that are not of sums are of so many bytes. */
MACHINE static uint32_t count_alike(uint32_t from, uint32_t to, uint32_t bytes)
{
    uint32_t n = 0;
    if (!devlog_sums_began) return (to - from) / bytes;
    for (; from < to; n++) {
        uint32_t code = *(const volatile uint32_t *)(uintptr_t)from & 0xFFFu;
        from += code == DEVLOG_CODE_SUM ? 32 : bytes;
    }
    return n;
}

/* Not inlined: it needs the registers. The records between two addresses, of any sizes. Two are loaded at a
 * time: what is behind the first is one of two words. */
MACHINE __attribute__((noinline)) static uint32_t count_records(uint32_t from, uint32_t to)
{
    /* By the upper four bits of a code, in two bits each: words beyond two; 3: look closer. */
    const uint32_t beyond = 1u << 16 | 1u << 18 | 1u << 20 | 1u << 22 | 1u << 28 | 3u << 30;
    uint32_t n = 0;
    while (from < to) {
        const volatile uint32_t *word = (const volatile uint32_t *)(uintptr_t)from;
        uint32_t first = word[0], third = word[2], fourth = word[3];
        uint32_t more = beyond >> (first >> 7 & 30u) & 3u;
        n++;
        if (more == 3) {
            from += rare_bytes(first, third, fourth);
            continue;
        }
        from += 8 + 4 * more;
        more = beyond >> ((more ? fourth : third) >> 7 & 30u) & 3u;
        if (from >= to || more == 3) continue;
        n++;
        from += 8 + 4 * more;
    }
    return n;
}

#if defined(DEVLOG_NOC0_REGS)
/* Sends a full segment on its way to DRAM; false when there is no room for it. The other segment is written
 * meanwhile, and the next flush waits for this one. */
MACHINE static uint32_t flush(volatile devlog_control *control, uint32_t segment, uint32_t end)
{
    uint32_t base = records_segment(segment), bytes = (end - base + 31u) & ~31u, at = end;
    /* What a kernel may have written there is no place. */
    if (bytes == 0 || control->streamed > control->stream_size || control->streamed % 32u) return 0;
    if (control->stream_size - control->streamed < bytes) return 0;
    /* The padding up to whole flits reads as "no record". */
    for (; at < base + bytes; at += 4)
        *(volatile uint32_t *)(uintptr_t)at = 0;
    noc_wait_for_old(); /* since then a segment of records was stored */
    noc_write(base, at - 4, control->stream_target, control->stream_base + control->streamed, bytes);
    control->streamed = control->streamed + bytes;
    return 1;
}
#else
MACHINE static uint32_t flush(volatile devlog_control *control, uint32_t segment, uint32_t end)
{
    (void)control, (void)segment, (void)end;
    return 0;
}
#endif

/* The first record behind a flush says how long it held the RISC up. */
MACHINE static uint32_t record_stall(uint32_t base, uint32_t start)
{
    uint64_t clock = devlog_clock();
    uint32_t cycles = (uint32_t)clock - start;
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)base;
    word[0] = ((uint32_t)(clock >> 32) << 12) + DEVLOG_CODE_STALL - 0x1000u;
    word[1] = (uint32_t)clock;
    word[2] = cycles;
    return base + 12;
}

enum {
    BITS = DEVLOG_SEGMENT_BITS,
    /* Cycles until registers are restored, and what went before the clock was read: 48 when the record is dropped, 59
     * when the marker starts again. */
    COME_BACK = 53
};

/* Counts one drop: the first, or one at which the lower bits of the cursor ran over. Returns the cursor with
 * which the next one is counted. A core may be stopped between any two stores: with either the sum is right.
 */
MACHINE static uint32_t drop(volatile devlog_control *control)
{
    control->dropped_complete = devlog_dropped_complete(control->dropped_complete, control->dropping, BITS);
    uint32_t count = devlog_dropped(control->dropped, control->dropping, BITS) + 1u;
    control->dropping = devlog_drops_cursor(count, BITS);
    control->dropped = count;
    return devlog_drops_cursor(count + 1u, BITS);
}

/* Whether a cursor is the one behind the last drop: by a marker, or by drop(). */
MACHINE static uint32_t counts_on(const volatile devlog_control *control, uint32_t tp)
{
    uint32_t count = devlog_dropped(control->dropped, control->dropping, BITS);
    uint32_t next = control->dropping + 1u;
    return tp == next || tp == next + (1u << devlog_drops_complete_bit(BITS)) ||
           tp == devlog_drops_cursor(count + 1u, BITS);
}

/* Ends the counting. */
MACHINE static void drop_no_more(volatile devlog_control *control)
{
    control->dropped_complete = devlog_dropped_complete(control->dropped_complete, control->dropping, BITS);
    control->dropped = devlog_dropped(control->dropped, control->dropping, BITS);
    control->dropping = 0;
}

#if defined(DEVLOG_NOC0_REGS)
/* Keeps the code of the first record of the n-th segment that the ring writes over, and of the 64th behind it. Boards without a
 * NoC have 4 KiB for a kernel, in which it would take the place of a marker. */
MACHINE static inline void sample(volatile devlog_control *control, uint32_t n, uint32_t first,
                                  uint32_t middle)
{
    const volatile uint16_t *at = (const volatile uint16_t *)(uintptr_t)first;
    if (n < DEVLOG_SAMPLES) control->written_over[n] = at[0] | (uint32_t)at[middle / 2u] << 16;
}
#else
MACHINE static inline void sample(volatile devlog_control *control, uint32_t n, uint32_t first,
                                  uint32_t middle)
{
    (void)control, (void)n, (void)first, (void)middle;
}
#endif

MACHINE static uint32_t next_segment(volatile devlog_control *control, uint32_t tp, uint32_t start)
{
    uint32_t segment = control->segment & 1u, next = segment ^ 1u; /* whatever a kernel wrote there */
    uint32_t end = control->segment_end[segment];
    uint32_t full = records_segment(segment) + DEVLOG_SEGMENT_BYTES(BITS);
    if (control->dropping ? !counts_on(control, tp) : tp - full > DEVLOG_SLACK || tp % 4u) {
        /* The kernel has changed it: where its records end, or how many it dropped, is not known. */
        control->damage = control->damage | DEVLOG_DAMAGE_CURSOR;
        tp = full;
    }
    /* Who drops has left the segment somewhere in it. */
    if ((end || control->dropping) &&
        (end - records_segment(segment) > DEVLOG_SEGMENT_BYTES(BITS) + DEVLOG_SLACK || end % 4u)) {
        control->damage = control->damage | DEVLOG_DAMAGE_CURSOR;
        control->segment_end[segment] = end = full;
    }
    if (end == 0) control->segment_end[segment] = end = tp;
    DEVLOG_FENCE(DEVLOG_ORDER_FROZEN);
    if (control->frozen) return drop(control);
    const uint32_t mode = control->mode;
    const uint32_t next_end = control->segment_end[next];
    if (next_end == 0) {
        uint32_t flushed = mode == DEVLOG_MODE_STREAM && flush(control, segment, end);
        drop_no_more(control); /* the host has let a frozen RISC go on */
        control->segment = next;
        control->switches = control->switches + 1;
        if (!flushed) return records_segment(next);
        control->segment_end[segment] = 0;
        return record_stall(records_segment(next), start);
    }
    if (DEVLOG_MODE_OF(mode) != DEVLOG_MODE_RING) return drop(control);
    uint32_t base = records_segment(next), bytes = next_end - base;
    uint32_t switches = control->switches, alike = DEVLOG_RECORD_BYTES_OF(mode);
    sample(control, switches - 1u, base, alike << 6);
    if (bytes > DEVLOG_SEGMENT_BYTES(BITS) + DEVLOG_SLACK || bytes % 4u)
        control->damage = control->damage | DEVLOG_DAMAGE_CURSOR;
    else
        control->overwritten = control->overwritten + (alike ? count_alike(base, base + bytes, alike)
                                                             : count_records(base, base + bytes));
    drop_no_more(control);
    control->segment_end[next] = 0;
    control->segment = next;
    control->switches = switches + 1;
    return records_segment(next);
}

/* The cursor stands behind a full segment, or counts drops and runs over: returns the cursor for the next
 * record; one that is full still: that record is dropped, and counted. `start`: the clock when the marker
 * called. What is behind the reading of the clock here is added as on a tile: registers come back. */
uint32_t devlog_next_segment(uint32_t tp, uint32_t start);
MACHINE uint32_t devlog_next_segment(uint32_t tp, uint32_t start)
{
    volatile devlog_control *control = records_control();
    tp = next_segment(control, tp, start);
    uint32_t before = control->stall_cycles;
    uint32_t cycles = devlog_clock_low_() - start + COME_BACK;
    control->stall_cycles = before + cycles;
    return tp;
}

/* DEVLOG_FREEZE at cursor tp, begun at `start`: returns a cursor at which the segment is full. */
uint32_t devlog_freeze_at(uint32_t tp, uint32_t start);
MACHINE uint32_t devlog_freeze_at(uint32_t tp, uint32_t start)
{
    volatile devlog_control *control = records_control();
    uint32_t segment = control->segment & 1u;
    control->frozen = DEVLOG_FROZEN_BY_KERNEL;
    control->stall_cycles = control->stall_cycles + devlog_clock_low_() - start + COME_BACK;
    if (control->dropping) return tp;
    if (control->segment_end[segment] == 0) control->segment_end[segment] = tp;
    return records_segment(segment) + DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS);
}

#endif
