/* Groups by launch: the samples of firmware and kernel zones, put together launch by launch; those that are in other processes are
 * asked for when it is known which launches are shown. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "decode/analysis/groups_internal.h"
#include "decode/far.h"

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
    int c = groups_compare(a->chip_id, b->chip_id);
    if (!c) c = groups_compare(a->launch->first_fw_start, b->launch->first_fw_start);
    return c ? c : groups_compare(a->index, b->index);
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

/* The place of a sample's launch; DL_NONE: it is of no launch. */
static inline uint32_t place_in(const dl_launch_run *run, uint32_t sample, const uint32_t *rank)
{
    const uint32_t launch = run->launch + (sample - run->sample) * run->step;
    return launch == DL_NONE ? DL_NONE : rank[launch];
}

/* Samples put together by launch, and within a launch by group. */
typedef struct by_launches {
    tagged *items;
    size_t *ends; /* of each launch's samples; those of launch 0 begin at 0 */
    uint32_t n;   /* launches */
} by_launches;

/* What is shown of which launches. */
typedef struct request {
    const groups_member *members; /* in the order of their groups */
    size_t n_members;
    const dl_launches *launches;
    const uint32_t *rank, *order; /* of launches: the place of each, and the one at each place */
    bool as_numbered;             /* which are the same */
    uint32_t most;
    dl_far_sample *far; /* samples that were elsewhere, by the sets that they are of */
    size_t n_far;
} request;

/* Whether the samples of a run of launches are of places behind each other, from the run's launch on. */
static inline bool is_row(const request *q, const dl_launch_run *run)
{
    return q->as_numbered && run->step == 1 && run->launch != DL_NONE;
}

/* Adds how many samples of a key each place has: `rows` has what a place has more than the one before it. */
static void count_samples(const request *q, const dl_key *k, size_t *counts, size_t *rows)
{
    for (uint32_t r = 0; r < k->n_runs; r++) {
        const dl_launch_run *run = &k->runs[r];
        const uint32_t end = dl_key_run_end(k, r);
        if (is_row(q, run)) {
            rows[run->launch]++;
            rows[run->launch + (end - run->sample)]--;
            continue;
        }
        for (uint32_t i = run->sample; i < end; i++) {
            const uint32_t place = place_in(run, i, q->rank);
            if (place != DL_NONE) counts[place]++;
        }
    }
}

/* How many of a key's samples there are up to the last one of a launch before place n. */
static uint32_t samples_until(const request *q, const dl_key *k, uint32_t n)
{
    for (uint32_t r = k->n_runs; r-- > 0;) {
        const dl_launch_run *run = &k->runs[r];
        const uint32_t count = dl_key_run_end(k, r) - run->sample;
        if (is_row(q, run)) {
            if (run->launch < n && count)
                return run->sample + (count < n - run->launch ? count : n - run->launch);
            continue;
        }
        for (uint32_t i = run->sample + count; i-- > run->sample;)
            if (place_in(run, i, q->rank) < n) return i + 1;
    }
    return 0;
}

static int by_set(const void *pa, const void *pb)
{
    const dl_far_sample *a = pa, *b = pb;
    return (a->id > b->id) - (a->id < b->id);
}

/* Samples of launches before place n that are in other processes. */
static devlog_status ask(request *q, uint32_t n, devlog_error *err)
{
    const dl_launches *l = q->launches;
    const dl_far *far = NULL;
    size_t n_wanted = 0, cap = 0;
    for (size_t i = 0; i < q->n_members && !far; i++)
        far = q->members[i].key->samples.far;
    if (!far || !l->n_origins) return DEVLOG_OK;
    dl_far_launch *wanted = NULL;
    for (uint32_t i = 0; i < l->n_origins; i++)
        for (uint32_t k = 0; k < l->origins[i].n; k++) {
            const dl_launch_origin *o = &l->origins[i];
            const uint32_t place = q->rank[o->launch + k];
            if (place >= n) continue;
            if (n_wanted == cap) {
                cap = cap ? cap * 2 : 64;
                dl_far_launch *grown = realloc(wanted, cap * sizeof *grown);
                if (!grown) {
                    free(wanted);
                    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
                }
                wanted = grown;
            }
            wanted[n_wanted++] = (dl_far_launch){o->part, o->first + k, place};
        }
    devlog_status status = far->launches(far->ctx, wanted, n_wanted, &q->far, &q->n_far, err);
    if (!status && q->n_far) qsort(q->far, q->n_far, sizeof *q->far, by_set);
    free(wanted);
    return status;
}

/* How many launches come before the end of the `most`th of those that have samples: others, such as a filter's, do not count. */
static uint32_t count_shown(const request *q, const size_t *counts, uint32_t *left)
{
    const uint32_t n = q->launches->count;
    uint32_t end = n, shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): rank_launches fills all n places */
        const bool any = counts[i] || q->launches->items[q->order[i]].sampled;
        if (q->most && shown == q->most) {
            if (i < end) end = i;
            *left += any;
        } else {
            shown += any;
        }
    }
    return end;
}

static inline void put(by_launches *out, uint32_t place, uint64_t cycles, uint32_t group)
{
    out->items[out->ends[place]++] = (tagged){cycles, group};
}

/* Those of a key's samples that were elsewhere. */
static void put_far(const request *q, const dl_samples *set, uint32_t group, by_launches *out)
{
    size_t low = 0, high = q->n_far;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (q->far[middle].id < set->far_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < q->n_far && q->far[low].id == set->far_id; low++)
        put(out, q->far[low].place, q->far[low].cycles, group);
}

