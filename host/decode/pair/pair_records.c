/* Pairing of ordinary records as they were recorded (decode/recorded.h), where statistics are all that is wanted: a start and an
 * end are two stamps, and what they count into is found once for each code and stream. What is rare (a zone that
 * is met for the first time, an end that belongs to no zone or to one further out, a stamp that jumps) becomes a mark and goes
 * the way of all marks (pair_stack.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_records.h"

_Alignas(KEY_ALIGNED) char dl_pair_no_zone[KEY_ALIGNED];

enum { TURN_BYTES = 32 * 1024 * 1024 }; /* of all streams; without, records are rare */

bool dl_pair_takes_records(const dl_pair *p)
{
    return !p->filter && !p->subtract_cost;
}

void dl_pair_forget_records(dl_pair *p)
{
    for (uint32_t i = 0; i < p->n_streams; i++) {
        if (!p->streams[i]) continue;
        for (record_turns *t = p->streams[i]->turns; t;) {
            record_turns *next = t->next;
            free(t);
            t = next;
        }
        p->streams[i]->turns = NULL;
    }
    p->turn_bytes = 0;
    free(p->record_room);
    p->record_room = NULL;
    for (uint32_t i = 0; i < p->n_keys && p->no_samples; i++) { /* what has waited to be summed up */
        dl_key *k = &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        dl_key_settle(k);
        k->samples = (dl_samples){.pool = &p->pool};
    }
}

/* Room for so many; what has been learned stays. NULL: out of memory. */
static record_turns *make_turns(dl_pair *p, const dl_record_codes *codes, uint32_t cap,
                                const record_turns *old)
{
    const size_t bytes = sizeof *old + cap * (sizeof *old->zones + sizeof *old->others);
    record_turns *t = p->turn_bytes + bytes <= TURN_BYTES ? malloc(bytes) : NULL;
    if (!t) return NULL;
    p->turn_bytes += bytes;
    t->codes = codes;
    t->cap = cap;
    t->marks = old && old->marks;
    t->zones = (char **)(t + 1);
    t->others = (record_turn *)(void *)(t->zones + cap);
    for (uint32_t i = 0; i < cap; i++) {
        t->zones[i] = old && i < old->cap ? old->zones[i] : NO_ZONE;
        t->others[i] = old && i < old->cap ? old->others[i] : (record_turn){0};
    }
    return t;
}

/* Those of these codes on a stream, which become the first; NULL: out of memory. */
static record_turns *turns_of(dl_pair *p, stream_state *s, const dl_record_codes *codes)
{
    record_turns **link = &s->turns, *t;
    while ((t = *link) && t->codes != codes)
        link = &t->next;
    if (t) *link = t->next;
    if (!t || t->cap <= codes->n) {
        record_turns *grown = make_turns(p, codes, codes->n + 8 + codes->n / 2, t);
        free(t);
        if (!grown) return NULL;
        t = grown;
    }
    t->next = s->turns;
    return s->turns = t;
}

/* Whether somebody looks at a mark of a code that is not listed in this launch. */
static bool misses_marks(const records_in_hand *h, const dl_record_code *c)
{
    const dl_pair *p = h->p;
    const uint32_t stream = dl_mark_stream(h->of->common);
    const dl_kind *kinds = p->tables->kinds;
    if (h->marks || !h->looked_at) return false;
    return dl_run_sink_wants(&p->out.sink, stream, &kinds[dl_mark_kind(c->code)]) ||
           (c->way == DL_RECORD_COMPLETE &&
            dl_run_sink_wants(&p->out.sink, stream, &kinds[dl_mark_kind(c->start)]));
}

