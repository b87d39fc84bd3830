/* Ordinary records where somebody looks at their events or marks: counted, and listed a few at a time. Not for what is rare
 * (pair_records.c). */
#include "decode/pair/pair_records.h"

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
static bool list_point(const records_in_hand *h, const dl_record_code *c, const uint32_t *third, dl_event *e,
                       uint64_t *code)
{
    uint64_t part = h->of->common & DL_MARK_FRAME;
    const dl_kind *kind = &h->p->tables->kinds[dl_mark_kind(c->code)];
    e->site = kind->site;
    e->timer_id = kind->timer_id;
    e->kind = dl_pair_kinds[kind->type];
    e->data = c->way != DL_RECORD_VALUE ? 0 : c->words == 4 ? third[0] | (uint64_t)third[1] << 32 : third[0];
    if (e->data && h->marks && !dl_marks_rare(h->batch, &(dl_rare){.data = e->data}, part, &part))
        return false;
    *code = c->code | (h->of->common & DL_MARK_STREAM) | part;
    return true;
}

/* LIST_RECORDS at most. What changes with every record is in variables: the processor would wait for it to come back from
 * memory. */
ALWAYS_INLINE devlog_status list(records_in_hand *h, record_feed *feed, const bool planes, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    record_feed f = *feed;
    stream_state *const s = h->s;
    const dl_recorded *const of = h->of;
    const dl_record_code *const codes = of->codes->of;
    const uint16_t *const places = of->codes->place;
    char *const *const all = h->turns->zones;
    const dl_kind *const kinds = h->p->tables->kinds;
    const stream_costs *const costs = s->costs;
    const uint64_t common = of->common, base = of->from - of->ahead + s->epoch,
                   change_at = costs ? s->change_at : UINT64_MAX;
    const uint32_t low0 = (uint32_t)of->from, stream = dl_mark_stream(common), launch = s->launch,
                   n_open = s->n_open, line = h->frame->line;
    const uint8_t no_cost = dl_pair_no_cost(costs);
    begun_zone zones[DL_MAX_OPEN + 1], *top = zones, *const limit = zones + (s->cap_open - n_open);
    uint64_t spent = 0, last = s->last, before = s->spent;
    uint32_t left = LIST_RECORDS, n_events = 0;
    bool good = true;
    listing l;
    if (!begin_listing(h, &l, &status, err)) return status;
    dl_event *event = l.event;
    dl_mark *mark = l.mark;
    zones[0].zone = NULL; /* which none has */
    for (; !feed_ends(&f, planes) && left && good; left--) {
        if (feed_is_padding(&f, planes)) {
            f.w++;
            continue;
        }
        const record_read r = feed_read(&f, planes);
        const uint32_t low = r.low;
        const dl_record_code *c = &codes[r.code];
        const uint32_t place = places[r.code];
        char *const zone = all[place];
        const uint64_t time = base + (uint32_t)(low - low0);
        uint64_t code = c->code | common;
        if (time >= change_at) break;
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (top == limit) break;
            *++top = (begun_zone){zone, low, before + (spent & SPENT), 0};
        } else if (top->zone == zone - ENDS || (zone != NO_ZONE && c->way == DL_RECORD_COMPLETE)) {
            const bool complete = top->zone != zone - ENDS;
            if (complete) {
                if (top == limit) break;
                const uint32_t whole = feed_cycles(&r, planes);
                *++top = (begun_zone){zone - IS_OTHER, low - whole, before + (spent & SPENT), 0};
                if (mark) *mark++ = (dl_mark){time - whole, c->start | common};
                if (costs) spent += h->room->starts[place];
            }
            const uint32_t cycles = low - top->low;
            dl_key *key = key_of(top->zone, 0);
            if (key->samples.at != key->samples.limit)
                *key->samples.at++ = cycles;
            else
                good = dl_pair_count_recorded(h, key, cycles, low);
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
        } else if (dl_pair_count_point_of(h, place, &r)) {
            dl_event e = {.start = time,
                          .end = time,
                          .stream = stream,
                          .launch = launch,
                          .line = line,
                          .depth = (uint16_t)(n_open + (top - zones))};
            good = list_point(h, c, r.third, &e, &code);
            if (event) *event++ = e;
            n_events++;
        } else {
            break;
        }
        if (mark) *mark++ = (dl_mark){time, code};
        if (costs) spent += h->room->prices[place];
        last = time;
        feed_on(&f, planes, &r, c->words);
    }
    l.mark = mark;
    s->last = last;
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
    keep_open(h, zones + 1, top + 1);
    end_listing(h, &l, n_events);
    h->cut = left == 0;
    *feed = f;
    return good ? DEVLOG_OK : dl_pair_no_memory(err);
}

devlog_status dl_pair_list_recorded(records_in_hand *h, record_feed *f, devlog_error *err)
{
    return f->head ? list(h, f, true, err) : list(h, f, false, err);
}
