/* Ordinary records counted: a start and an end are two stamps, and what they count into is found once for each code and
 * stream. Where nobody looks at single events but at what they come to, that is summed up besides. Not for what is rare
 * (pair_records.c). */
#include "decode/pair/pair_records.h"

/* Without medians, too, durations wait to be summed up some at a time. */
__attribute__((noinline)) bool dl_pair_count_recorded(const records_in_hand *h, dl_key *key, uint32_t cycles,
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

static inline bool count_zone(const records_in_hand *h, dl_key *key, uint32_t cycles, uint32_t low)
{
    if (key->samples.at == key->samples.limit) return dl_pair_count_recorded(h, key, cycles, low);
    *key->samples.at++ = cycles;
    return true;
}

/* Cycles of the zones inside one have closed that are not its own. */
static inline uint64_t own_of(uint64_t inside, uint64_t whole)
{
    return inside < whole ? whole - inside : 0;
}

/* The first zone at this place. */
static __attribute__((noinline)) void begin_sum(const records_in_hand *h, uint32_t place, const dl_key *key,
                                                uint64_t start)
{
    dl_pair_begin_sum(h, place, key, start);
}

static inline void add_sum(const records_in_hand *h, uint32_t place, const dl_key *key, uint32_t low,
                           uint32_t cycles, uint64_t inside, uint64_t cost)
{
    dl_zone_sum *sum = &h->room->sums[place];
    if (!sum->count) begin_sum(h, place, key, time_of(h->of, low) + h->s->epoch - cycles);
    sum->count++;
    sum->total += cycles;
    sum->own += own_of(inside, cycles);
    sum->cost += cost < cycles ? cost : cycles;
    if (cycles < sum->min) sum->min = cycles;
    if (cycles > sum->max) sum->max = cycles;
}

/* What has been taken of the records in hand. */
typedef struct taken {
    begun_zone zones[DL_MAX_OPEN + 1], *top;
    uint32_t n_events;
} taken;

/* Where taking records in planes one after the other is. */
typedef struct in_a_row {
    const uint16_t *head, *more;
    const uint32_t *rest;
    begun_zone *top;
    uint64_t spent;
    uint32_t low, n_events;
} in_a_row;

/* The same in all records of a launch. */
typedef struct row_bounds {
    const uint16_t *end;
    const begun_zone *limit;
    uint64_t before, change; /* as in take() */
} row_bounds;

/* Counts a value or a point in time as a whole record; returns its words, 0: it is rare. */
static __attribute__((noinline)) uint32_t take_point(const records_in_hand *h, uint32_t place, uint32_t low,
                                                     const uint32_t *third)
{
    return dl_pair_count_point_of(h, place, &(record_read){0, low, third});
}

/* Takes records in planes as far as there is nothing that is seldom: a stamp far from the one before, no room, another zone's end.
 * A zone with nothing in it is two records and nothing to remember. */
ALWAYS_INLINE void take_row(const records_in_hand *h, const row_bounds *b, in_a_row *row, const bool sums,
                            const bool costly)
{
    const uint16_t *const places = h->of->codes->place;
    char *const *const all = h->turns->zones;
    const uint64_t *const prices = costly ? h->room->prices : NULL;
    const uint32_t from = (uint32_t)h->of->from;
    in_a_row r = *row;
    for (; r.head < b->end && *r.more != RECORD_LONG; r.head++, r.more++) {
        const uint32_t place = places[*r.head & 0xFFF], low = r.low + *r.more;
        const uint32_t *rest = r.rest + (*r.head / RECORD_FAR);
        char *const zone = all[place];
        if (costly && (uint32_t)(low - from) >= b->change) break;
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (r.top == b->limit) break;
            dl_key *key = key_of(zone, 0);
            const uint32_t next = r.head + 1 < b->end && !costly ? r.head[1] : 0;
            if (next == (*r.head & 0xFFF) + 1u && r.more[1] != RECORD_LONG &&
                all[places[next]] == zone + ENDS && key->samples.at != key->samples.limit) {
                const uint32_t cycles = r.more[1];
                *key->samples.at++ = cycles;
                if (sums) {
                    add_sum(h, places[next], key, low + cycles, cycles, 0, 0);
                    r.top->inside += cycles;
                    r.n_events++;
                }
                r.low = low + cycles;
                r.rest = rest;
                r.head++;
                r.more++;
                continue;
            }
            (++r.top)->zone = zone;
            r.top->low = low;
            if (sums) r.top->inside = 0;
            if (sums) r.top->spent = b->before + (r.spent & SPENT);
            if (costly) r.spent += prices[place];
        } else if (r.top->zone == zone - ENDS) {
            dl_key *key = key_of(zone, ENDS);
            const uint32_t cycles = low - r.top->low;
            if (key->samples.at == key->samples.limit) break;
            *key->samples.at++ = cycles;
            if (sums) {
                const uint64_t cost = costly ? (b->before + (r.spent & SPENT) - r.top->spent + 8) / 16 : 0;
                add_sum(h, place, key, low, cycles, r.top->inside, cost);
                r.top[-1].inside += cycles;
                r.n_events++;
            }
            if (costly) r.spent += prices[place];
            r.top--;
        } else if (zone != NO_ZONE && ((uintptr_t)zone & ENDS) == 0) { /* a complete zone */
            dl_key *key = key_of(zone, IS_OTHER);
            const uint32_t cycles = *rest++;
            if (r.top == b->limit || key->samples.at == key->samples.limit) break;
            *key->samples.at++ = cycles;
            if (sums) {
                const uint64_t cost = costly ? ((h->room->starts[place] & SPENT) + 8) / 16 : 0;
                add_sum(h, place, key, low, cycles, 0, cost);
                r.top->inside += cycles;
                r.n_events++;
            }
            if (costly) r.spent += h->room->starts[place] + prices[place];
        } else {
            const uint32_t words = zone == NO_ZONE ? take_point(h, place, low, rest) : 0;
            if (!words) break;
            rest += words - 2;
            if (sums) r.n_events++;
            if (costly) r.spent += prices[place];
        }
        r.low = low;
        r.rest = rest;
    }
    *row = r;
}