/* What the records of a code are on the stream from now on, when one of them has been taken. */
static void learn(const records_in_hand *h, uint32_t code)
{
    const dl_pair *p = h->p;
    const dl_record_code *c = &h->of->codes->of[code];
    const uint32_t site = p->tables->kinds[dl_mark_kind(c->code)].site, place = h->of->codes->place[code];
    record_turn *turn = &h->turns->others[place];
    if (misses_marks(h, c)) {
        h->turns->marks = true; /* from the next launch on; in this one they are rare */
        return;
    }
    if (c->way == DL_RECORD_ZONE || c->way == DL_RECORD_COMPLETE) {
        dl_key *key = dl_pair_known_key(h->s, site);
        const int as = c->way == DL_RECORD_COMPLETE ? IS_OTHER : code & 1 ? ENDS : 0;
        if (key) h->turns->zones[place] = (char *)key + as;
        if (key && c->way == DL_RECORD_COMPLETE) turn->what = TURN_COMPLETE;
        return;
    }
    const bool is_value = c->way == DL_RECORD_VALUE;
    if (is_value && c->meta && !h->of->no_meta) return;
    turn->series = dl_series_number(&p->series, dl_mark_stream(h->of->common), site,
                                    is_value ? DL_EVENT_VALUE : DL_EVENT_POINT);
    if (turn->series == DL_NONE) return;
    turn->what = !is_value ? TURN_POINT : c->words == 4 ? TURN_VALUE64 : TURN_VALUE32;
}

/* ---- What is rare --------------------------------------------------------------------------------------- */

/* Pairs a mark of a rare record. */
static devlog_status take_mark(records_in_hand *h, uint64_t code, uint32_t low, const dl_rare *rare,
                               devlog_error *err)
{
    dl_pair *p = h->p;
    const dl_kind *kind = &p->tables->kinds[dl_mark_kind(code)];
    uint64_t part = h->of->common & DL_MARK_FRAME;
    if (h->looked_at && (rare->data || rare->meta) && !dl_marks_rare(h->batch, rare, part, &part))
        return dl_pair_no_memory(err);
    const pair_mark m = {.time = time_of(h->of, low),
                         .code = code | (h->of->common & DL_MARK_STREAM) | part,
                         .kind = kind,
                         .ids = &h->frame->ids,
                         .rare = rare,
                         .stream = dl_mark_stream(h->of->common),
                         .line = h->frame->line};
    if (h->s->costs && kind->cost != DL_COST_NONE && !h->lists) {
        const uint64_t price = dl_pair_price(h->s->costs, kind);
        h->spent += price & SPENT;
        h->records += price >> RECORDS_SHIFT;
    }
    return dl_pair_take(p, h->s, &m, false, err);
}

/* The same for the next record. */
static devlog_status take_rare(records_in_hand *h, record_feed *f, bool planes, devlog_error *err)
{
    const record_read r = feed_read(f, planes);
    const dl_record_code *c = &h->of->codes->of[r.code];
    dl_rare rare = {0};
    devlog_status status = DEVLOG_OK;
    if (c->way == DL_RECORD_COMPLETE)
        status = take_mark(h, c->start, r.low - feed_cycles(&r, planes), &rare, err);
    if (c->way == DL_RECORD_VALUE) {
        rare.data = c->words == 4 ? r.third[0] | (uint64_t)r.third[1] << 32 : r.third[0];
        rare.meta = h->of->no_meta ? 0 : c->meta;
    }
    if (!status) status = take_mark(h, c->code, r.low, &rare, err);
    if (!status && h->turns) learn(h, r.code);
    feed_on(f, planes, &r, c->words);
    return status;
}

/* Whether the records that follow need only be summed up. */
bool dl_pair_records_sum_up(const records_in_hand *h)
{
    return h->sums && !h->s->uneven && h->s->n_open < DL_SUMS_DEEP - 1 &&
           dl_pair_needs_no_list(h->p, h->s->launch);
}

/* Takes the records of a span. */
static devlog_status take_all(records_in_hand *h, record_feed *f, bool planes, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    while (!feed_ends(f, planes) && !status) {
        h->cut = false;
        if (feed_is_padding(f, planes)) {
            f->w++;
            continue;
        }
        if (dl_pair_records_go_on(h, feed_read(f, planes).low))
            status = !h->lists                   ? dl_pair_take_recorded(h, f, err)
                     : dl_pair_records_sum_up(h) ? dl_pair_sum_recorded(h, f, err)
                                                 : dl_pair_list_recorded(h, f, err);
        if (!status && !feed_ends(f, planes) && !h->cut && !feed_is_padding(f, planes))
            status = take_rare(h, f, planes, err);
    }
    return status;
}

