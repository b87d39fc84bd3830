/* Analyzer: what is done when all markers have come: spans into durations, kept markers into order, durations
 * into statistics, per leaf and per chip. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

/* The chip of a leaf. */
static uint32_t chip_of(const dl_analyzer *a, const job *j, uint32_t leaf)
{
    return j->leaf == LEAF_STREAM ? a->streams[leaf].chip
           : j->leaf == LEAF_CORE ? a->cores.items[leaf].launch
                                  : leaf;
}

/* The leaf of span `index`; spans that nothing was counted in may have none: DL_NONE. */
static uint32_t leaf_of(const dl_analyzer *a, const job *j, uint32_t index)
{
    const dl_launches *l = dl_decode_launches(a->decode);
    if (j->scope == SCOPE_LEAF) return index;
    if (j->scope == SCOPE_LAUNCH) return index < l->count ? l->items[index].chip : DL_NONE;
    const cells *c = &a->cells[j->leaf];
    return index < c->n ? c->items[index].leaf : DL_NONE;
}

static bool finish_spans(dl_analyzer *a, job *j)
{
    for (uint32_t i = 0; i < j->n_spans; i++) {
        span *s = &j->spans[i];
        uint32_t leaf = leaf_of(a, j, i);
        if (leaf == DL_NONE || (!s->last && s->first == NO_START)) continue;
        uint32_t chip = chip_of(a, j, leaf);
        if (j->analysis->start.t0) s->first = a->t0[chip];
        bool ends = s->last && s->last - 1 >= s->first;
        if (s->first == NO_START) continue;
        if (ends ? !dl_analyzer_count(j, leaf, s->first, s->last - 1 - s->first)
                 : !dl_analyzer_incomplete(j, chip))
            return false;
    }
    return true;
}

static bool finish_sums(dl_analyzer *a, job *j)
{
    const dl_launches *l = dl_decode_launches(a->decode);
    for (uint32_t i = 0; i < j->n_spans; i++) {
        uint32_t leaf = leaf_of(a, j, i);
        if (leaf == DL_NONE || !j->spans[i].last) continue;
        uint64_t start = j->scope == SCOPE_LAUNCH ? l->items[i].first_fw_start : i;
        if (!dl_analyzer_count(j, leaf, start, j->spans[i].first)) return false;
    }
    return true;
}

/* Starts that are still open when the log ends. From the end of something to the next beginning the last is
 * always open: that is no loss. */
static bool is_gap(const job *j)
{
    return j->analysis->start.types == 1 << DL_ROW_ZONE_END;
}

static bool finish_adjacent(dl_analyzer *a, job *j)
{
    if (is_gap(j)) return true;
    for (uint32_t i = 0; i < j->n_spans && i < a->n_streams; i++)
        if (j->spans[i].first != NO_START && !dl_analyzer_incomplete(j, a->streams[i].chip)) return false;
    return true;
}

typedef struct moment {
    uint64_t time, order; /* of the markers of one stamp: starts first, then as they were kept */
    unsigned bits;
} moment;

