/* Groups: the statistics of zones put together, by RISC, by core, by launch. */
#include "decode/analysis/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

void dl_groups_free(dl_groups *g)
{
    free(g->items);
    *g = (dl_groups){0};
}

/* One key and the group it belongs to; sorted so that a group's keys are neighbours. */
typedef struct member {
    const dl_key *key;
    uint64_t place, what; /* in their order groups are listed */
    uint32_t chip;
    uint16_t x, y;
    dl_risc risc;
} member;

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int group_order(const member *a, const member *b)
{
    int c = compare_u64(a->place, b->place);
    return c ? c : compare_u64(a->what, b->what);
}

/* Names in their order: the rank of each text that is the name of a site or of a RISC, by number. */
static int by_text(const void *pa, const void *pb, void *tables)
{
    return strcmp(dl_text(tables, *(const uint32_t *)pa), dl_text(tables, *(const uint32_t *)pb));
}

static uint32_t *rank_names(dl_tables *t)
{
    const uint32_t n_texts = dl_intern_count(t->strings);
    uint32_t *ranks = calloc(n_texts + 1u, sizeof *ranks);
    uint32_t *names = malloc((n_texts + 1u) * sizeof *names), n = 0;
    for (uint32_t i = 0; ranks && names && i < t->n_sites + t->n_streams; i++) {
        uint32_t name = i < t->n_sites ? t->sites[i].name : t->streams[i - t->n_sites].risc_name;
        if (!ranks[name]) names[n++] = name;
        ranks[name] = 1;
    }
    if (ranks && names) qsort_r(names, n, sizeof *names, by_text, t);
    for (uint32_t i = 0; ranks && names && i < n; i++)
        ranks[names[i]] = i;
    if (!names) {
        free(ranks);
        ranks = NULL;
    }
    free(names);
    return ranks;
}

/* Which of a group's keys is the first: that does not depend on the input's order. */
static bool is_before(const member *a, const member *b)
{
    int c = compare_u64(a->key->first_start, b->key->first_start);
    if (!c) c = compare_u64(a->y, b->y);
    if (!c) c = compare_u64(a->x, b->x);
    if (!c) c = compare_u64(a->key->site, b->key->site);
    return c < 0;
}

/* Chip, and core when each is by itself. */
static uint64_t place_of(const dl_tables *t, const dl_stream *s, bool by_core)
{
    uint64_t core = by_core ? (uint64_t)s->core_y << 16 | s->core_x : 0;
    return (uint64_t)t->chips[s->chip].id << 32 | core;
}

_Static_assert(DL_MAX_STRINGS <= 1 << 20, "ranks of names have 20 bits");

/* RISC (those that devlog does not know by their names), role with users' zones last, name. */
static uint64_t what_of(const dl_tables *t, const dl_stream *s, const dl_key *k, const uint32_t *ranks)
{
    uint64_t other = s->risc == DL_RISC_OTHER ? ranks[s->risc_name] : 0;
    uint64_t role = (uint64_t)(k->role == DL_ROLE_USER) << 3 | (uint64_t)k->role;
    return (uint64_t)s->risc << 60 | other << 40 | role << 30 | ranks[t->sites[k->site].name];
}

/* Members in the order of their groups; NULL: no memory. */
static member *in_order(const member *members, size_t n)
{
    dl_keyed *items = malloc((n ? n : 1) * sizeof *items);
    member *sorted = malloc((n ? n : 1) * sizeof *sorted);
    for (size_t i = 0; items && i < n; i++)
        items[i] = (dl_keyed){members[i].what, i};
    bool ok = items && sorted && dl_sort_keyed(items, n);
    for (size_t i = 0; ok && i < n; i++)
        items[i].key = members[items[i].at].place;
    ok = ok && dl_sort_keyed(items, n); /* of one place, they stay in the order of what they are */
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = members[items[i].at];
    free(items);
    if (ok) return sorted;
    free(sorted);
    return NULL;
}

static member *list_members(dl_decode *d, bool by_core, size_t *n, devlog_error *err)
{
    dl_tables *t = dl_decode_tables(d);
    size_t all = dl_decode_n_keys(d);
    uint32_t *ranks = rank_names(t);
    member *members = ranks ? malloc((all ? all : 1) * sizeof *members) : NULL, *sorted = NULL;
    *n = 0;
    for (size_t i = 0; members && i < all; i++) {
        const dl_key *k = dl_decode_key(d, i);
        if (!k->count) continue;
        const dl_stream *s = &t->streams[k->stream];
        members[(*n)++] = (member){.key = k,
                                   .place = place_of(t, s, by_core),
                                   .what = what_of(t, s, k, ranks),
                                   .chip = s->chip,
                                   .x = s->core_x,
                                   .y = s->core_y,
                                   .risc = s->risc};
    }
    if (members) sorted = in_order(members, *n);
    free(ranks);
    free(members);
    if (!sorted) dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return sorted;
}

