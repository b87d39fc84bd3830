/* The clock of a stream: stamps that jump. A jump may be a torn read (2^32 too low or too high), a wrap of
 * the 44-bit clock, a restart of the chip, a long pause, or rows out of order. One stamp alone does not tell
 * them apart, so a row with a suspicious stamp waits for the next row of its stream. */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

#define TORN       (UINT64_C(1) << 32)
#define WRAP       (UINT64_C(1) << 44)
#define WRAP_REACH (UINT64_C(1) << 41) /* a wrap is believed this close to it: half an hour at 1 GHz */
#define RESTART    (UINT64_C(1) << 24) /* a smaller step back is disorder, not another run */

static void note(dl_pair *p, dl_finding what, const dl_row *row, const char *text)
{
    p->losses->found[what]++;
    if (!dl_losses_wants(p->losses, what)) return;
    char where[128];
    dl_pair_where(p, row->stream, where);
    dl_losses_found(p->losses, what, 0, "%s:%u: %s: stamp %llu %s", p->source, row->line, where,
                    (unsigned long long)row->time, text);
}

void dl_pair_note_torn(dl_pair *p, const dl_row *row)
{
    note(p, DL_FOUND_TORN, row, "was 2^32 off");
}

/* Gives the chip line above the rows to the chip that they are of. */
static void give_chip_line(dl_pair *p, uint32_t chip, const dl_row *row)
{
    chip_state *c = &p->chips[chip];
    if (c->header == p->header) return;
    c->header = p->header;
    dl_chip *t = &p->tables->chips[chip];
    char now[DL_GROUPED_SIZE], before[DL_GROUPED_SIZE];
    if (t->freq_khz && p->chip_line.freq_khz && t->freq_khz != p->chip_line.freq_khz)
        dl_losses_found(p->losses, DL_FOUND_FREQUENCY, 1, "%s:%u: chip %u: %s MHz, before it was %s MHz",
                        p->source, row->line, t->id, dl_mhz_text(now, p->chip_line.freq_khz),
                        dl_mhz_text(before, t->freq_khz));
    if (!t->freq_khz) t->freq_khz = p->chip_line.freq_khz;
    if (!t->max_cores) t->max_cores = p->chip_line.max_cores;
    if (!t->arch) t->arch = p->chip_line.arch_text;
}

/* The first row of a stream: which round of the chip's clock is it in? */
static void first_epoch(const dl_pair *p, stream_state *s, const dl_row *row)
{
    const chip_state *c = &p->chips[s->chip];
    s->epoch = c->epoch;
    if (c->epoch && row->time + c->epoch > c->last && row->time + c->epoch - c->last > WRAP / 2)
        s->epoch -= WRAP;
}

static devlog_status accept(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time, uint8_t flags,
                            devlog_error *err)
{
    chip_state *c = &p->chips[s->chip];
    s->limit = CLOCK_LIMIT;
    if (time > c->last) c->last = time;
    return dl_pair_accept(p, s, row, time, flags, err);
}

/* Whether this stamp is so near to a change of the clock's upper half that it may be torn, too high or too
 * low. */
static bool may_be_torn(uint64_t time, bool high)
{
    const uint32_t near = UINT32_C(1) << 20;
    return high ? (uint32_t)time >= UINT32_MAX - near : (uint32_t)time < near;
}

/* Whether a firmware's start is one that the stream has had, the first or the last: two runs may have the
 * same ids or the same stamps, and hardly both. */
static bool is_repeated(const dl_pair *p, const stream_state *s, const dl_row *row, uint64_t time)
{
    if (time != s->fw_start && time != s->first) return false;
    return dl_launches_has_begun(&p->launches, s->chip, s->bit, p->chip_line.run, row);
}

/* Judges the row that has waited; `next` is the stamp after it, or NULL at the end of the input. */
static devlog_status judge(dl_pair *p, stream_state *s, const dl_row *row, const uint64_t *next,
                           devlog_error *err)
{
    uint64_t last = s->last, time = row->time + s->epoch;
    if (time >= last) {
        bool torn = next && *next < time && time - TORN >= last && *next >= time - TORN;
        /* Otherwise it was long ago, and the row after it is of another run. */
        if (!torn || !may_be_torn(row->time, true)) return accept(p, s, row, time, 0, err);
        note(p, DL_FOUND_TORN, row, "was 2^32 too high");
        return accept(p, s, row, time - TORN, DL_EVENT_TORN, err);
    }
    bool fits = time + TORN >= last;
    bool torn = next ? *next >= last && *next >= time + TORN
                     : time + TORN - last < TORN / 2 && may_be_torn(row->time, false);
    if (fits && torn) {
        note(p, DL_FOUND_TORN, row, "was 2^32 too low");
        return accept(p, s, row, time + TORN, DL_EVENT_TORN, err);
    }
    uint64_t in_round = last - s->epoch;
    if (in_round < WRAP && WRAP - in_round < WRAP_REACH && row->time < WRAP_REACH) {
        note(p, DL_FOUND_WRAP, row, "follows a wrap of the clock");
        s->epoch += WRAP;
        if (s->epoch > p->chips[s->chip].epoch) p->chips[s->chip].epoch = s->epoch;
        return accept(p, s, row, row->time + s->epoch, 0, err);
    }
    bool begins = row->type == DL_ROW_ZONE_START && p->tables->sites[row->site].role == DL_ROLE_FW;
    bool of_launch = row->has_launch && dl_pair_has_ids(row, s);
    bool stays = !of_launch && last - time >= RESTART && (!next || *next < last);
    if (begins || stays) {
        if (begins && is_repeated(p, s, row, time))
            note(p, DL_FOUND_REPEATED, row, "begins the firmware for the second time");
        else
            note(p, DL_FOUND_CLOCK_RESTART, row, "is the first of another run");
        dl_pair_abandon_open(p, s);
        return accept(p, s, row, time, 0, err);
    }
    if (row->type <= DL_ROW_ZONE_END) {
        /* Whatever of this zone is open now or comes next may belong to another pass of it. */
        note(p, DL_FOUND_OUT_OF_ORDER, row, "is earlier than one before it");
        dl_pair_abandon_site(p, s, row->site);
        s->limit = CLOCK_LIMIT;
        return DEVLOG_OK;
    }
    devlog_status status = accept(p, s, row, time, 0, err);
    s->last = last;
    return status;
}

devlog_status dl_pair_settle(dl_pair *p, stream_state *s, devlog_error *err)
{
    s->held = false;
    return judge(p, s, s->held_row, NULL, err);
}

devlog_status dl_pair_suspicious(dl_pair *p, stream_state *s, const dl_row *row, devlog_error *err)
{
    give_chip_line(p, s->chip, row);
    if (!s->known) {
        s->known = true;
        first_epoch(p, s, row);
        s->first = s->last = row->time + s->epoch;
        return accept(p, s, row, s->last, 0, err);
    }
    uint64_t time = row->time + s->epoch;
    if (s->held) {
        dl_row held = *s->held_row;
        s->held = false;
        devlog_status status = judge(p, s, &held, &time, err);
        if (status) return status;
        time = row->time + s->epoch; /* the judgement may have found a wrap */
    }
    if (time - s->last < CLOCK_LIMIT) return accept(p, s, row, time, 0, err);
    if (!s->held_row) s->held_row = malloc(sizeof *s->held_row);
    if (!s->held_row) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
    *s->held_row = *row;
    s->held = true;
    s->limit = 0; /* the next row comes here too */
    return DEVLOG_OK;
}
