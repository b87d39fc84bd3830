/* Analyzer: marks into slots, sums, lists and durations. What a mark means for the analyses is a list of steps,
 * made once for its kind and its class of streams (analyzer_steps.c), so that a mark of no analysis costs a few
 * loads. */
#include "decode/analysis/analyzer.h"

#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

enum { MANY = 128 * 1024 }; /* blocks: they are no more than so many at a time */

devlog_status dl_analyzer_no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for analyses");
}

bool dl_analyzer_room(void *items, uint32_t *n, uint32_t index, size_t size)
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

devlog_status dl_analyzer_new(dl_analyzer **out, dl_decode *decode, const dl_analysis_list *list,
                              devlog_error *err)
{
    dl_analyzer *a = calloc(1, sizeof *a);
    if (!a) return dl_analyzer_no_memory(err);
    a->decode = decode;
    a->list = list;
    memset(a->t0, 0xff, sizeof a->t0);
    a->stream = a->launch = a->core = a->chip = DL_NONE;
    a->pool.filed.folder = dl_decode_scratch(decode);
    for (int i = 0; i < SCOPES; i++)
        a->blocks[i].big.folder = a->pool.filed.folder;
    for (int i = 0; i < 2; i++)
        a->cells[i].big.folder = a->pool.filed.folder;
    for (size_t i = 0; i < DL_MAX_ANALYSES; i++)
        a->jobs[i].pool = &a->pool;
    dl_analyzer_plan(a);
    a->nowhere = malloc((size_t)(2 * DL_MAX_ANALYSES + 1) * TILE * sizeof *a->nowhere);
    if (!a->nowhere) {
        dl_analyzer_free(a);
        return dl_analyzer_no_memory(err);
    }
    *out = a;
    return DEVLOG_OK;
}

void dl_analyzer_forget(dl_analyzer *a)
{
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
        free(j->sums);
        j->kept = NULL;
        j->accounts = NULL;
        j->sums = NULL;
        j->n_kept = j->n_accounts = j->n_sums = 0;
    }
    for (int i = 0; i < 2; i++)
        dl_analyzer_cells_free(&a->cells[i]);
    for (int i = 0; i < SCOPES; i++) {
        dl_big_free(&a->blocks[i].big);
        a->blocks[i] = (blocks){0};
    }
    dl_sample_pool_free(&a->pool);
    for (uint32_t i = 0; i < a->n_streams; i++) {
        free(a->streams[i].waiting.stamps);
        a->streams[i].waiting = (waiting){0};
    }
}

void dl_analyzer_free(dl_analyzer *a)
{
    if (!a) return;
    dl_analyzer_forget(a);
    for (size_t i = 0; i < DL_MAX_ANALYSES; i++) {
        free(a->jobs[i].incomplete);
        free(a->jobs[i].events);
        free(a->jobs[i].results);
    }
    for (uint32_t i = 0; i < a->n_classes; i++) {
        dl_analyzer_shapes_free(&a->classes[i]);
        free(a->classes[i].steps);
    }
    free(a->classes);
    free(a->steps);
    free(a->nowhere);
    free(a->streams);
    dl_analyzer_cells_free(&a->cores);
    free(a);
}

const dl_analysis_list *dl_analyzer_list(const dl_analyzer *a)
{
    return a->list;
}

account *dl_analyzer_account(job *j, uint32_t leaf)
{
    if (leaf < j->n_accounts && j->accounts[leaf]) return j->accounts[leaf];
    if (!dl_analyzer_room(&j->accounts, &j->n_accounts, leaf, sizeof(account *))) return NULL;
    account *of = j->accounts[leaf] = calloc(1, sizeof *of);
    if (!of) return NULL;
    of->samples.pool = j->pool;
    of->first_start = UINT64_MAX;
    return of;
}

bool dl_analyzer_incomplete(job *j, uint32_t chip)
{
    if (!j->incomplete) j->incomplete = calloc(DL_MAX_CHIPS, sizeof *j->incomplete);
    if (j->incomplete) j->incomplete[chip]++;
    return j->incomplete != NULL;
}

