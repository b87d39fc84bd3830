/* Analyzer: what is done when all marks have come: slots into durations, kept marks into order, durations
 * into statistics, per leaf and per chip. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

enum { COOL_EVERY = 128 * 1024 };

/* The leaf of what is at `index` of the job's scope; where nothing was counted there may be none: DL_NONE. */
static uint32_t leaf_of(const dl_analyzer *a, const job *j, uint32_t index)
{
    const dl_launches *l = dl_decode_launches(a->decode);
    if (j->scope == SCOPE_LAUNCH) return index < l->count ? l->items[index].chip : DL_NONE;
    if (j->scope < SCOPE_LAUNCH_STREAM) return index;
    const cells *c = &a->cells[j->leaf];
    return index < c->n ? c->items[index].leaf : DL_NONE;
}

/* What has been walked over is not wanted again at once. */
static void cool(dl_analyzer *a, const job *j)
{
    dl_big_cool(&a->blocks[j->scope].big);
    for (int i = 0; i < 2; i++)
        dl_big_cool(&a->cells[i].big);
}

/* Counts a duration of what is at `index` of the job's scope. Of launches that begin at the same time the one is first that is first in
 * the log, in which order ever their cells were made. */
static bool count_one(job *j, uint32_t leaf, uint32_t launch, uint64_t start, uint64_t duration)
{
    account *of = leaf < j->n_accounts ? j->accounts[leaf] : NULL;
    if (!of && !(of = dl_analyzer_account(j, leaf))) return false;
    if (start < of->first_start || (start == of->first_start && launch < of->launch)) {
        of->first_start = start;
        of->first = duration;
        of->launch = launch;
    }
    return dl_samples_add(&of->samples, duration);
}

static bool finish_slots(dl_analyzer *a, job *j)
{
    const blocks *b = &a->blocks[j->scope];
    const cell *of_cells =
        j->scope == SCOPE_LAUNCH_STREAM || j->scope == SCOPE_LAUNCH_CORE ? a->cells[j->leaf].items : NULL;
    for (uint32_t i = 0; i < b->n; i++) {
        const uint64_t *block = block_at(b, i);
        if (i % COOL_EVERY == 0) cool(a, j);
        uint64_t first = j->first == NO_SLOT ? NO_STAMP : block[j->first * TILE],
                 last = block[j->last * TILE];
        if (first == NO_STAMP && last == NO_STAMP) continue;
        bool ends = last != NO_STAMP;
        if (ends && j->plan == PLAN_FIRST_LAST) last = last_of_slot(last);
        uint32_t leaf = leaf_of(a, j, i);
        if (leaf == DL_NONE) continue;
        if (j->analysis->start.t0) first = a->t0[dl_analyzer_chip_of(a, j, leaf)];
        if (first == NO_STAMP) continue;
        if (ends && last >= first
                ? !count_one(j, leaf, of_cells ? of_cells[i].launch : i, first, last - first)
                : !dl_analyzer_incomplete(j, dl_analyzer_chip_of(a, j, leaf)))
            return false;
    }
    return true;
}

static bool finish_sums(dl_analyzer *a, job *j)
{
    const dl_launches *l = dl_decode_launches(a->decode);
    for (uint32_t i = 0; i < j->n_sums; i++) {
        uint32_t leaf = j->sums[i].n ? leaf_of(a, j, i) : DL_NONE;
        if (leaf == DL_NONE) continue;
        uint64_t start = j->scope == SCOPE_LAUNCH ? l->items[i].first_fw_start : i;
        if (!dl_analyzer_count(j, leaf, start, j->sums[i].value)) return false;
    }
    return true;
}

static bool finish_adjacent(dl_analyzer *a, job *j)
{
    if (dl_analyzer_is_gap(j)) return true;
    const blocks *b = &a->blocks[SCOPE_STREAM];
    for (uint32_t i = 0; i < b->n && i < a->n_streams; i++)
        if (block_at(b, i)[j->first * TILE] != NO_STAMP && !dl_analyzer_incomplete(j, a->streams[i].chip))
            return false;
    return true;
}

static bool finish_job(dl_analyzer *a, job *j)
{
    switch (j->plan) {
    case PLAN_ADJACENT: return finish_adjacent(a, j);
    case PLAN_MERGED: return dl_analyzer_merge(a, j);
    case PLAN_SUM: return finish_sums(a, j);
    case PLAN_EVENT: return true;
    case PLAN_FIRST_LAST:
    case PLAN_FIRST_END: break;
    }
    return finish_slots(a, j);
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
    ranked r = {.of = j->accounts[leaf],
                .chip = dl_analyzer_chip_of(a, j, leaf),
                .x = DL_NONE,
                .y = DL_NONE,
                .stream = DL_NONE};
    r.chip_id = t->chips[r.chip].id;
    if (j->leaf == LEAF_CORE) {
        r.x = a->cores.items[leaf].launch & 0xffff;
        r.y = a->cores.items[leaf].launch >> 16;
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
    for (uint32_t i = 0; i < j->n_accounts; i++) {
        if (!j->accounts[i]) continue;
        dl_samples_totals(&j->accounts[i]->samples, &j->accounts[i]->summary);
        j->accounts[i]->summary.first = j->accounts[i]->first;
        r[n++] = rank(a, j, i);
    }
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
    if (!dl_analyzer_settle_all(a)) return dl_analyzer_no_memory(err);
    for (size_t i = 0; i < a->list->n; i++) {
        job *j = &a->jobs[i];
        if (!finish_job(a, j)) return dl_analyzer_no_memory(err);
        devlog_status status = make_results(a, j, err);
        if (!status) status = order_events(a, j, err);
        if (status) return status;
    }
    dl_analyzer_forget(a);
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
