/* Analyzer: markers into spans, sums, lists and durations. What a marker means for each analysis is found by
 * two masks, one of its site and one of its stream, so that a marker of no analysis costs two loads. */
#include "decode/analysis/analyzer.h"

#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

devlog_status dl_analyzer_no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for analyses");
}

/* Makes room for item `index`, the new ones zero. */
static bool room(void *items, uint32_t *n, uint32_t index, size_t size)
{
    if (index < *n) return true;
    uint64_t want = (uint64_t)index + index / 2 + 16;
    void *grown = want > UINT32_MAX ? NULL : realloc(*(void **)items, want * size);
    if (!grown) return false;
    memset((char *)grown + *n * size, 0, (want - *n) * size);
    *(void **)items = grown;
    *n = (uint32_t)want;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void plan_job(job *j, const dl_analysis *a)
{
    static const leaf_kind leaves[] = {[DL_ACROSS_RISC] = LEAF_STREAM,
                                       [DL_ACROSS_CORE] = LEAF_CORE,
                                       [DL_ACROSS_DEVICE] = LEAF_CHIP,
                                       [DL_ACROSS_OPS] = LEAF_CHIP};
    j->analysis = a;
    j->leaf = leaves[a->across];
    j->scope = a->across == DL_ACROSS_OPS ? SCOPE_LAUNCH : SCOPE_LEAF;
    j->plan = PLAN_FIRST_LAST;
    if (a->type == DL_ANALYSIS_OP_CORE_FIRST_LAST && j->leaf == LEAF_CHIP) j->leaf = LEAF_CORE;
    if (a->type == DL_ANALYSIS_OP_FIRST_LAST || a->type == DL_ANALYSIS_OP_CORE_FIRST_LAST)
        j->scope = j->leaf == LEAF_CHIP ? SCOPE_LAUNCH : SCOPE_LAUNCH_LEAF;
    if (a->type == DL_ANALYSIS_SUM) j->plan = PLAN_SUM;
    if (a->type == DL_ANALYSIS_EVENT) j->plan = PLAN_EVENT;
    if (a->type != DL_ANALYSIS_ADJACENT) return;
    /* Both conditions on the same RISC of the same core: nothing to merge. */
    bool risc =
        j->leaf == LEAF_STREAM || (same_text(a->start.risc, a->end.risc) && !strchr(a->start.risc, '*'));
    bool place = j->leaf != LEAF_CHIP || (a->start.has_core && a->end.has_core);
    j->plan = a->start.t0 ? PLAN_FIRST_END : risc && place ? PLAN_ADJACENT : PLAN_MERGED;
}

devlog_status dl_analyzer_new(dl_analyzer **out, dl_decode *decode, const dl_analysis_list *list,
                              devlog_error *err)
{
    dl_analyzer *a = calloc(1, sizeof *a);
    if (!a) return dl_analyzer_no_memory(err);
    a->decode = decode;
    a->list = list;
    memset(a->t0, 0xff, sizeof a->t0);
    for (size_t i = 0; i < list->n; i++) {
        const dl_analysis *of = &list->items[i];
        plan_job(&a->jobs[i], of);
        if (of->start.has_timer || of->end.has_timer) a->timed |= UINT64_C(1) << i;
    }
    *out = a;
    return DEVLOG_OK;
}

void dl_analyzer_free(dl_analyzer *a)
{
    if (!a) return;
    for (size_t i = 0; i < DL_MAX_ANALYSES; i++) {
        job *j = &a->jobs[i];
        for (uint32_t k = 0; k < j->n_kept; k++)
            if (j->kept[k]) dl_samples_free(&j->kept[k]->steps);
        for (uint32_t k = 0; k < j->n_kept; k++)
            free(j->kept[k]);
        for (uint32_t k = 0; k < j->n_accounts; k++)
            if (j->accounts[k]) dl_samples_free(&j->accounts[k]->samples);
        for (uint32_t k = 0; k < j->n_accounts; k++)
            free(j->accounts[k]);
        free(j->kept);
        free(j->accounts);
        free(j->spans);
        free(j->incomplete);
        free(j->events);
        free(j->results);
    }
    for (int i = 0; i < 2; i++) {
        free(a->cells[i].items);
        free(a->cells[i].slots);
    }
    free(a->sites);
    free(a->streams);
    free(a->cores.items);
    free(a->cores.slots);
    free(a);
}

const dl_analysis_list *dl_analyzer_list(const dl_analyzer *a)
{
    return a->list;
}

bool dl_analyzer_count(job *j, uint32_t leaf, uint64_t start, uint64_t duration)
{
    if (!room(&j->accounts, &j->n_accounts, leaf, sizeof(account *))) return false;
    account *of = j->accounts[leaf];
    if (!of) {
        of = j->accounts[leaf] = calloc(1, sizeof *of);
        if (!of) return false;
        of->summary.min = UINT64_MAX;
        of->first_start = UINT64_MAX;
    }
    if (!dl_samples_add(&of->samples, duration)) return false;
    dl_summary *s = &of->summary;
    s->count++;
    s->sum += duration;
    if (duration < s->min) s->min = duration;
    if (duration > s->max) s->max = duration;
    if (start < of->first_start || s->count == 1) {
        of->first_start = start;
        s->first = duration;
    }
    return true;
}

bool dl_analyzer_incomplete(job *j, uint32_t chip)
{
    if (!j->incomplete) j->incomplete = calloc(DL_MAX_CHIPS, sizeof *j->incomplete);
    if (j->incomplete) j->incomplete[chip]++;
    return j->incomplete != NULL;
}

static bool learn_sites(dl_analyzer *a, const dl_tables *t)
{
    uint32_t n = t->n_sites; /* another thread may add more meanwhile */
    site_info *sites = realloc(a->sites, (size_t)n * DL_ROW_TYPES * sizeof *sites);
    if (!sites) return false;
    a->sites = sites;
    for (; a->n_sites < n; a->n_sites++) {
        for (int type = 0; type < DL_ROW_TYPES; type++) {
            site_info made = {0, 0};
            for (size_t i = 0; i < a->list->n; i++) {
                const dl_analysis *of = &a->list->items[i];
                bool start =
                    !of->start.t0 && dl_match_site(&of->start, t, &t->sites[a->n_sites], (dl_row_type)type);
                bool end = dl_match_site(&of->end, t, &t->sites[a->n_sites], (dl_row_type)type);
                made.starts |= (uint64_t)start << i;
                made.ends |= (uint64_t)end << i;
            }
            sites[a->n_sites * DL_ROW_TYPES + type] = made;
        }
    }
    return true;
}

/* The number of a launch on a leaf; DL_NONE when out of memory. */
static uint32_t cell_of(cells *c, uint32_t launch, uint32_t leaf)
{
    if ((c->n + 1) * UINT64_C(2) > c->n_slots) {
        uint32_t n = c->n_slots ? c->n_slots * 2 : 256;
        uint32_t *slots = n ? calloc(n, sizeof *slots) : NULL;
        if (!slots) return DL_NONE;
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t at =
                (uint32_t)dl_hash_u64((uint64_t)c->items[i].launch << 32 | c->items[i].leaf) & (n - 1);
            while (slots[at])
                at = (at + 1) & (n - 1);
            slots[at] = i + 1;
        }
        free(c->slots);
        c->slots = slots;
        c->n_slots = n;
    }
    uint32_t at = (uint32_t)dl_hash_u64((uint64_t)launch << 32 | leaf) & (c->n_slots - 1);
    for (; c->slots[at]; at = (at + 1) & (c->n_slots - 1)) {
        const cell *known = &c->items[c->slots[at] - 1];
        if (known->launch == launch && known->leaf == leaf) return c->slots[at] - 1;
    }
    if (!room(&c->items, &c->cap, c->n, sizeof *c->items)) return DL_NONE;
    c->items[c->n] = (cell){launch, leaf};
    c->slots[at] = c->n + 1;
    return c->n++;
}

