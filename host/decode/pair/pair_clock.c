/* The clock of a stream: stamps that jump. A jump may be a torn read (2^32 too low or too high), a wrap of
 * the 44-bit clock, a restart of the chip, a long pause, or marks out of order. One stamp alone does not tell
 * them apart, so a mark with a suspicious stamp waits for the next of its stream. */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

#define TORN       (UINT64_C(1) << 32)
#define NEAR       (UINT32_C(1) << 20)
#define WRAP       (UINT64_C(1) << 44)
#define WRAP_REACH (UINT64_C(1) << 41) /* a wrap is believed this close to it: half an hour at 1 GHz */
#define RESTART    (UINT64_C(1) << 24) /* a smaller step back is disorder, not another run */

static void note(dl_pair *p, dl_finding what, const pair_mark *m, const char *text)
{
    if (!dl_pair_is_told(p, m->stream, m->time) && !dl_pair_mark_is_told(p, m)) return;
    p->losses->found[what]++;
    if (!dl_losses_wants(p->losses, what)) return;
    char where[128];
    dl_pair_where(p, m->stream, where);
    dl_losses_found(p->losses, what, 0, "%s:%u: %s: stamp %llu %s", p->source, m->line, where,
                    (unsigned long long)m->time, text);
}

void dl_pair_note_torn(dl_pair *p, const pair_mark *m)
{
    note(p, DL_FOUND_TORN, m, "was 2^32 off");
}

/* Gives the chip line above the marks to the chip that they are of. */
static void give_chip_line(dl_pair *p, uint32_t chip, const pair_mark *m)
{
    chip_state *c = &p->chips[chip];
    if (c->header == p->header) return;
    c->header = p->header;
    dl_chip *t = &p->tables->chips[chip];
    char now[DL_GROUPED_SIZE], before[DL_GROUPED_SIZE];
    if (t->freq_khz && p->chip_line.freq_khz && t->freq_khz != p->chip_line.freq_khz)
        dl_losses_found(p->losses, DL_FOUND_FREQUENCY, 1, "%s:%u: chip %u: %s MHz, before it was %s MHz",
                        p->source, m->line, t->id, dl_mhz_text(now, p->chip_line.freq_khz),
                        dl_mhz_text(before, t->freq_khz));
    if (!t->freq_khz) t->freq_khz = p->chip_line.freq_khz;
    if (!t->max_cores) t->max_cores = p->chip_line.max_cores;
    if (!t->aiclk_khz) t->aiclk_khz = p->chip_line.aiclk_khz;
    t->instructions |= p->chip_line.instructions;
    if (!t->arch) t->arch = p->chip_line.arch_text;
}

/* The first mark of a stream: which round of the chip's clock is it in? */
static void first_epoch(const dl_pair *p, stream_state *s, const pair_mark *m)
{
    const chip_state *c = &p->chips[s->chip];
    s->epoch = c->epoch;
    if (c->epoch && m->time + c->epoch > c->last && m->time + c->epoch - c->last > WRAP / 2) s->epoch -= WRAP;
}

static devlog_status accept(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time, uint8_t flags,
                            devlog_error *err)
{
    chip_state *c = &p->chips[s->chip];
    s->limit = CLOCK_LIMIT;
    if (time > c->last) c->last = time;
    return dl_pair_accept(p, s, m, time, flags, err);
}

/* Whether this stamp is so near to a change of the clock's upper half that it may be torn, too high or too
 * low. */
static bool may_be_torn(uint64_t time, bool high)
{
    return high ? (uint32_t)time >= UINT32_MAX - NEAR : (uint32_t)time < NEAR;
}

/* Whether the launch's first stamp may be 2^32 too low: nothing is before it that would contradict it, and this next one is 2^32
 * behind it and hardly more. */
static bool began_too_low(const stream_state *s, uint64_t time)
{
    return s->last == s->fw_start && time - s->last - TORN < NEAR && may_be_torn(s->last, false);
}

/* Whether a firmware's start is one that the stream has had, the first, the last, or one with which a launch began: two runs
 * may have the same ids or the same stamps, and hardly both. */
static bool is_repeated(dl_pair *p, const stream_state *s, const pair_mark *m, uint64_t time)
{
    const uint64_t run = p->chip_line.run;
    if (!dl_launches_has_begun(&p->launches, s->chip, s->bit, run, m->ids)) return false;
    return (time - s->fw_start) % WRAP == 0 || (time - s->first) % WRAP == 0 ||
           dl_launches_began_at(&p->launches, s->chip, s->bit, run, m->ids, time, WRAP);
}