/* Where the marks of the run in hand belong in a scope; DL_NONE when out of memory. */
static uint32_t index_in(dl_analyzer *a, scope of)
{
    stream_info *s = &a->streams[a->stream];
    uint32_t *next = s->cell;
    switch (of) {
    case SCOPE_STREAM: return a->stream;
    case SCOPE_CORE: return s->core;
    case SCOPE_CHIP: return s->chip;
    case SCOPE_LAUNCH_STREAM:
        return dl_analyzer_cell(&a->cells[LEAF_STREAM], a->launch, a->stream, &next[LEAF_STREAM]);
    case SCOPE_LAUNCH_CORE:
        return dl_analyzer_cell(&a->cells[LEAF_CORE], a->launch, s->core, &next[LEAF_CORE]);
    case SCOPE_LAUNCH:
    case SCOPES: break;
    }
    return a->launch;
}

static bool is_of_launch(scope of)
{
    return of >= SCOPE_LAUNCH_STREAM;
}

/* Those that a long log has filled are not wanted before its end. */
uint64_t *dl_analyzer_block(dl_analyzer *a, scope of, uint32_t index)
{
    blocks *b = &a->blocks[of];
    if (index >= b->n) {
        const size_t size = b->width * sizeof *b->slots;
        uint64_t want = ((uint64_t)index + (index < MANY ? index / 2 : MANY / 2) + TILE) / TILE * TILE;
        if (want > UINT32_MAX || !dl_big_room(&b->big, want * size)) return NULL;
        b->slots = b->big.data;
        memset((char *)b->slots + b->n * size, 0xff, (want - b->n) * size);
        b->n = (uint32_t)want;
        dl_big_cool(&b->big);
    }
    return block_at(b, index);
}

/* The block of the run in hand; NULL when out of memory. */
static inline uint64_t *block_of(dl_analyzer *a, scope of)
{
    const blocks *b = &a->blocks[of];
    uint32_t index = of == SCOPE_LAUNCH ? a->launch : index_in(a, of);
    if (index < b->n) return a->here[of] = block_at(b, index);
    return a->here[of] = index == DL_NONE ? NULL : dl_analyzer_block(a, of, index);
}

static uint32_t leaf_here(const dl_analyzer *a, const job *j)
{
    const stream_info *s = &a->streams[a->stream];
    return j->leaf == LEAF_STREAM ? a->stream : j->leaf == LEAF_CORE ? s->core : s->chip;
}

static bool step_adjacent(dl_analyzer *a, job *j, uint64_t *block, uint64_t time, uint8_t bits)
{
    uint64_t *open = &block[j->first * TILE], *edge = &block[j->last * TILE];
    if (*edge == NO_STAMP) *edge = bits == IS_END ? time : bits == IS_START ? EDGE_START : EDGE_BOTH;
    if ((bits & IS_END) && *open != NO_STAMP && time >= *open) {
        uint64_t from = *open;
        *open = NO_STAMP;
        return dl_analyzer_count(j, leaf_here(a, j), from, time - from);
    }
    if (bits & IS_START) *open = time;
    return true;
}

kept *dl_analyzer_kept(job *j, uint32_t stream)
{
    if (!dl_analyzer_room(&j->kept, &j->n_kept, stream, sizeof(kept *))) return NULL;
    if (!j->kept[stream]) j->kept[stream] = calloc(1, sizeof(kept));
    if (j->kept[stream]) j->kept[stream]->steps.pool = j->pool;
    return j->kept[stream];
}

static inline bool step_keep(const dl_analyzer *a, job *j, uint64_t time, uint8_t bits)
{
    kept *k = a->stream < j->n_kept ? j->kept[a->stream] : NULL;
    if (!k && !(k = dl_analyzer_kept(j, a->stream))) return false;
    uint64_t difference = time - k->last;
    k->last = time;
    return dl_samples_add(&k->steps, difference << 2 | bits);
}

static bool step_sum(dl_analyzer *a, job *j, uint64_t data)
{
    uint32_t index = index_in(a, j->scope);
    if (index == DL_NONE || !dl_analyzer_room(&j->sums, &j->n_sums, index, sizeof *j->sums)) return false;
    j->sums[index].value += data;
    j->sums[index].n++;
    return true;
}