/* Those of a key that are here. */
static void put_key(const request *q, const dl_key *k, uint32_t group, by_launches *out)
{
    const uint32_t until = samples_until(q, k, out->n);
    dl_sample_walk w;
    uint64_t cycles;
    dl_sample_walk_start(&w, &k->samples);
    for (uint32_t r = 0, at = 0; r < k->n_runs && at < until; r++) {
        const dl_launch_run *run = &k->runs[r];
        const uint32_t end = dl_key_run_end(k, r) < until ? dl_key_run_end(k, r) : until;
        const bool row = is_row(q, run);
        uint32_t place = run->launch;
        for (; row && at < end && dl_sample_walk_next(&w, &cycles); at++, place++)
            if (place < out->n) put(out, place, cycles, group);
        for (; at < end && dl_sample_walk_next(&w, &cycles); at++) {
            place = place_in(run, at, q->rank);
            if (place < out->n) put(out, place, cycles, group);
        }
    }
}

/* Members are sorted by group, so what is put behind each other launch by launch is sorted by group too. */
static void put_all(const request *q, by_launches *out)
{
    uint32_t group = 0;
    for (size_t i = 0; i < q->n_members; i++) {
        const dl_key *k = q->members[i].key;
        if (i && groups_order(&q->members[i - 1], &q->members[i]) != 0) group++;
        if (k->samples.far) put_far(q, &k->samples, group, out);
        if (k->n_runs) put_key(q, k, group, out);
    }
}

static devlog_status gather(request *q, by_launches *out, uint32_t *left, devlog_error *err)
{
    size_t total = 0, more = 0;
    const uint32_t n_places = q->launches->count;
    size_t *counts = calloc((size_t)n_places + 1, sizeof *counts),
           *rows = calloc((size_t)n_places + 1, sizeof *rows);
    out->ends = counts;
    if (counts && rows) {
        for (size_t i = 0; i < q->n_members; i++)
            count_samples(q, q->members[i].key, counts, rows);
        for (uint32_t i = 0; i < n_places; i++)
            counts[i] += more += rows[i];
    }
    const bool counted = counts && rows;
    free(rows);
    if (!counted) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
    out->n = count_shown(q, counts, left);
    devlog_status status = ask(q, out->n, err);
    if (status) return status;
    for (size_t i = 0; i < q->n_far; i++)
        counts[q->far[i].place]++;
    for (uint32_t i = 0; i < out->n; i++) {
        const size_t count = counts[i];
        counts[i] = total; /* where the next of the launch goes; its end when all are there */
        total += count;
    }
    out->items = malloc((total ? total : 1) * sizeof *out->items);
    if (!out->items) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
    put_all(q, out);
    return DEVLOG_OK;
}

/* Groups of what was gathered, launch by launch. */
static bool group_launches(const by_launches *all, const dl_groups *riscs, const uint32_t *order,
                           dl_groups *out)
{
    size_t n_groups = 0, largest = 1, from = 0, to;
    for (uint32_t i = 0; i < all->n; from = all->ends[i++]) {
        if (all->ends[i] - from > largest) largest = all->ends[i] - from;
        uint32_t before = DL_NONE;
        for (const tagged *t = all->items + from, *end = all->items + all->ends[i]; t < end; t++) {
            n_groups += t->group != before;
            before = t->group;
        }
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
            const uint32_t group = all->items[from].group;
            dl_group *g = &out->items[out->n++];
            *g = riscs->items[group];
            g->launch = order[i]; /* NOLINT: groups are whole */
            dl_summary s = {.min = UINT64_MAX};
            uint64_t sum = 0;
            const size_t end = all->ends[i];
            for (to = from; to < end && all->items[to].group == group; to++) {
                const uint64_t value = cycles[to - from] = all->items[to].cycles;
                s.min = value < s.min ? value : s.min;
                s.max = value > s.max ? value : s.max;
                sum += value;
            }
            s.sum = sum;
            for (size_t k = 0; s.max >> 32 && k < to - from; k++) /* the sum may be larger than it seems */
                s.sum = k ? s.sum + cycles[k] : cycles[k];
            s.count = to - from;
            dl_summary_quantiles_of(&s, cycles);
            g->summary = s;
        }
    }
    free(cycles);
    return true;
}

devlog_status groups_of_launches(dl_decode *d, const groups_member *members, size_t n, const dl_groups *riscs,
                                 uint32_t most, dl_groups *out, devlog_error *err)
{
    uint32_t *order = NULL;
    by_launches all = {0};
    uint32_t *rank = rank_launches(d, &order, err);
    if (!rank) return DEVLOG_ERR_MEMORY;
    request q = {.members = members,
                 .n_members = n,
                 .launches = dl_decode_launches(d),
                 .rank = rank,
                 .order = order,
                 .most = most,
                 .as_numbered = true};
    for (uint32_t i = 0; i < q.launches->count && q.as_numbered; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): rank_launches fills all places */
        q.as_numbered = rank[i] == i;
    devlog_status status = gather(&q, &all, &out->launches_left, err);
    if (!status && !group_launches(&all, riscs, order, out))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
    if (status) dl_groups_free(out);
    free(order);
    free(rank);
    free(q.far);
    free(all.items);
    free(all.ends);
    return status;
}