static __attribute__((noinline)) void take_row_alone(const records_in_hand *h, const row_bounds *b,
                                                     in_a_row *row)
{
    take_row(h, b, row, false, false);
}

static __attribute__((noinline)) void take_row_sums(const records_in_hand *h, const row_bounds *b,
                                                    in_a_row *row)
{
    take_row(h, b, row, true, false);
}

static __attribute__((noinline)) void take_row_costs(const records_in_hand *h, const row_bounds *b,
                                                     in_a_row *row)
{
    take_row(h, b, row, true, true);
}

/* `sums`: besides, what closes is summed up; `costly`: and what recording took is known. What changes with every record is in
 * variables: the processor would wait for it to come back from memory. */
ALWAYS_INLINE bool take(const records_in_hand *h, record_feed *feed, taken *t, const bool planes,
                        const bool sums, const bool costly)
{
    record_feed f = *feed;
    stream_state *const s = h->s;
    const uint16_t *const places = h->of->codes->place;
    char *const *const all = h->turns->zones;
    const uint64_t *const prices = costly ? h->room->prices : NULL;
    const uint32_t most = sums ? DL_SUMS_DEEP - 1u : s->cap_open;
    begun_zone *const zones = t->zones, *top = zones,
                      *const limit = zones + ((most < s->cap_open ? most : s->cap_open) - s->n_open);
    uint32_t low = (uint32_t)(s->last - s->epoch + h->of->ahead), n_events = 0;
    const uint64_t first = time_of(h->of, (uint32_t)h->of->from) + s->epoch, before = s->spent;
    /* Cycles behind the beginning of the kernel. */
    const uint64_t change = !costly ? 0 : s->change_at > first ? s->change_at - first : 0;
    uint64_t spent = 0;
    bool good = true;
    zones[0] = (begun_zone){0}; /* NULL: which none has */
    while (!feed_ends(&f, planes)) {
        if (feed_is_padding(&f, planes)) {
            f.w++;
            continue;
        }
        if (planes && *f.more != RECORD_LONG) {
            const row_bounds bounds = {f.heads_end, limit, before, change};
            in_a_row row = {f.head, f.more, f.rest, top, spent, f.low, n_events};
            if (costly)
                take_row_costs(h, &bounds, &row);
            else if (sums)
                take_row_sums(h, &bounds, &row);
            else
                take_row_alone(h, &bounds, &row);
            if (row.head != f.head) low = row.low;
            f.head = row.head;
            f.more = row.more;
            f.rest = row.rest;
            f.low = row.low;
            top = row.top;
            spent = row.spent;
            n_events = row.n_events;
            if (feed_ends(&f, planes)) break;
        }
        const record_read r = feed_read(&f, planes);
        const uint32_t place = places[r.code];
        char *const zone = all[place];
        if (costly && (uint32_t)(r.low - (uint32_t)h->of->from) >= change) break;
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (top == limit) break;
            low = r.low;
            (++top)->zone = zone;
            top->low = low;
            if (sums) top->inside = 0;
            if (sums) top->spent = before + (spent & SPENT);
            if (costly) spent += prices[place];
            feed_on(&f, planes, &r, 2);
        } else if (top->zone == zone - ENDS) {
            low = r.low;
            const uint32_t cycles = low - top->low;
            dl_key *key = key_of(zone, ENDS);
            if (sums) {
                const uint64_t cost = costly ? (before + (spent & SPENT) - top->spent + 8) / 16 : 0;
                add_sum(h, place, key, low, cycles, top->inside, cost);
                top[-1].inside += cycles;
                n_events++;
            }
            if (costly) spent += prices[place];
            top--;
            feed_on(&f, planes, &r, 2);
            if (!(good = count_zone(h, key, cycles, low))) break;
        } else if (zone != NO_ZONE && ((uintptr_t)zone & ENDS) == 0) { /* a complete zone */
            if (top == limit) break;
            low = r.low;
            const uint32_t cycles = feed_cycles(&r, planes);
            if (sums) {
                const uint64_t cost = costly ? ((h->room->starts[place] & SPENT) + 8) / 16 : 0;
                add_sum(h, place, key_of(zone, IS_OTHER), low, cycles, 0, cost);
                top->inside += cycles;
                n_events++;
            }
            if (costly) spent += h->room->starts[place] + prices[place];
            feed_on(&f, planes, &r, 3);
            if (!(good = count_zone(h, key_of(zone, IS_OTHER), cycles, low))) break;
        } else {
            const uint32_t words = zone == NO_ZONE ? dl_pair_count_point_of(h, place, &r) : 0;
            if (!words) break;
            low = r.low;
            if (sums) n_events++;
            if (costly) spent += prices[place];
            feed_on(&f, planes, &r, words);
        }
    }
    s->last = time_of(h->of, low) + s->epoch;
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
    t->top = top;
    t->n_events = n_events;
    *feed = f;
    return good;
}

