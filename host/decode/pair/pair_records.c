/* Pairing of ordinary records as they were recorded (decode/recorded.h), where statistics are all that is wanted: a start and an
 * end are two stamps, and what they count into is found once for each code and stream. What is rare (a zone that
 * is met for the first time, an end that belongs to no zone or to one further out, a stamp that jumps) becomes a mark and goes
 * the way of all marks (pair_stack.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_internal.h"

/* What a record of a code is on a stream, where it is not the start or the end of a zone. */
enum { TURN_RARE, TURN_COMPLETE, TURN_POINT, TURN_VALUE32, TURN_VALUE64 };

typedef struct record_turn {
    uint32_t series; /* of a value or a point in time */
    uint8_t what;    /* TURN_* */
} record_turn;

/* By their places (dl_record_codes), from 1; the first is of no code. */
typedef struct record_turns {
    struct record_turns *next;
    const dl_record_codes *codes;
    uint32_t cap;
    bool marks; /* somebody looks at marks of some of the codes */
    /* Statistics of its zone, or of one that ends the byte behind their beginning, so that an end is told from a start, and
     * compared with it, at once; NO_ZONE: it is no zone. */
    char **zones;
    record_turn *others; /* and of complete zones their statistics are in zones[] */
} record_turns;

enum { TURN_BYTES = 32 * 1024 * 1024 }; /* of all streams; without, records are rare */

enum { ENDS = 1, IS_OTHER = 2, KEY_ALIGNED = 64 };
static _Alignas(KEY_ALIGNED) char other[KEY_ALIGNED];
#define NO_ZONE (other + IS_OTHER)

/* The records of one launch in hand. */
typedef struct records_in_hand {
    dl_pair *p;
    dl_marks *batch;
    stream_state *s;
    const dl_recorded *of;
    const dl_frame *frame;
    record_turns *turns;     /* NULL: no memory */
    bool looked_at;          /* somebody looks at runs, and .. */
    bool lists, marks;       /* .. at events or marks of ordinary records; at marks */
    bool cut;                /* of what was listed last, more is to come */
    uint64_t spent, records; /* by rare ones, which have told so themselves */
} records_in_hand;

/* A zone that has begun among them. */
typedef struct begun_zone {
    char *zone;   /* as in record_turns.zones */
    uint32_t low; /* half of its stamp */
    /* Where events are listed: what had been spent on recording, as in open_zone. */
    uint64_t spent;
} begun_zone;

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

static dl_key *key_of(char *zone, int as)
{
    return (dl_key *)(void *)(zone - as);
}

/* The stamp of a record, all of whose neighbours are less than 2^32 cycles away, as its mark would have it. */
static inline uint64_t time_of(const dl_recorded *r, uint32_t low)
{
    return r->from + (uint32_t)(low - (uint32_t)r->from) - r->ahead;
}

/* Opens for good the zones that have begun. There is room for them. */
static void keep_open(const records_in_hand *h, const begun_zone *zones, const begun_zone *end)
{
    stream_state *s = h->s;
    for (; zones < end; zones++)
        s->open[s->n_open++] = (open_zone){.start = time_of(h->of, zones->low) + s->epoch,
                                           .key = key_of(zones->zone, 0),
                                           .spent = h->lists ? zones->spent : s->spent,
                                           .site = key_of(zones->zone, 0)->site,
                                           .launch = s->launch,
                                           .line = h->frame->line};
}

/* Whether records that begin with this one go on where the stream is. */
static bool goes_on(const records_in_hand *h, uint32_t low)
{
    const stream_state *s = h->s;
    return h->turns && s->limit == CLOCK_LIMIT && !s->too_deep && dl_same_ids(&h->frame->ids, &s->ids) &&
           time_of(h->of, low) + s->epoch - s->last < CLOCK_LIMIT;
}

/* Counts a zone of so many cycles that ends with this stamp. Without medians, too, durations wait to be summed up some at a
 * time. False: out of memory. */