static int by_time(const void *pa, const void *pb)
{
    const moment *a = pa, *b = pb;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    bool first_a = a->bits == IS_START, first_b = b->bits == IS_START;
    if (first_a != first_b) return first_a ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The moments of one stream, behind the n that are there; false when out of memory. */
static bool add_moments(const kept *k, moment **moments, size_t *n, size_t *cap)
{
    dl_sample_walk w;
    uint64_t value, time = 0;
    dl_sample_walk_start(&w, &k->steps);
    while (dl_sample_walk_next(&w, &value)) {
        if (*n == *cap) {
            size_t more = *cap ? *cap * 2 : 1024;
            moment *grown = realloc(*moments, more * sizeof *grown);
            if (!grown) return false;
            *moments = grown;
            *cap = more;
        }
        /* The difference may be negative: its sign was shifted out at the top, at bit 62. */
        time += value >> 2;
        time &= UINT64_MAX >> 2;
        (*moments)[*n] = (moment){time, *n, (unsigned)(value & 3)};
        (*n)++;
    }
    return true;
}

static bool count_moments(dl_analyzer *a, job *j, uint32_t leaf, const moment *m, size_t n)
{
    uint64_t start = NO_START;
    for (size_t i = 0; i < n; i++) {
        if (start != NO_START && (m[i].bits & IS_END)) {
            if (!dl_analyzer_count(j, leaf, start, m[i].time - start)) return false;
            start = NO_START;
        } else if (m[i].bits & IS_START) {
            start = m[i].time;
        }
    }
    return start == NO_START || is_gap(j) || dl_analyzer_incomplete(j, chip_of(a, j, leaf));
}

typedef struct home {
    uint32_t leaf, stream;
} home;

static int by_leaf(const void *pa, const void *pb)
{
    const home *a = pa, *b = pb;
    if (a->leaf != b->leaf) return a->leaf < b->leaf ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static bool finish_merged(dl_analyzer *a, job *j)
{
    moment *moments = NULL;
    size_t n_homes = 0, cap = 0;
    home *homes = malloc((j->n_kept + 1) * sizeof *homes);
    bool good = homes != NULL;
    for (uint32_t i = 0; good && i < j->n_kept; i++)
        if (j->kept[i])
            homes[n_homes++] = (home){j->leaf == LEAF_CORE ? a->streams[i].core : a->streams[i].chip, i};
    if (good && n_homes) qsort(homes, n_homes, sizeof *homes, by_leaf);
    for (size_t from = 0, to; good && from < n_homes; from = to) {
        size_t n = 0;
        for (to = from; good && to < n_homes && homes[to].leaf == homes[from].leaf; to++) {
            kept *k = j->kept[homes[to].stream];
            good = add_moments(k, &moments, &n, &cap);
            dl_samples_free(&k->steps);
        }
        if (good && n) qsort(moments, n, sizeof *moments, by_time);
        good = good && count_moments(a, j, homes[from].leaf, moments, n);
    }
    free(homes);
    free(moments);
    return good;
}

static bool finish_job(dl_analyzer *a, job *j)
{
    switch (j->plan) {
    case PLAN_ADJACENT: return finish_adjacent(a, j);
    case PLAN_MERGED: return finish_merged(a, j);
    case PLAN_SUM: return finish_sums(a, j);
    case PLAN_EVENT: return true;
    case PLAN_FIRST_LAST:
    case PLAN_FIRST_END: break;
    }
    return finish_spans(a, j);
}

/* One account with its place, to be put in order. */
typedef struct ranked {
    const account *of;
    uint32_t chip, chip_id, x, y, stream;
    dl_risc risc;
} ranked;

static int by_place(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->chip_id != b->chip_id) return a->chip_id < b->chip_id ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    if (a->risc != b->risc) return a->risc < b->risc ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static ranked rank(const dl_analyzer *a, const job *j, uint32_t leaf)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    ranked r = {
        .of = j->accounts[leaf], .chip = chip_of(a, j, leaf), .x = DL_NONE, .y = DL_NONE, .stream = DL_NONE};
    r.chip_id = t->chips[r.chip].id;
    if (j->leaf == LEAF_CORE) {
        r.x = a->cores.items[leaf].leaf & 0xffff;
        r.y = a->cores.items[leaf].leaf >> 16;
    } else if (j->leaf == LEAF_STREAM) {
        r.x = t->streams[leaf].core_x;
        r.y = t->streams[leaf].core_y;
        r.risc = t->streams[leaf].risc;
        r.stream = leaf;
    }
    return r;
}

/* The statistics of several accounts together. */
static devlog_status summarise(const ranked *r, size_t n, const dl_samples **sets, dl_summary *out,
                               devlog_error *err)
{
    uint64_t first_start = UINT64_MAX;
    *out = (dl_summary){.min = UINT64_MAX};
    for (size_t i = 0; i < n; i++) {
        const dl_summary *s = &r[i].of->summary;
        sets[i] = &r[i].of->samples;
        out->count += s->count;
        out->sum += s->sum;
        if (s->min < out->min) out->min = s->min;
        if (s->max > out->max) out->max = s->max;
        if (i == 0 || r[i].of->first_start < first_start) {
            first_start = r[i].of->first_start;
            out->first = s->first;
        }
    }
    return dl_summary_quantiles(out, sets, n, err);
}

static devlog_status chip_results(job *j, const ranked *r, size_t n, const dl_samples **sets,
                                  devlog_error *err)
{
    dl_analysis_result whole = {.chip = r[0].chip, .core_x = DL_NONE, .core_y = DL_NONE, .stream = DL_NONE};
    if (j->incomplete) whole.incomplete = j->incomplete[r[0].chip];
    devlog_status status = summarise(r, n, sets, &whole.summary, err);
    j->results[j->n_results++] = whole;
    for (size_t i = 0; i < n && !status && j->leaf != LEAF_CHIP; i++) {
        dl_analysis_result part = {
            .chip = r[i].chip, .core_x = r[i].x, .core_y = r[i].y, .stream = r[i].stream};
        status = summarise(&r[i], 1, sets, &part.summary, err);
        j->results[j->n_results++] = part;
    }
    return status;
}

static devlog_status make_results(dl_analyzer *a, job *j, devlog_error *err)
{
    size_t n = 0;
    ranked *r = malloc((j->n_accounts + 1) * sizeof *r);
    const dl_samples **sets = malloc((j->n_accounts + 1) * sizeof *sets);
    j->results = malloc((2 * (size_t)j->n_accounts + 1) * sizeof *j->results);
    devlog_status status = DEVLOG_OK;
    if (!r || !sets || !j->results) {
        status = dl_analyzer_no_memory(err);
        goto done;
    }
    for (uint32_t i = 0; i < j->n_accounts; i++)
        if (j->accounts[i]) r[n++] = rank(a, j, i);
    if (n) qsort(r, n, sizeof *r, by_place);
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && r[to].chip == r[from].chip; to++)
            ;
        status = chip_results(j, r + from, to - from, sets, err);
    }