static dl_group group_of(const dl_tables *t, const member *members, size_t n, bool by_core)
{
    const member *m = members;
    for (size_t i = 1; i < n; i++)
        if (is_before(&members[i], m)) m = &members[i];
    dl_group g = {.chip = m->chip,
                  .launch = DL_NONE,
                  .risc_name = t->streams[m->key->stream].risc_name,
                  .site_name = t->sites[m->key->site].name,
                  .stream = by_core ? m->key->stream : DL_NONE,
                  .risc = m->risc,
                  .role = m->key->role};
    dl_summary *s = &g.summary;
    s->min = UINT64_MAX;
    s->first = m->key->first;
    for (size_t i = 0; i < n; i++) {
        const dl_key *k = members[i].key;
        s->count += k->count;
        s->sum += k->sum;
        if (k->min < s->min) s->min = k->min;
        if (k->max > s->max) s->max = k->max;
    }
    return g;
}

/* Groups of members that are in order; with quantiles of all their samples, when these are wanted. */
static devlog_status group_members(dl_decode *d, const member *members, size_t n, bool by_core,
                                   bool quantiles, dl_groups *out, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const dl_samples **sets = malloc((n ? n : 1) * sizeof *sets);
    out->items = malloc((n ? n : 1) * sizeof *out->items);
    if (!sets || !out->items) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && group_order(&members[from], &members[to]) == 0; to++)
            sets[to - from] = &members[to].key->samples;
        dl_group g = group_of(dl_decode_tables(d), &members[from], to - from, by_core);
        const bool sampled = dl_samples_any(&members[from].key->samples);
        if (quantiles && sampled) status = dl_summary_quantiles(&g.summary, sets, to - from, err);
        out->items[out->n++] = g;
    }
    free(sets);
    if (status) dl_groups_free(out);
    return status;
}

/* What is counted only grows: statistics have changed when this has. */
static uint64_t state_of(dl_decode *d)
{
    uint64_t zones = 0, n = dl_decode_n_keys(d);
    for (size_t i = 0; i < n; i++)
        zones += dl_decode_key(d, i)->count;
    return dl_hash_u64(zones << 20 ^ n) | 1;
}