static bool learn_streams(dl_analyzer *a, const dl_tables *t)
{
    uint32_t n = t->n_streams; /* another thread may add more meanwhile */
    stream_info *streams = realloc(a->streams, (size_t)n * sizeof *streams);
    if (!streams) return false;
    a->streams = streams;
    for (; a->n_streams < n; a->n_streams++) {
        const dl_stream *s = &t->streams[a->n_streams];
        stream_info made = {.chip = s->chip, .launch = DL_NONE};
        made.core = cell_of(&a->cores, s->chip, (uint32_t)s->core_y << 16 | s->core_x);
        if (made.core == DL_NONE) return false;
        for (size_t i = 0; i < a->list->n; i++) {
            made.starts |= (uint64_t)dl_match_stream(&a->list->items[i].start, t, s) << i;
            made.ends |= (uint64_t)dl_match_stream(&a->list->items[i].end, t, s) << i;
        }
        streams[a->n_streams] = made;
    }
    return true;
}

/* Which of the job's spans the marker belongs to. False when out of memory. */
static bool index_of(dl_analyzer *a, const job *j, const dl_marker *m, uint32_t *out)
{
    stream_info *s = &a->streams[m->stream];
    if (j->scope == SCOPE_LAUNCH) {
        *out = m->launch;
        return true;
    }
    if (j->scope == SCOPE_LEAF) {
        *out = j->leaf == LEAF_STREAM ? m->stream : j->leaf == LEAF_CORE ? s->core : s->chip;
        return true;
    }
    if (s->launch != m->launch) {
        s->launch = m->launch;
        s->cell[LEAF_STREAM] = s->cell[LEAF_CORE] = DL_NONE;
    }
    if (s->cell[j->leaf] == DL_NONE)
        s->cell[j->leaf] =
            cell_of(&a->cells[j->leaf], m->launch, j->leaf == LEAF_STREAM ? m->stream : s->core);
    *out = s->cell[j->leaf];
    return *out != DL_NONE;
}

