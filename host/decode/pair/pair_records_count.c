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
    record_room *room = h->room;
    if (!room->n_touched) room->run.start = start;
    room->touched[room->n_touched++] = (uint16_t)place;
    room->sums[place] = (dl_zone_sum){.site = key->site, .min = UINT64_MAX};
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

/* `sums`: besides, what closes is summed up; `costly`: and what recording took is known. What changes with every record is in
 * variables: the processor would wait for it to come back from memory. */
ALWAYS_INLINE const uint32_t *take(const records_in_hand *h, const uint32_t *w, const uint32_t *const end,
                                   taken *t, const bool sums, const bool costly)
{
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
    while (w < end) {
        const uint32_t place = places[w[0] & 0xFFF];
        char *const zone = all[place];
        if (costly && w[0] && (uint32_t)(w[1] - (uint32_t)h->of->from) >= change) break;
        if (((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0) {
            if (top == limit) break;
            low = w[1];
            (++top)->zone = zone;
            top->low = low;
            if (sums) top->inside = 0;
            if (sums) top->spent = before + (spent & SPENT);
            if (costly) spent += prices[place];
            w += 2;
        } else if (top->zone == zone - ENDS) {
            low = w[1];
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
            w += 2;
            if (!(good = count_zone(h, key, cycles, low))) break;
        } else if (zone != NO_ZONE && ((uintptr_t)zone & ENDS) == 0) { /* a complete zone */
            if (top == limit) break;
            low = w[1];
            const uint32_t cycles = low - w[2];
            if (sums) {
                const uint64_t cost = costly ? ((h->room->starts[place] & SPENT) + 8) / 16 : 0;
                add_sum(h, place, key_of(zone, IS_OTHER), low, cycles, 0, cost);
                top->inside += cycles;
                n_events++;
            }
            if (costly) spent += h->room->starts[place] + prices[place];
            w += 3;
            if (!(good = count_zone(h, key_of(zone, IS_OTHER), cycles, low))) break;
        } else if (w[0] == 0) {
            w++; /* what a flush was filled up with */
        } else {
            const uint32_t words = zone == NO_ZONE ? dl_pair_count_point_of(h, place, w) : 0;
            if (!words) break;
            low = w[1];
            if (sums) n_events++;
            if (costly) spent += prices[place];
            w += words;
        }
    }
    s->last = time_of(h->of, low) + s->epoch;
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
    t->top = top;
    t->n_events = n_events;
    return good ? w : NULL;
}

const uint32_t *dl_pair_take_recorded(const records_in_hand *h, const uint32_t *w, const uint32_t *end)
{
    taken t;
    w = take(h, w, end, &t, false, false);
    keep_open(h, t.zones + 1, t.top + 1);
    return w;
}

/* Hands on what has been summed up. */
static devlog_status hand_on(const records_in_hand *h, const taken *t, uint32_t depth, devlog_error *err)
{
    record_room *room = h->room;
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < room->n_touched; i++) {
        room->out[i] = room->sums[room->touched[i]];
        room->sums[room->touched[i]].count = 0;
    }
    const uint32_t n = room->n_touched, n_inside = (uint32_t)(t->top - t->zones) + 1;
    room->n_touched = 0;
    if (!t->n_events) return DEVLOG_OK;
    for (uint32_t i = 0; i < n_inside; i++)
        room->inside[i] = t->zones[i].inside;
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
    run->n_events = t->n_events;
    run->sums = &room->run;
    return dl_pair_out_flush(h->p, err);
}

const uint32_t *dl_pair_sum_recorded(const records_in_hand *h, const uint32_t *w, const uint32_t *end,
                                     devlog_status *status, devlog_error *err)
{
    taken t;
    const uint32_t depth = h->s->n_open;
    w = h->s->costs ? take(h, w, end, &t, true, true) : take(h, w, end, &t, true, false);
    keep_open(h, t.zones + 1, t.top + 1);
    *status = w ? hand_on(h, &t, depth, err) : dl_pair_no_memory(err);
    return *status ? NULL : w;
}