static __attribute__((noinline)) bool count_zone(const records_in_hand *h, dl_key *key, uint32_t cycles,
                                                 uint32_t low)
{
    enum { WAIT = 124 };
    const uint64_t start = time_of(h->of, low) + h->s->epoch - cycles;
    if (!h->p->no_samples) return dl_pair_count_zone(false, key, start, cycles, 0, false);
    if (!key->samples.first) {
        dl_key_count(key, start, cycles); /* which was the first is known so */
        key->samples.next_size = WAIT;
        return dl_samples_grow(&key->samples);
    }
    if (key->samples.at == key->samples.limit) {
        dl_key_settle(key);
        key->samples.at = key->samples.first->values;
    }
    *key->samples.at++ = cycles;
    return true;
}

/* Counts what is no zone with a start and an end of its own; returns its words, 0: it is rare, or *good is false. */
static __attribute__((noinline)) uint32_t count_other(const records_in_hand *h, const uint32_t *w, bool room,
                                                      bool *good)
{
    const uint32_t place = h->of->codes->place[w[0] & 0xFFF];
    const record_turn *turn = &h->turns->others[place];
    const uint64_t time = time_of(h->of, w[1]) + h->s->epoch;
    dl_series *series = turn->what > TURN_COMPLETE ? &h->p->series.items[turn->series] : NULL;
    switch (turn->what) {
    case TURN_COMPLETE:
        if (room) *good = count_zone(h, key_of(h->turns->zones[place], IS_OTHER), w[1] - w[2], w[1]);
        return room && *good ? 3 : 0;
    case TURN_POINT: dl_series_count(series, time, 0, 0); return 2;
    case TURN_VALUE32: dl_series_count(series, time, w[2], 0); return 3;
    case TURN_VALUE64: dl_series_count(series, time, w[2] | (uint64_t)w[3] << 32, 0); return 4;
    default: return 0;
    }
}

/* Counts records up to the first that is rare, and opens for good what has begun and not ended; returns where that is. NULL:
 * out of memory. */
static const uint32_t *take_ordinary(const records_in_hand *h, const uint32_t *w, const uint32_t *const end)
{
    stream_state *const s = h->s;
    const uint16_t *const places = h->of->codes->place;
    char *const *const all = h->turns->zones;
    begun_zone zones[DL_MAX_OPEN + 1], *top = zones, *const limit = zones + (s->cap_open - s->n_open);
    uint32_t low = (uint32_t)(s->last - s->epoch + h->of->ahead);
    bool good = true;
    zones[0].zone = NULL; /* which none has */
    while (w < end) {
        char *const zone = all[places[w[0] & 0xFFF]];
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (top == limit) break;
            low = w[1];
            (++top)->zone = zone;
            top->low = low;
            w += 2;
        } else if (top->zone == zone - ENDS) {
            low = w[1];
            const uint32_t cycles = low - top->low;
            dl_key *key = key_of(zone, ENDS);
            top--;
            w += 2;
            if (key->samples.at != key->samples.limit)
                *key->samples.at++ = cycles;
            else if (!(good = count_zone(h, key, cycles, low)))
                break;
        } else if (w[0] == 0) {
            w++; /* what a flush was filled up with */
        } else {
            const uint32_t words =
                zone == NO_ZONE || ((uintptr_t)zone & ENDS) == 0 ? count_other(h, w, top < limit, &good) : 0;
            if (!words) break;
            low = w[1];
            w += words;
        }
    }
    s->last = time_of(h->of, low) + s->epoch;
    keep_open(h, zones + 1, top + 1);
    return good ? w : NULL;
}

/* ---- The same where somebody looks at events or marks ------------------------------------------------- */

/* What is being listed of the records in hand. */
typedef struct listing {
    dl_run *run;
    dl_event *event; /* the next; NULL: they are not listed */
    dl_mark *mark;   /* the same */
} listing;

enum { LIST_RECORDS = 256 }; /* at a time */