/* A span of the job; new ones have neither start nor end. */
static span *span_at(job *j, uint32_t index)
{
    uint32_t before = j->n_spans;
    if (!room(&j->spans, &j->n_spans, index, sizeof *j->spans)) return NULL;
    if (j->plan != PLAN_SUM)
        for (; before < j->n_spans; before++)
            j->spans[before].first = NO_START;
    return &j->spans[index];
}

static bool step_first_last(dl_analyzer *a, job *j, const dl_marker *m, bool start, bool end)
{
    uint32_t index;
    if (j->scope != SCOPE_LEAF && m->launch == DL_NONE) return true;
    if (!index_of(a, j, m, &index)) return false;
    span *s = span_at(j, index);
    if (!s) return false;
    if (start && m->time < s->first) s->first = m->time;
    /* One more than the stamp, so that 0 is none. */
    bool better = j->plan == PLAN_FIRST_END ? !s->last || m->time + 1 < s->last : m->time + 1 > s->last;
    if (end && better) s->last = m->time + 1;
    return true;
}

static bool step_adjacent(dl_analyzer *a, job *j, const dl_marker *m, bool start, bool end)
{
    span *s = span_at(j, m->stream);
    if (!s) return false;
    if (end && s->first != NO_START && m->time >= s->first) {
        const stream_info *info = &a->streams[m->stream];
        uint32_t leaf = j->leaf == LEAF_STREAM ? m->stream : j->leaf == LEAF_CORE ? info->core : info->chip;
        uint64_t from = s->first;
        s->first = NO_START;
        return dl_analyzer_count(j, leaf, from, m->time - from);
    }
    if (start) s->first = m->time;
    return true;
}