devlog_status dl_pair_take_recorded(const records_in_hand *h, record_feed *f, devlog_error *err)
{
    taken t;
    const bool good = f->head ? take(h, f, &t, true, false, false) : take(h, f, &t, false, false, false);
    keep_open(h, t.zones + 1, t.top + 1);
    return good ? DEVLOG_OK : dl_pair_no_memory(err);
}

devlog_status dl_pair_hand_on_sums(const records_in_hand *h, uint32_t n_inside, uint32_t n_events,
                                   uint32_t depth, devlog_error *err)
{
    record_room *room = h->room;
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < room->n_touched; i++) {
        room->out[i] = room->sums[room->touched[i]];
        room->sums[room->touched[i]].count = 0;
    }
    const uint32_t n = room->n_touched;
    room->n_touched = 0;
    if (!n_events) return DEVLOG_OK;
    room->run = (dl_run_sums){.zones = room->out,
                              .n_zones = n,
                              .n_inside = n_inside,
                              .inside = room->inside,
                              .depth = depth,
                              .start = room->run.start,
                              .flags = dl_pair_no_cost(h->s->costs)};
    dl_run *run = dl_pair_out_begin(h->p, dl_mark_stream(h->of->common), h->s->launch, 0, 0, &status, err);
    if (!run) return status;
    run->unlisted = run->once = true; /* there is nothing of firmware or kernel among them */
    run->n_events = n_events;
    run->sums = &room->run;
    return dl_pair_out_flush(h->p, err);
}

devlog_status dl_pair_sum_recorded(const records_in_hand *h, record_feed *f, devlog_error *err)
{
    taken t;
    bool good;
    const uint32_t depth = h->s->n_open;
    if (f->head)
        good = h->s->costs ? take(h, f, &t, true, true, true) : take(h, f, &t, true, true, false);
    else
        good = h->s->costs ? take(h, f, &t, false, true, true) : take(h, f, &t, false, true, false);
    keep_open(h, t.zones + 1, t.top + 1);
    const uint32_t n_inside = (uint32_t)(t.top - t.zones) + 1;
    for (uint32_t i = 0; i < n_inside; i++)
        h->room->inside[i] = t.zones[i].inside;
    return good ? dl_pair_hand_on_sums(h, n_inside, t.n_events, depth, err) : dl_pair_no_memory(err);
}