/* Judges the mark that has waited; `next` is the stamp after it, or NULL at the end of the input. */
static devlog_status judge(dl_pair *p, stream_state *s, const pair_mark *m, const uint64_t *next,
                           devlog_error *err)
{
    uint64_t last = s->last, time = m->time + s->epoch;
    if (time >= last && time - last > WRAP / 2 && s->epoch && m->code & DL_MARK_FW_START &&
        is_repeated(p, s, m, time)) {
        /* From behind a wrap back to before it: this clock did not run for hours. */
        note(p, DL_FOUND_REPEATED, m, "begins the firmware for the second time");
        dl_pair_abandon_open(p, s);
        s->epoch -= WRAP;
        return accept(p, s, m, m->time + s->epoch, 0, err);
    }
    if (time >= last) {
        const bool high = time - last >= TORN && may_be_torn(m->time, true);
        const bool torn = next && *next < time && time - last >= TORN && *next >= time - TORN;
        if (torn && high) {
            note(p, DL_FOUND_TORN, m, "was 2^32 too high");
            return accept(p, s, m, time - TORN, DL_EVENT_TORN, err);
        }
        /* It was long ago, and the mark after it, if there is one, is of another run; or nobody can tell. */
        if (torn || (high && !next))
            note(p, DL_FOUND_AMBIGUOUS, m, "may be 2^32 too high");
        else if (began_too_low(s, time))
            note(p, DL_FOUND_AMBIGUOUS, m, "is 2^32 behind the firmware's start, which may be too low");
        return accept(p, s, m, time, 0, err);
    }
    bool fits = time + TORN >= last;
    bool torn = next ? *next >= time + TORN : time + TORN - last < TORN / 2 && may_be_torn(m->time, false);
    if (fits && torn) {
        note(p, DL_FOUND_TORN, m, "was 2^32 too low");
        return accept(p, s, m, time + TORN, DL_EVENT_TORN, err);
    }
    uint64_t in_round = last - s->epoch;
    if (in_round < WRAP && WRAP - in_round < WRAP_REACH && m->time < WRAP_REACH) {
        note(p, DL_FOUND_WRAP, m, "follows a wrap of the clock");
        s->epoch += WRAP;
        if (s->epoch > p->chips[s->chip].epoch) p->chips[s->chip].epoch = s->epoch;
        return accept(p, s, m, m->time + s->epoch, 0, err);
    }
    bool begins = m->code & DL_MARK_FW_START;
    bool of_launch = m->ids->has_launch && dl_same_ids(m->ids, &s->ids);
    bool stays = !of_launch && last - time >= RESTART && (!next || *next < last);
    if (begins || stays) {
        if (begins && is_repeated(p, s, m, time))
            note(p, DL_FOUND_REPEATED, m, "begins the firmware for the second time");
        else
            note(p, DL_FOUND_CLOCK_RESTART, m, "is the first of another run");
        dl_pair_abandon_open(p, s);
        return accept(p, s, m, time, 0, err);
    }
    if (m->kind->type <= DL_ROW_ZONE_END) {
        /* Whatever of this zone is open now or comes next may belong to another pass of it. */
        note(p, DL_FOUND_OUT_OF_ORDER, m, "is earlier than one before it");
        dl_pair_abandon_site(p, s, m->kind->site);
        return DEVLOG_OK;
    }
    devlog_status status = accept(p, s, m, time, 0, err);
    s->last = last;
    return status;
}

/* The mark that waits, judged: it is looked at in a batch of its own. */
static devlog_status judge_held(dl_pair *p, stream_state *s, const uint64_t *next, devlog_error *err)
{
    const dl_marks *batch = p->batch;
    dl_mark mark;
    s->held = false;
    if (!dl_pair_out_take_held(p, s->waiting, &mark)) return dl_pair_no_memory(err);
    const pair_mark m = dl_pair_look(p, &mark, 0);
    devlog_status status = judge(p, s, &m, next, err);
    p->batch = batch;
    return status;
}

devlog_status dl_pair_settle(dl_pair *p, stream_state *s, devlog_error *err)
{
    return judge_held(p, s, NULL, err);
}

/* Has a mark wait for the next of its stream. */
static devlog_status hold(stream_state *s, const pair_mark *m, devlog_error *err)
{
    if (!s->waiting) s->waiting = malloc(sizeof *s->waiting);
    if (!s->waiting) return dl_pair_no_memory(err);
    /* Of a record whose mark nobody looks at no entry of the batch was made (pair_records.c): its code does not say it. */
    const bool is_rare = m->code & DL_MARK_RARE || m->rare->data || m->rare->meta || m->rare->op;
    *s->waiting = (held_mark){{m->time, m->code}, m->line, *m->ids, *m->rare, is_rare};
    s->held = true;
    s->limit = 0; /* the next mark comes here too */
    return DEVLOG_OK;
}

devlog_status dl_pair_suspicious(dl_pair *p, stream_state *s, const pair_mark *m, devlog_error *err)
{
    give_chip_line(p, s->chip, m);
    if (!s->known) {
        s->known = true;
        first_epoch(p, s, m);
        s->first = s->last = m->time + s->epoch;
        s->first_raw = m->time;
        s->first_starts = m->code & DL_MARK_FW_START;
        s->first_run = p->run_line;
        s->first_source = p->source_text;
        return accept(p, s, m, s->last, 0, err);
    }
    uint64_t time = m->time + s->epoch;
    if (s->held) {
        devlog_status status = judge_held(p, s, &time, err);
        if (status) return status;
        time = m->time + s->epoch; /* the judgement may have found a wrap */
    }
    return time - s->last < CLOCK_LIMIT ? accept(p, s, m, time, 0, err) : hold(s, m, err);
}