static devlog_status copy_groups(const dl_groups *from, dl_groups *to, devlog_error *err)
{
    *to = *from;
    to->items = malloc((from->n ? from->n : 1) * sizeof *to->items);
    if (!to->items) {
        *to = (dl_groups){0};
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    if (from->n) memcpy(to->items, from->items, from->n * sizeof *to->items);
    return DEVLOG_OK;
}

/* Groups by RISC, of which the decoder keeps those that were made last. */
static devlog_status group_riscs(dl_decode *d, const member *members, size_t n, dl_groups *out,
                                 devlog_error *err)
{
    dl_groups_kept *kept = dl_decode_groups_kept(d);
    const uint64_t of = state_of(d);
    pthread_mutex_lock(&kept->lock);
    devlog_status status = DEVLOG_OK;
    if (kept->of != of) {
        dl_groups_free(&kept->groups);
        kept->of = 0;
        status = group_members(d, members, n, false, true, &kept->groups, err);
        if (!status) kept->of = of;
    }
    if (!status) status = copy_groups(&kept->groups, out, err);
    pthread_mutex_unlock(&kept->lock);
    return status;
}

static devlog_status by_key(dl_decode *d, bool by_core, dl_groups *out, devlog_error *err)
{
    size_t n;
    *out = (dl_groups){0};
    member *members = list_members(d, by_core, &n, err);
    if (!members) return DEVLOG_ERR_MEMORY;
    devlog_status status =
        by_core ? group_members(d, members, n, true, true, out, err) : group_riscs(d, members, n, out, err);
    free(members);
    return status;
}

devlog_status dl_groups_by_risc(dl_decode *d, dl_groups *out, devlog_error *err)
{
    return by_key(d, false, out, err);
}

devlog_status dl_groups_by_core(dl_decode *d, dl_groups *out, devlog_error *err)
{
    return by_key(d, true, out, err);
}

/* One sample with the group (of the list by RISC) that it is of. */
typedef struct tagged {
    uint64_t cycles;
    uint32_t group;
} tagged;

typedef struct launch_rank {
    const dl_launch *launch;
    uint32_t chip_id, index;
} launch_rank;

static int launch_order(const void *pa, const void *pb)
{
    const launch_rank *a = pa, *b = pb;
    int c = compare_u64(a->chip_id, b->chip_id);
    if (!c) c = compare_u64(a->launch->first_fw_start, b->launch->first_fw_start);
    return c ? c : compare_u64(a->index, b->index);
}

/* rank[i]: the place of launch i among all, by chip and time. */
static uint32_t *rank_launches(dl_decode *d, uint32_t **order, devlog_error *err)
{
    const dl_launches *l = dl_decode_launches(d);
    const dl_tables *t = dl_decode_tables(d);
    size_t n = l->count ? l->count : 1;
    launch_rank *ranks = malloc(n * sizeof *ranks);
    uint32_t *rank = malloc(n * sizeof *rank);
    *order = malloc(n * sizeof **order);
    if (!ranks || !rank || !*order) {
        dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        free(ranks);
        free(rank);
        free(*order);
        *order = NULL;
        return NULL;
    }
    for (uint32_t i = 0; i < l->count; i++)
        ranks[i] = (launch_rank){&l->items[i], t->chips[l->items[i].chip].id, i};
    qsort(ranks, l->count, sizeof *ranks, launch_order);
    for (uint32_t i = 0; i < l->count; i++) {
        rank[ranks[i].index] = i;
        (*order)[i] = ranks[i].index;
    }
    free(ranks);
    return rank;
}

/* Walks through the samples of a key with the places of their launches among all. */
typedef struct rank_walk {
    dl_sample_walk samples;
    const dl_key *key;
    const uint32_t *rank;
    uint32_t run, at;
} rank_walk;

static bool next_ranked(rank_walk *w, uint64_t *cycles, uint32_t *place)
{
    const dl_key *k = w->key;
    uint32_t launch;
    do {
        if (!dl_sample_walk_next(&w->samples, cycles)) return false;
        while (w->run + 1 < k->n_runs && k->runs[w->run + 1].sample <= w->at)
            w->run++;
        const dl_launch_run *run = &k->runs[w->run];
        launch = run->launch + (w->at++ - run->sample) * run->step;
    } while (launch == DL_NONE);
    *place = w->rank[launch];
    return true;
}

static rank_walk walk_key(const dl_key *k, const uint32_t *rank)
{
    rank_walk w = {.key = k, .rank = rank};
    dl_sample_walk_start(&w.samples, &k->samples);
    return w;
}

/* The place of a sample's launch; DL_NONE: it is of no launch. */
static inline uint32_t place_in(const dl_launch_run *run, uint32_t sample, const uint32_t *rank)
{
    const uint32_t launch = run->launch + (sample - run->sample) * run->step;
    return launch == DL_NONE ? DL_NONE : rank[launch];
}

/* Behind the last sample of a run. */
static uint32_t run_end(const dl_key *k, uint32_t run)
{
    return run + 1 < k->n_runs ? k->runs[run + 1].sample : (uint32_t)dl_samples_count(&k->samples);
}

static void count_samples(const dl_key *k, const uint32_t *rank, size_t *counts)
{
    for (uint32_t r = 0; r < k->n_runs; r++)
        for (uint32_t i = k->runs[r].sample, end = run_end(k, r); i < end; i++) {
            const uint32_t place = place_in(&k->runs[r], i, rank);
            if (place != DL_NONE) counts[place]++;
        }
}

/* How many of a key's samples there are up to the last one of a launch before place n. */
static uint32_t samples_until(const dl_key *k, const uint32_t *rank, uint32_t n)
{
    for (uint32_t r = k->n_runs; r-- > 0;)
        for (uint32_t i = run_end(k, r); i-- > k->runs[r].sample;)
            if (place_in(&k->runs[r], i, rank) < n) return i + 1;
    return 0;
}

/* Samples put together by launch, and within a launch by group. */
typedef struct by_launches {
    tagged *items;
    size_t *ends; /* of each launch's samples; those of launch 0 begin at 0 */
    uint32_t n;   /* launches */
} by_launches;

/* Members are sorted by group, so what is put behind each other launch by launch is sorted by group too. */
static bool gather(const member *members, size_t n_members, const uint32_t *rank, uint32_t n_launches,
                   uint32_t most, by_launches *out, uint32_t *left)
{
    uint64_t cycles;
    uint32_t place, group = 0;
    size_t total = 0;
    size_t *counts = calloc((size_t)n_launches + 1, sizeof *counts);
    out->n = n_launches;
    out->ends = counts;
    if (!counts) return false;
    for (size_t i = 0; i < n_members; i++)
        count_samples(members[i].key, rank, counts);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < n_launches; i++) {
        size_t count = counts[i];
        if (most && shown == most) { /* launches without samples, such as a filter's, do not count */
            if (i < out->n) out->n = i;
            *left += count != 0;
            continue;
        }
        shown += count != 0;
        counts[i] = total; /* where the next of the launch goes; its end when all are there */
        total += count;
    }
    out->items = malloc((total ? total : 1) * sizeof *out->items);
    if (!out->items) return false;
    for (size_t i = 0; i < n_members; i++) {
        if (i && group_order(&members[i - 1], &members[i]) != 0) group++;
        if (!members[i].key->n_runs) continue;
        const uint32_t until = samples_until(members[i].key, rank, out->n);
        rank_walk w = walk_key(members[i].key, rank);
        while (w.at < until && next_ranked(&w, &cycles, &place))
            if (place < out->n) out->items[counts[place]++] = (tagged){cycles, group};
    }
    return true;
}