/* Begins a run for at most LIST_RECORDS records. False: *status. */
static bool begin_listing(const records_in_hand *h, listing *l, devlog_status *status, devlog_error *err)
{
    dl_pair *p = h->p;
    const dl_outbox *o = &p->out.box;
    const bool events = dl_pair_lists_events(p), counts = events && dl_pair_only_counts(p, h->s->launch);
    *l = (listing){0};
    l->run = dl_pair_out_begin(p, dl_mark_stream(h->of->common), h->s->launch, counts ? 0 : LIST_RECORDS,
                               2 * LIST_RECORDS, status, err);
    if (!l->run) return false;
    l->run->unlisted = counts;
    l->run->once = true; /* there is nothing of firmware or kernel among them */
    if (events && !counts) l->event = o->events + o->n_events;
    if (h->marks) l->mark = o->marks + o->n_marks;
    return true;
}

static void end_listing(const records_in_hand *h, const listing *l, uint32_t n_events)
{
    dl_outbox *o = &h->p->out.box;
    l->run->n_events = n_events;
    if (l->event) o->n_events += n_events;
    if (l->mark) l->run->n_marks = (uint32_t)(l->mark - (o->marks + o->n_marks));
    o->n_marks += l->run->n_marks;
    if (!n_events && !l->run->n_marks) o->n_runs--; /* it is the last */
}

/* The event of a value or a point in time; *code is then that of its mark. False: out of memory. */
static bool list_point(const records_in_hand *h, const dl_record_code *c, const uint32_t *w, dl_event *e,
                       uint64_t *code)
{
    uint64_t part = h->of->common & DL_MARK_FRAME;
    const dl_kind *kind = &h->p->tables->kinds[dl_mark_kind(c->code)];
    e->site = kind->site;
    e->timer_id = kind->timer_id;
    e->kind = dl_pair_kinds[kind->type];
    e->data = c->way != DL_RECORD_VALUE ? 0 : c->words == 4 ? w[2] | (uint64_t)w[3] << 32 : w[2];
    if (e->data && h->marks && !dl_marks_rare(h->batch, &(dl_rare){.data = e->data}, part, &part))
        return false;
    *code = c->code | (h->of->common & DL_MARK_STREAM) | part;
    return true;
}

/* Counts and lists records, LIST_RECORDS at most, up to the first that is rare; otherwise as take_ordinary. What changes with
 * every record is in variables: the processor would wait for it to come back from memory. */
