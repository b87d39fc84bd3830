/* Sums of zones. See sums.h. */
#include "support/sums.h"

#include <stdlib.h>

#include "base/intern.h"

static void add(test_sums *t, uint32_t stream, const dl_zone_sum *z, uint8_t flags)
{
    const uint32_t site = z->site % TEST_SUM_SITES;
    if (!t->of[stream] && !(t->of[stream] = calloc(TEST_SUM_SITES, sizeof *t->of[stream]))) abort();
    dl_zone_sum *to = &t->of[stream][site].zones;
    if (!to->count) to->min = UINT64_MAX;
    to->site = z->site;
    to->count += z->count;
    to->total += z->total;
    to->own += z->own;
    to->cost += z->cost;
    if (z->min < to->min) to->min = z->min;
    if (z->max > to->max) to->max = z->max;
    if (flags & DL_EVENT_NO_COST) t->of[stream][site].flagged += z->total;
    if (flags & DL_EVENT_MOST_COST) t->of[stream][site].flagged += z->count << 40;
}

static void take_event(test_sums *t, const dl_event *e)
{
    uint64_t *inside = t->inside[e->stream], own = e->end - e->start;
    if (e->kind != DL_EVENT_ZONE) return;
    const uint64_t whole = own;
    if (e->depth + 1 < DL_SUMS_DEEP) {
        own = inside[e->depth + 1] < whole ? whole - inside[e->depth + 1] : 0;
        inside[e->depth + 1] = 0;
    }
    if (e->depth < DL_SUMS_DEEP && e->depth) inside[e->depth] += whole;
    const dl_zone_sum one = {1, whole, whole, whole, own, e->own_cost, e->site};
    add(t, e->stream, &one, e->flags);
    t->n_events++;
}

void test_sums_take(test_sums *t, const dl_run *run)
{
    const dl_run_sums *s = run->sums;
    if (run->stream >= TEST_SUM_STREAMS) return;
    for (uint32_t i = 0; i < run->n_events && !s; i++)
        take_event(t, &run->events[i]);
    for (uint32_t i = 0; s && i < s->n_zones; i++) {
        add(t, run->stream, &s->zones[i], s->flags);
        t->n_sums += s->zones[i].count;
    }
    for (uint32_t i = 0; s && i < s->n_inside; i++)
        if (s->depth + i) t->inside[run->stream][s->depth + i] += s->inside[i];
}

uint64_t test_sums_mix(const test_sums *t)
{
    uint64_t mixed = 0;
    for (uint32_t i = 0; i < TEST_SUM_STREAMS; i++)
        if (t->of[i])
            mixed = dl_hash_u64(mixed ^ i ^ dl_hash_bytes(t->of[i], TEST_SUM_SITES * sizeof *t->of[i]));
    return mixed;
}

void test_sums_free(test_sums *t)
{
    for (uint32_t i = 0; t && i < TEST_SUM_STREAMS; i++)
        free(t->of[i]);
    free(t);
}