/* The nearest-rank percentile of sorted samples. */
static uint64_t ranked(const uint64_t *s, size_t n, unsigned percent)
{
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return s[rank ? rank - 1 : 0];
}

static void summarise(dl_summary *s, const uint64_t *t, size_t n)
{
    *s = (dl_summary){.count = n, .min = t[0], .max = t[n - 1]};
    for (size_t i = 0; i < n; i++)
        s->sum += t[i];
    s->median_low = s->p50 = t[(n - 1) / 2];
    s->median_high = t[n / 2];
    s->p90 = ranked(t, n, 90);
    s->p95 = ranked(t, n, 95);
    s->p99 = ranked(t, n, 99);
}

/* Groups of what was gathered, launch by launch. */
static bool group_launches(const by_launches *all, const dl_groups *riscs, const uint32_t *order,
                           dl_groups *out)
{
    size_t n_groups = 0, largest = 1, from = 0, to;
    for (uint32_t i = 0; i < all->n; from = all->ends[i++]) {
        if (all->ends[i] - from > largest) largest = all->ends[i] - from;
        for (size_t k = from; k < all->ends[i]; k++)
            n_groups += k == from || all->items[k].group != all->items[k - 1].group;
    }
    uint64_t *cycles = calloc(largest, sizeof *cycles);
    out->items = malloc((n_groups ? n_groups : 1) * sizeof *out->items);
    if (!cycles || !out->items) {
        free(cycles);
        return false;
    }
    from = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        for (; from < all->ends[i]; from = to) {
            for (to = from; to < all->ends[i] && all->items[to].group == all->items[from].group; to++)
                cycles[to - from] = all->items[to].cycles;
            dl_sort_u64(cycles, to - from);
            dl_group g = riscs->items[all->items[from].group];
            g.launch = order[i]; /* NOLINT: groups are whole */
            summarise(&g.summary, cycles, to - from);
            out->items[out->n++] = g;
        }
    }
    free(cycles);
    return true;
}

/* `riscs`: the groups that members are of. */
static devlog_status by_launch(dl_decode *d, const member *members, size_t n, const dl_groups *riscs,
                               uint32_t most, dl_groups *out, devlog_error *err)
{
    uint32_t *order = NULL;
    by_launches all = {0};
    devlog_status status = DEVLOG_OK;
    uint32_t *rank = rank_launches(d, &order, err);
    if (!rank || !gather(members, n, rank, dl_decode_launches(d)->count, most, &all, &out->launches_left) ||
        !group_launches(&all, riscs, order, out)) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
        dl_groups_free(out);
    }
    free(order);
    free(rank);
    free(all.items);
    free(all.ends);
    return status;
}

static devlog_status both(dl_decode *d, uint32_t most, bool quantiles, dl_groups *riscs, dl_groups *launches,
                          devlog_error *err)
{
    size_t n;
    *riscs = *launches = (dl_groups){0};
    member *members = list_members(d, false, &n, err);
    if (!members) return DEVLOG_ERR_MEMORY;
    devlog_status status = quantiles ? group_riscs(d, members, n, riscs, err)
                                     : group_members(d, members, n, false, false, riscs, err);
    if (!status) status = by_launch(d, members, n, riscs, most, launches, err);
    free(members);
    if (status) dl_groups_free(riscs);
    return status;
}

devlog_status dl_groups_by_risc_and_launch(dl_decode *d, uint32_t most, dl_groups *riscs, dl_groups *launches,
                                           devlog_error *err)
{
    return both(d, most, true, riscs, launches, err);
}

devlog_status dl_groups_by_launch(dl_decode *d, uint32_t most, dl_groups *out, devlog_error *err)
{
    dl_groups riscs; /* what they are: the summaries are of each launch's samples */
    devlog_status status = both(d, most, false, &riscs, out, err);
    dl_groups_free(&riscs);
    return status;
}
