/* The event streams of the debug timestamper. Section names are those of DebugTimestamper.md. What it is not:
 * the wall clock registers (tile.c). */
#include "sim/stamper.h"

#include <string.h>

#include "sim/tile.h"

enum { REG_CMD = 0x00, REG_CNTL = 0x04, REG_STATUS = 0x08, REG_BUFS = 0x0c };
enum { CNTL_POWER_ON = 3, UNIT = 16, WORDS = 4 };

void sim_stamper_init(sim_stamper *st)
{
    memset(st, 0, sizeof *st);
    st->control = CNTL_POWER_ON;
    st->bufs[0].valid = st->bufs[1].valid = true;
}

/* "EveryCycle": while reset_streams is set, every cycle clears. Accesses to a region are at least a cycle
 * apart, so doing it before each access shows the same. */
static void every_cycle(sim_stamper *st)
{
    if (!st->reset_streams) return;
    st->accum_position = st->event_size = 0;
    for (int i = 0; i < 2; i++)
        st->bufs[i].full = st->bufs[i].overflow = false;
}

/* "FlushAccum" */
static const char *flush(sim_tile *t, sim_by by)
{
    sim_stamper *st = &t->stamper;
    while (st->accum_position < WORDS)
        st->accum[st->accum_position++] = 0;
    st->accum_position = st->event_size = 0;
    for (int i = 0; i < 2; i++) {
        if (!st->bufs[i].valid || st->bufs[i].start + st->bufs[i].position > st->bufs[i].end) continue;
        uint64_t addr = ((uint64_t)st->bufs[i].start + st->bufs[i].position) * UNIT;
        sim_bank *l1 = &t->banks[0];
        if (addr < l1->base || addr - l1->base + UNIT > l1->size)
            return sim_tile_why(t, "the event stream would write at 0x%llx, outside of L1",
                                (unsigned long long)addr);
        sim_bank_write(l1, (uint32_t)addr - l1->base, st->accum, UNIT);
        by.hart = SIM_NO_HART; /* the tile's own store: in the truth, but not as one of the hart's */
        for (uint32_t word = 0; word < WORDS; word++)
            sim_bank_stored(t, l1, by, (uint32_t)addr - l1->base + word * 4, st->accum[word], 4);
        st->bufs[i].position++;
        if (st->bufs[i].start + st->bufs[i].position > st->bufs[i].end) st->bufs[i].full = true;
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        if (st->bufs[i].valid) st->bufs[i].overflow = true;
    return NULL;
}

/* "CmdWrite", "SetEventSize", "AppendU32" */
static const char *command(sim_tile *t, sim_by by, uint32_t header)
{
    uint64_t clock = sim_tile_clock(t, by.now);
    uint32_t low = (uint32_t)clock, high = (uint32_t)(clock >> 32);
    const struct {
        uint32_t event_size; /* bits; 0: undefined */
        uint32_t words;      /* appended; 0: flush */
        uint32_t data[WORDS];
    } commands[8] = {
        [0] = {128, 4, {header, low, high, 0}},
        [1] = {64, 2, {header, low}},
        [2] = {32, 1, {(header & 0xffff) | (low & 0x001fffe0) << 11}},
        [3] = {64, 0, {0}},
        [4] = {96, 3, {header, low, high}},
        [7] = {96, 0, {0}},
    };
    sim_stamper *st = &t->stamper;
    uint32_t code = header & 7, size = commands[code].event_size;
    if (size == 0) return sim_tile_why(t, "event code %u is undefined", code);
    if (st->event_size && st->event_size != size)
        return sim_tile_why(t, "an event of %u bits while events of %u bits are accumulated", size,
                            st->event_size);
    st->event_size = size;
    if (commands[code].words == 0) return flush(t, by);
    /* No document says that events of several harts which share the accumulator stay whole, and on a chip events came out garbled
     * (docs/simulator.md): on a strict one they do. */
    const bool met = t->strict && st->accum_position && st->writer != by.hart;
    const uint32_t last = met ? st->accum[st->accum_position - 1] : 0;
    st->writer = by.hart;
    for (uint32_t i = 0; i < commands[code].words; i++) {
        st->accum[st->accum_position++] = met ? last + 2 * i : commands[code].data[i];
        const char *why = st->accum_position == WORDS ? flush(t, by) : NULL;
        if (why) return why;
    }
    return NULL;
}

/* "StatusRead" */
static uint32_t status(const sim_stamper *st)
{
    uint32_t n = st->accum_position;
    return (uint32_t)st->bufs[0].full | (uint32_t)st->bufs[1].full << 1 |
           (uint32_t)st->bufs[0].overflow << 4 | (uint32_t)st->bufs[1].overflow << 5 |
           (st->event_size == 64 ? n / 2 & 1 : 0) << 8 | (st->event_size == 32 ? n & 3 : 0) << 9 |
           (st->event_size == 96 ? (4 - n) & 3 : 0) << 11 | st->bufs[0].position << 14;
}

/* "StatusWrite" */
static void clear_status(sim_stamper *st, uint32_t value)
{
    for (int i = 0; i < 2; i++) {
        if (value >> i & 1) st->bufs[i].full = false, st->bufs[i].position = 0;
        if (value >> (4 + i) & 1) st->bufs[i].overflow = false;
    }
}

uint32_t sim_stamper_read(sim_stamper *st, uint32_t offset)
{
    every_cycle(st);
    switch (offset) {
    case REG_CMD: return 0;
    case REG_CNTL: return st->control;
    case REG_STATUS: return status(st);
    }
    uint32_t word = (offset - REG_BUFS) / 4;
    return word % 2 ? st->bufs[word / 2].end : st->bufs[word / 2].start;
}

const char *sim_stamper_write(sim_tile *t, sim_by by, uint32_t offset, uint32_t value)
{
    sim_stamper *st = &t->stamper;
    every_cycle(st);
    switch (offset) {
    case REG_CMD: return command(t, by, value);
    case REG_CNTL:
        st->control = value;
        st->bufs[0].valid = value & 1;
        st->bufs[1].valid = value >> 1 & 1;
        st->reset_streams = value >> 31;
        return NULL;
    case REG_STATUS: clear_status(st, value); return NULL;
    }
    uint32_t word = (offset - REG_BUFS) / 4;
    *(word % 2 ? &st->bufs[word / 2].end : &st->bufs[word / 2].start) = value;
    return NULL;
}