static bool step_merged(job *j, const dl_marker *m, bool start, bool end)
{
    if (!room(&j->kept, &j->n_kept, m->stream, sizeof(kept *))) return false;
    kept *k = j->kept[m->stream];
    if (!k) k = j->kept[m->stream] = calloc(1, sizeof *k);
    if (!k) return false;
    uint64_t step = m->time - k->last;
    k->last = m->time;
    return dl_samples_add(&k->steps, step << 2 | (uint64_t)(start * IS_START) | (uint64_t)(end * IS_END));
}

static bool step_sum(dl_analyzer *a, job *j, const dl_marker *m)
{
    uint32_t index;
    if (j->scope != SCOPE_LEAF && m->launch == DL_NONE) return true;
    if (!index_of(a, j, m, &index)) return false;
    span *s = span_at(j, index);
    if (!s) return false;
    s->first += m->data;
    s->last++;
    return true;
}

static bool step_event(dl_analyzer *a, job *j, const dl_marker *m)
{
    const stream_info *info = &a->streams[m->stream];
    uint32_t leaf = j->leaf == LEAF_STREAM ? m->stream : j->leaf == LEAF_CORE ? info->core : info->chip;
    if (!dl_analyzer_count(j, leaf, m->time, m->data)) return false;
    if (j->n_events == DL_MAX_LISTED) return true;
    if (j->n_events == j->cap_events) {
        size_t cap = j->cap_events ? j->cap_events * 2 : 64;
        dl_analysis_event *events = realloc(j->events, cap * sizeof *events);
        if (!events) return false;
        j->events = events;
        j->cap_events = cap;
    }
    j->events[j->n_events++] =
        (dl_analysis_event){m->time, m->data, m->stream, m->site, m->launch, m->meta, m->type};
    return true;
}

static bool step(dl_analyzer *a, job *j, const dl_marker *m, bool start, bool end)
{
    switch (j->plan) {
    case PLAN_ADJACENT: return step_adjacent(a, j, m, start, end);
    case PLAN_MERGED: return step_merged(j, m, start, end);
    case PLAN_SUM: return !start || step_sum(a, j, m);
    case PLAN_EVENT: return !start || step_event(a, j, m);
    case PLAN_FIRST_LAST:
    case PLAN_FIRST_END: break;
    }
    return step_first_last(a, j, m, start, end);
}

static devlog_status on_marker(void *ctx, const dl_marker *m, devlog_error *err)
{
    dl_analyzer *a = ctx;
    const dl_tables *t = dl_decode_tables(a->decode);
    if (m->site >= a->n_sites && !learn_sites(a, t)) return dl_analyzer_no_memory(err);
    if (m->stream >= a->n_streams && !learn_streams(a, t)) return dl_analyzer_no_memory(err);
    const site_info *site = &a->sites[m->site * DL_ROW_TYPES + m->type];
    const stream_info *stream = &a->streams[m->stream];
    if (m->time < a->t0[stream->chip]) a->t0[stream->chip] = m->time;
    uint64_t starts = site->starts & stream->starts, ends = site->ends & stream->ends;
    for (uint64_t left = starts | ends; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        job *j = &a->jobs[i];
        bool start = starts >> i & 1, end = ends >> i & 1;
        if (a->timed >> i & 1) {
            const dl_analysis *of = j->analysis;
            start = start && (!of->start.has_timer || of->start.timer_id == m->timer_id);
            end = end && (!of->end.has_timer || of->end.timer_id == m->timer_id);
            if (!start && !end) continue;
        }
        if (!step(a, j, m, start, end)) return dl_analyzer_no_memory(err);
    }
    return DEVLOG_OK;
}

dl_marker_sink dl_analyzer_sink(dl_analyzer *a)
{
    return (dl_marker_sink){a, on_marker};
}