/* Adds what all records cost, but for those that have told so themselves. */
static void spend(const records_in_hand *h)
{
    stream_state *s = h->s;
    uint64_t spent = 0, records = 0;
    for (uint32_t i = 0; i < h->of->n_seen; i++) {
        const dl_record_code *c = &h->of->codes->of[h->of->seen[i]];
        const uint64_t codes[2] = {c->code, c->start}, n = h->of->counts[h->of->seen[i]];
        for (uint32_t k = 0; k < (c->way == DL_RECORD_COMPLETE ? 2u : 1u); k++) {
            const uint64_t price = dl_pair_price(s->costs, &h->p->tables->kinds[dl_mark_kind(codes[k])]);
            spent += n * (price & SPENT);
            records += n * (price >> RECORDS_SHIFT);
        }
    }
    s->spent += spent - h->spent;
    s->spent_on_records += spent - h->spent;
    s->records += records - h->records;
}

/* What the launch in hand needs by the places of codes. False: out of memory. */
static bool make_room(records_in_hand *h)
{
    dl_pair *p = h->p;
    const dl_recorded *r = h->of;
    record_room *room = p->record_room;
    const uint32_t cap = h->turns->cap;
    if (!room || room->cap < cap) {
        const size_t each = 2 * sizeof *room->prices + 2 * sizeof *room->sums + sizeof *room->touched;
        free(room);
        room = p->record_room = calloc(1, sizeof *room + cap * each);
        if (!room) return false;
        room->cap = cap;
        room->prices = (uint64_t *)(room + 1);
        room->starts = room->prices + cap;
        room->sums = (dl_zone_sum *)(void *)(room->starts + cap);
        room->out = room->sums + cap;
        room->touched = (uint16_t *)(void *)(room->out + cap);
    }
    h->room = room;
    for (uint32_t i = 0; i < r->n_seen && h->s->costs; i++) {
        const dl_record_code *c = &r->codes->of[r->seen[i]];
        const uint32_t place = r->codes->place[r->seen[i]];
        const dl_kind *kinds = p->tables->kinds;
        room->prices[place] = dl_pair_price(h->s->costs, &kinds[dl_mark_kind(c->code)]);
        room->starts[place] =
            c->way == DL_RECORD_COMPLETE ? dl_pair_price(h->s->costs, &kinds[dl_mark_kind(c->start)]) : 0;
    }
    return true;
}

devlog_status dl_pair_records(dl_pair *p, dl_marks *m, devlog_error *err)
{
    const dl_recorded *r = &m->recorded;
    stream_state *s = dl_pair_stream(p, dl_mark_stream(r->common));
    if (!s) return dl_pair_no_memory(err);
    records_in_hand h = {.p = p,
                         .batch = m,
                         .s = s,
                         .of = r,
                         .frame = dl_mark_frame(m, r->common),
                         .turns = turns_of(p, s, r->codes),
                         .looked_at = p->out.sink.runs != NULL};
    if (h.looked_at)
        h.marks = dl_pair_lists_marks(p) && (!p->out.sink.marks_of || !h.turns || h.turns->marks);
    h.lists = h.looked_at && (h.marks || dl_pair_lists_events(p));
    h.sums = h.lists && !h.marks;
    if (h.lists && h.turns && !make_room(&h)) return dl_pair_no_memory(err);
    devlog_status status = DEVLOG_OK;
    p->batch = m;
    const bool whole = dl_pair_take_shape(&h, &status, err);
    for (uint32_t i = 0; i < r->n_spans && !whole && !status; i++) {
        record_feed f = {0};
        if (r->planes) {
            const record_planes *of = &r->planes[i];
            f = (record_feed){NULL, NULL, of->heads, of->heads + of->n, of->lows, of->rest, of->last};
        } else {
            f.w = r->spans[i].words;
            f.end = f.w + r->spans[i].n;
        }
        status = take_all(&h, &f, r->planes != NULL, err);
    }
    if (s->costs && !h.lists) spend(&h);
    if (!status && h.lists) status = dl_pair_out_flush(p, err); /* no other marks become part of these runs */
    p->batch = NULL;
    return status;
}