bool dl_analyzer_list_event(job *j, const dl_analysis_event *event)
{
    if (j->n_events == DL_MAX_LISTED) return true;
    if (j->n_events == j->cap_events) {
        size_t cap = j->cap_events ? j->cap_events * 2 : 64;
        dl_analysis_event *events = realloc(j->events, cap * sizeof *events);
        if (!events) return false;
        j->events = events;
        j->cap_events = cap;
    }
    j->events[j->n_events++] = *event;
    return true;
}

static bool step_event(dl_analyzer *a, job *j, const dl_marks *batch, const dl_mark *m)
{
    const dl_kind *kind = &dl_decode_tables(a->decode)->kinds[dl_mark_kind(m->code)];
    const dl_rare *rare = dl_mark_rare(batch, m->code);
    uint64_t data = rare ? rare->data : 0;
    const dl_analysis_event event = {
        m->time, data, a->stream, kind->site, a->launch, rare ? rare->meta : 0, (dl_row_type)kind->type};
    return dl_analyzer_count(j, leaf_here(a, j), m->time, data) && dl_analyzer_list_event(j, &event);
}

/* A step that is no slot's. */
static bool other_step(dl_analyzer *a, const step *s, const dl_marks *batch, const dl_mark *m)
{
    job *j = &a->jobs[s->job];
    uint64_t *block = NULL;
    switch (s->what) {
    case STEP_ADJACENT:
        block = a->here[SCOPE_STREAM] ? a->here[SCOPE_STREAM] : block_of(a, SCOPE_STREAM);
        return block && step_adjacent(a, j, block, m->time, s->bits);
    case STEP_KEEP: return step_keep(a, j, m->time, s->bits);
    case STEP_SUM:
        if (is_of_launch(j->scope) && a->launch == DL_NONE) return true;
        return step_sum(a, j, dl_mark_data(batch, m->code));
    default: return step_event(a, j, batch, m);
    }
}

static bool take_mark(dl_analyzer *a, uint32_t steps, const dl_marks *batch, const dl_mark *m)
{
    const step *s = &a->steps[steps];
    const uint64_t stamps[] = {[STEP_LEAST] = m->time, [STEP_LAST] = slot_of_last(m->time)};
    for (uint32_t what; (what = s->what) <= STEP_LAST; s++) {
        uint64_t *block = a->here[s->scope];
        if (!block && !(block = block_of(a, s->scope))) return false;
        uint64_t value = stamps[what], *slot = &block[s->slot * TILE];
        *slot = value < *slot ? value : *slot;
    }
    for (; s->what != STEP_END; s++)
        if (!other_step(a, s, batch, m)) return false;
    return true;
}

/* Makes a run the one in hand. What it shares with the one before (the next RISC of a core) stays. */
static void begin_run(dl_analyzer *a, const dl_run *run)
{
    const stream_info *s = &a->streams[run->stream];
    bool launch = run->launch != a->launch;
    if (launch || run->stream != a->stream) a->here[SCOPE_STREAM] = a->here[SCOPE_LAUNCH_STREAM] = NULL;
    if (launch || s->core != a->core) a->here[SCOPE_CORE] = a->here[SCOPE_LAUNCH_CORE] = NULL;
    if (launch) a->here[SCOPE_LAUNCH] = NULL;
    if (s->chip != a->chip) a->here[SCOPE_CHIP] = NULL;
    if (run->launch == DL_NONE)
        a->here[SCOPE_LAUNCH_STREAM] = a->here[SCOPE_LAUNCH_CORE] = a->here[SCOPE_LAUNCH] = a->nowhere;
    a->stream = run->stream;
    a->launch = run->launch;
    a->core = s->core;
    a->chip = s->chip;
}

/* A start and its end in one run: nothing is open behind them. */
static bool step_pair(dl_analyzer *a, job *j, uint64_t start, uint64_t end)
{
    uint64_t *block = a->here[SCOPE_STREAM] ? a->here[SCOPE_STREAM] : block_of(a, SCOPE_STREAM);
    if (!block) return false;
    block[j->first * TILE] = NO_STAMP; /* the edge is known: a run like this came mark by mark before */
    return dl_analyzer_count(j, leaf_here(a, j), start, end - start);
}