done:
    free(r);
    free(sets);
    return status;
}

/* An event with its chip, to be put in order. */
typedef struct placed {
    dl_analysis_event event;
    uint32_t chip_id;
    size_t order;
} placed;

static int by_chip_and_time(const void *pa, const void *pb)
{
    const placed *a = pa, *b = pb;
    if (a->chip_id != b->chip_id) return a->chip_id < b->chip_id ? -1 : 1;
    if (a->event.time != b->event.time) return a->event.time < b->event.time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static devlog_status order_events(dl_analyzer *a, job *j, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    if (!j->n_events) return DEVLOG_OK;
    placed *p = malloc(j->n_events * sizeof *p);
    if (!p) return dl_analyzer_no_memory(err);
    for (size_t i = 0; i < j->n_events; i++)
        p[i] = (placed){j->events[i], t->chips[a->streams[j->events[i].stream].chip].id, i};
    qsort(p, j->n_events, sizeof *p, by_chip_and_time);
    for (size_t i = 0; i < j->n_events; i++)
        j->events[i] = p[i].event;
    free(p);
    return DEVLOG_OK;
}

devlog_status dl_analyzer_finish(dl_analyzer *a, devlog_error *err)
{
    for (size_t i = 0; i < a->list->n; i++) {
        job *j = &a->jobs[i];
        if (!finish_job(a, j)) return dl_analyzer_no_memory(err);
        devlog_status status = make_results(a, j, err);
        if (!status) status = order_events(a, j, err);
        if (status) return status;
    }
    return DEVLOG_OK;
}

const dl_analysis_result *dl_analyzer_results(const dl_analyzer *a, size_t i, size_t *n)
{
    *n = a->jobs[i].n_results;
    return a->jobs[i].results;
}

const dl_analysis_event *dl_analyzer_events(const dl_analyzer *a, size_t i, size_t *n)
{
    *n = a->jobs[i].n_events;
    return a->jobs[i].events;
}