static const uint32_t *list_ordinary(records_in_hand *h, const uint32_t *w, const uint32_t *const end,
                                     devlog_status *status, devlog_error *err)
{
    stream_state *const s = h->s;
    const dl_recorded *const r = h->of;
    const dl_record_code *const codes = r->codes->of;
    const uint16_t *const places = r->codes->place;
    char *const *const all = h->turns->zones;
    const dl_kind *const kinds = h->p->tables->kinds;
    const stream_costs *const costs = s->costs;
    const uint64_t common = r->common, base = r->from - r->ahead + s->epoch,
                   change_at = costs ? s->change_at : UINT64_MAX;
    const uint32_t low0 = (uint32_t)r->from, stream = dl_mark_stream(common), launch = s->launch,
                   n_open = s->n_open, line = h->frame->line;
    const uint8_t no_cost = dl_pair_no_cost(costs);
    begun_zone zones[DL_MAX_OPEN + 1], *top = zones, *const limit = zones + (s->cap_open - n_open);
    uint64_t spent = 0, last = s->last, before = s->spent;
    uint32_t left = LIST_RECORDS, n_events = 0;
    bool good = true;
    listing l;
    if (!begin_listing(h, &l, status, err)) return NULL;
    dl_event *event = l.event;
    dl_mark *mark = l.mark;
    zones[0].zone = NULL; /* which none has */
    for (; w < end && left && good; left--) {
        const uint32_t head = w[0] & 0xFFF, low = w[0] ? w[1] : 0;
        const dl_record_code *c = &codes[head];
        char *const zone = all[places[head]];
        const uint64_t time = base + (uint32_t)(low - low0);
        uint64_t code = c->code | common;
        if (time >= change_at && w[0]) break;
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (top == limit) break;
            *++top = (begun_zone){zone, low, before + (spent & SPENT)};
        } else if (top->zone == zone - ENDS || (zone != NO_ZONE && c->way == DL_RECORD_COMPLETE)) {
            const bool complete = top->zone != zone - ENDS;
            if (complete) {
                if (top == limit) break;
                *++top = (begun_zone){zone - IS_OTHER, w[2], before + (spent & SPENT)};
                if (mark) *mark++ = (dl_mark){time - (low - w[2]), c->start | common};
                if (costs) spent += dl_pair_price(costs, &kinds[dl_mark_kind(c->start)]);
            }
            const uint32_t cycles = low - top->low;
            dl_key *key = key_of(top->zone, 0);
            if (key->samples.at != key->samples.limit)
                *key->samples.at++ = cycles;
            else
                good = count_zone(h, key, cycles, low);
            const uint64_t cost = costs ? (before + (spent & SPENT) - top->spent + 8) / 16 : 0;
            top--;
            if (event)
                *event++ = (dl_event){.start = time - cycles,
                                      .end = time,
                                      .stream = stream,
                                      .site = key->site,
                                      .launch = launch,
                                      .timer_id = kinds[dl_mark_kind(code)].timer_id,
                                      .line = line,
                                      .depth = (uint16_t)(n_open + (top - zones)),
                                      .kind = DL_EVENT_ZONE,
                                      .flags = no_cost,
                                      .own_cost = cost < cycles ? (uint32_t)cost : cycles};
            n_events++;
        } else if (w[0] == 0) {
            w++; /* what a flush was filled up with */
            continue;
        } else if (count_other(h, w, true, &good)) {
            dl_event e = {.start = time,
                          .end = time,
                          .stream = stream,
                          .launch = launch,
                          .line = line,
                          .depth = (uint16_t)(n_open + (top - zones))};
            good = list_point(h, c, w, &e, &code);
            if (event) *event++ = e;
            n_events++;
        } else {
            break;
        }
        if (mark) *mark++ = (dl_mark){time, code};
        if (costs) spent += dl_pair_price(costs, &kinds[dl_mark_kind(code)]);
        last = time;
        w += c->words;
    }
    l.mark = mark;
    s->last = last;
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
    keep_open(h, zones + 1, top + 1);
    end_listing(h, &l, n_events);
    h->cut = left == 0;
    if (!good) *status = dl_pair_no_memory(err);
    return good ? w : NULL;
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

/* The same for a record; returns its words, or 0: *status. */
static uint32_t take_rare(records_in_hand *h, const uint32_t *w, devlog_status *status, devlog_error *err)
{
    const dl_recorded *r = h->of;
    const uint32_t code = w[0] & 0xFFF;
    const dl_record_code *c = &r->codes->of[code];
    dl_rare rare = {0};
    if (w[0] == 0) return 1;
    if (c->way == DL_RECORD_COMPLETE) *status = take_mark(h, c->start, w[2], &rare, err);
    if (c->way == DL_RECORD_VALUE) {
        rare.data = c->words == 4 ? w[2] | (uint64_t)w[3] << 32 : w[2];
        rare.meta = r->no_meta ? 0 : c->meta;
    }
    if (!*status) *status = take_mark(h, c->code, w[1], &rare, err);
    if (*status) return 0;
    if (h->turns) learn(h, code);
    return c->words;
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
    devlog_status status = DEVLOG_OK;
    p->batch = m;
    for (uint32_t i = 0; i < r->n_spans && !status; i++) {
        const uint32_t *w = r->spans[i].words, *const end = w + r->spans[i].n;
        while (w < end && !status) {
            h.cut = false;
            if (w[0] && goes_on(&h, w[1]))
                w = h.lists ? list_ordinary(&h, w, end, &status, err) : take_ordinary(&h, w, end);
            if (!w) return status ? status : dl_pair_no_memory(err);
            if (w < end && !h.cut) w += take_rare(&h, w, &status, err);
        }
    }
    if (s->costs && !h.lists) spend(&h);
    if (!status && h.lists) status = dl_pair_out_flush(p, err); /* no other marks become part of these runs */
    p->batch = NULL;
    return status;
}