/* Stamps into the slots of one block. */
static inline const shape_slot *take_stamps(const shape_slot *s, const shape_slot *end, const dl_mark *marks,
                                            uint64_t *block)
{
    for (; s < end; s++) {
        const uint64_t stamp = *(const uint64_t *)(const void *)((const char *)marks + s->mark);
        uint64_t *slot = (uint64_t *)(void *)((char *)block + s->slot);
        const uint64_t value = (stamp ^ s->flip) + s->flip, known = *slot;
        *slot = value < known ? value : known;
    }
    return s;
}

/* The run in hand, whose marks are in order of time, as its shape says. */
static bool take_shape(dl_analyzer *a, const shape_steps *of_shape, const dl_run *run)
{
    const dl_mark *marks = run->marks;
    const shape_slot *s = of_shape->slots;
    for (uint32_t i = 0; i < of_shape->n_scopes; i++) {
        const scope of = of_shape->scopes[i].scope;
        uint64_t *block = a->here[of];
        if (!block && !(block = block_of(a, of))) return false;
        s = take_stamps(s, of_shape->slots + of_shape->scopes[i].end, run->marks, block);
    }
    for (const shape_other *o = of_shape->others, *end = o + of_shape->n_others; o < end; o++) {
        job *j = &a->jobs[o->step.job];
        const dl_mark *m = &marks[o->mark];
        const bool good = o->step.what == STEP_KEEP   ? step_keep(a, j, m->time, o->step.bits)
                          : o->step.what == STEP_PAIR ? step_pair(a, j, m->time, marks[o->end].time)
                                                      : other_step(a, &o->step, run->batch, m);
        if (!good) return false;
    }
    uint64_t *first = &a->t0[a->chip];
    if (marks->time < *first) *first = marks->time;
    return true;
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    dl_analyzer *a = ctx;
    for (size_t i = 0; i < n; i++) {
        const dl_run *run = &runs[i];
        if (run->stream >= a->n_streams && !dl_analyzer_learn_streams(a)) return dl_analyzer_no_memory(err);
        stream_info *s = &a->streams[run->stream];
        waiting *w = &s->waiting;
        if (w->n && w->shape == run->shape && w->n < w->cap) { /* as nearly always */
            dl_analyzer_put(w, run);
            continue;
        }
        const stream_class *c = &a->classes[s->class];
        const shape_steps *of_shape = run->shape < c->n_shapes ? c->shapes[run->shape] : NULL;
        if (run->shape && !of_shape && !(of_shape = dl_analyzer_shape(a, s->class, run)))
            return dl_analyzer_no_memory(err);
        if (of_shape && of_shape->recipe) {
            if (!dl_analyzer_wait(a, of_shape, run)) return dl_analyzer_no_memory(err);
            continue;
        }
        if (!dl_analyzer_settle(a, run->stream)) return dl_analyzer_no_memory(err);
        begin_run(a, run);
        if (of_shape) {
            if (!take_shape(a, of_shape, run)) return dl_analyzer_no_memory(err);
            continue;
        }
        uint64_t first = a->t0[s->chip];
        for (uint32_t k = 0; k < run->n_marks; k++) {
            const dl_mark *m = &run->marks[k];
            uint32_t kind = dl_mark_kind(m->code);
            uint32_t steps = kind < c->n_kinds ? c->steps[kind] : 0;
            if (m->time < first) first = m->time;
            if (steps == NO_STEPS) continue;
            if (!steps && !(steps = dl_analyzer_steps(a, s->class, kind))) return dl_analyzer_no_memory(err);
            if (!take_mark(a, steps, run->batch, m)) return dl_analyzer_no_memory(err);
        }
        a->t0[s->chip] = first;
    }
    return DEVLOG_OK;
}

dl_run_sink dl_analyzer_sink(dl_analyzer *a)
{
    return (dl_run_sink){
        .ctx = a, .wants = DL_WANT_MARKS, .runs = on_runs, .apart = true, .marks_of = dl_analyzer_marks_of};
}
