/* Analyzer: what is to be done with a mark, worked out once for each kind of mark on each class of streams. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_match(const dl_match *a, const dl_match *b)
{
    bool same = a->t0 == b->t0 && a->has_core == b->has_core && a->has_timer == b->has_timer &&
                a->has_role == b->has_role && a->types == b->types && a->n_zones == b->n_zones &&
                (!a->has_core || (a->core_x == b->core_x && a->core_y == b->core_y)) &&
                (!a->has_timer || a->timer_id == b->timer_id) && (!a->has_role || a->role == b->role) &&
                same_text(a->risc, b->risc);
    for (size_t i = 0; i < a->n_zones && same; i++)
        same = same_text(a->zones[i], b->zones[i]);
    return same;
}

static const dl_match *match_of(const job *j, bool last)
{
    return last ? &j->analysis->end : &j->analysis->start;
}

/* Whether the job wants the last of the stamps that meet its second condition. */
static bool wants_last(const job *j)
{
    return j->plan == PLAN_FIRST_LAST;
}

/* The slot of a job's first or second condition, which may be that of a job before it. */
static uint16_t slot_of(dl_analyzer *a, size_t n, bool second)
{
    const job *j = &a->jobs[n];
    const bool last = second && wants_last(j);
    for (size_t i = 0; i <= n && j->plan != PLAN_ADJACENT; i++) {
        const job *other = &a->jobs[i];
        if (other->scope != j->scope || (other->plan != PLAN_FIRST_LAST && other->plan != PLAN_FIRST_END))
            continue;
        for (int k = 0; k < 2; k++) {
            uint16_t slot = k ? other->last : other->first;
            if (slot == NO_SLOT || (k && wants_last(other)) != last) continue;
            if (same_match(match_of(j, second), match_of(other, k))) return slot;
        }
    }
    return (uint16_t)a->blocks[j->scope].width++;
}

static void plan_job(job *j, const dl_analysis *a)
{
    static const leaf_kind leaves[] = {[DL_ACROSS_RISC] = LEAF_STREAM,
                                       [DL_ACROSS_CORE] = LEAF_CORE,
                                       [DL_ACROSS_DEVICE] = LEAF_CHIP,
                                       [DL_ACROSS_OPS] = LEAF_CHIP};
    static const scope of_launches[] = {
        [LEAF_STREAM] = SCOPE_LAUNCH_STREAM, [LEAF_CORE] = SCOPE_LAUNCH_CORE, [LEAF_CHIP] = SCOPE_LAUNCH};
    j->analysis = a;
    j->leaf = leaves[a->across];
    j->plan = PLAN_FIRST_LAST;
    bool per_launch = a->type == DL_ANALYSIS_OP_FIRST_LAST || a->type == DL_ANALYSIS_OP_CORE_FIRST_LAST;
    if (a->type == DL_ANALYSIS_OP_CORE_FIRST_LAST && j->leaf == LEAF_CHIP) j->leaf = LEAF_CORE;
    j->scope = per_launch ? of_launches[j->leaf] : a->across == DL_ACROSS_OPS ? SCOPE_LAUNCH : (scope)j->leaf;
    if (a->type == DL_ANALYSIS_SUM) j->plan = PLAN_SUM;
    if (a->type == DL_ANALYSIS_EVENT) j->plan = PLAN_EVENT;
    if (a->type != DL_ANALYSIS_ADJACENT) return;
    /* Both conditions on the same RISC of the same core: nothing to merge. */
    bool risc = j->leaf == LEAF_STREAM ||
                (a->start.risc && same_text(a->start.risc, a->end.risc) && !strchr(a->start.risc, '*'));
    bool place = j->leaf != LEAF_CHIP || (a->start.has_core && a->end.has_core);
    j->plan = a->start.t0 ? PLAN_FIRST_END : risc && place ? PLAN_ADJACENT : PLAN_MERGED;
}

/* The zones of a condition by their first characters; one without zones can be met by any. */
static void note_names(uint64_t by_character[256], const dl_match *m, size_t number)
{
    const uint64_t bit = UINT64_C(1) << number;
    for (int c = 0; c < 256; c++)
        if (!m->n_zones) by_character[c] |= bit;
    for (size_t i = 0; i < m->n_zones; i++) {
        if (m->zones[i][0] == '*') /* any, as a prefix of nothing */
            for (int c = 0; c < 256; c++)
                by_character[c] |= bit;
        else
            by_character[(unsigned char)m->zones[i][0]] |= bit;
    }
}

void dl_analyzer_plan(dl_analyzer *a)
{
    for (size_t i = 0; i < a->list->n; i++) {
        const dl_analysis *of = &a->list->items[i];
        job *j = &a->jobs[i];
        plan_job(j, of);
        note_names(a->names.starts, &of->start, i);
        note_names(a->names.ends, &of->end, i);
        a->has_cores |= of->start.has_core || of->end.has_core;
        j->first = j->last = NO_SLOT;
        if (j->plan == PLAN_ADJACENT) {
            j->scope = SCOPE_STREAM; /* of what is open; counted for its leaf */
            j->first = slot_of(a, i, false);
            j->last = slot_of(a, i, true);
        } else if (j->plan == PLAN_FIRST_LAST || j->plan == PLAN_FIRST_END) {
            if (!of->start.t0) j->first = slot_of(a, i, false);
            j->last = slot_of(a, i, true);
        }
    }
}

/* ---- Streams ------------------------------------------------------------------------------------------ */

static uint32_t class_of(dl_analyzer *a, const dl_stream *s)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    uint64_t starts = 0, ends = 0;
    for (size_t i = 0; i < a->list->n; i++) {
        starts |= (uint64_t)dl_match_stream(&a->list->items[i].start, t, s) << i;
        ends |= (uint64_t)dl_match_stream(&a->list->items[i].end, t, s) << i;
    }
    for (uint32_t i = 0; i < a->n_classes; i++)
        if (a->classes[i].starts == starts && a->classes[i].ends == ends) return i;
    if (!dl_analyzer_room(&a->classes, &a->cap_classes, a->n_classes, sizeof *a->classes)) return DL_NONE;
    a->classes[a->n_classes] = (stream_class){.starts = starts, .ends = ends};
    return a->n_classes++;
}

static uint32_t core_of(dl_analyzer *a, const dl_stream *s)
{
    const uint32_t place = (uint32_t)s->core_y << 16 | s->core_x;
    uint32_t last = a->cores.n ? a->cores.n - 1 : 0;
    return dl_analyzer_cell(&a->cores, place, s->chip, &last);
}

bool dl_analyzer_learn_streams(dl_analyzer *a)
{
    enum { LOOK_BACK = 16 };
    const dl_tables *t = dl_decode_tables(a->decode);
    uint32_t n = t->n_streams; /* another thread may add more meanwhile */
    if (n == a->n_streams) return true;
    stream_info *streams = realloc(a->streams, (size_t)n * sizeof *streams);
    if (!streams) return false;
    a->streams = streams;
    for (; a->n_streams < n; a->n_streams++) {
        const dl_stream *s = &t->streams[a->n_streams];
        stream_info made = {.class = DL_NONE, .chip = s->chip};
        made.core = core_of(a, s);
        if (made.core == DL_NONE) return false;
        /* One of the same name was among the last: of the core before. */
        for (uint32_t i = a->n_streams; !a->has_cores && i-- > 0 && a->n_streams - i <= LOOK_BACK;)
            if (t->streams[i].risc_name == s->risc_name) made.class = streams[i].class;
        if (made.class == DL_NONE) made.class = class_of(a, s);
        if (made.class == DL_NONE) return false;
        streams[a->n_streams] = made;
    }
    return true;
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

/* The jobs among `asked` one of whose conditions a mark of this kind meets. */
static uint64_t met(const dl_analyzer *a, const dl_kind *kind, bool second, uint64_t asked)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    const dl_site *site = &t->sites[kind->site];
    unsigned char first = (unsigned char)dl_text(t, site->name)[0];
    uint64_t found = 0;
    asked &= second ? a->names.ends[first] : a->names.starts[first];
    for (; asked; asked &= asked - 1) {
        int i = __builtin_ctzll(asked);
        const dl_match *m = match_of(&a->jobs[i], second);
        if ((m->t0 && !second) || (m->has_timer && m->timer_id != kind->timer_id)) continue;
        if (dl_match_site(m, t, site, (dl_row_type)kind->type)) found |= UINT64_C(1) << i;
    }
    return found;
}

static bool add_step(dl_analyzer *a, const step *s)
{
    if (!dl_analyzer_room(&a->steps, &a->cap_steps, a->n_steps, sizeof *a->steps)) return false;
    a->steps[a->n_steps++] = *s;
    return true;
}

/* Into a slot, once for all jobs that share it. */
static bool add_least(dl_analyzer *a, uint32_t from, const step *s)
{
    for (uint32_t i = from; i < a->n_steps; i++) {
        const step *there = &a->steps[i];
        if (there->what == s->what && there->scope == s->scope && there->slot == s->slot) return true;
    }
    return add_step(a, s);
}

/* What a job does with a mark that meets its conditions: into slots, or otherwise. */
static bool add_job(dl_analyzer *a, uint32_t from, int number, bool start, bool end, bool slots)
{
    static const step_what whats[] = {[PLAN_ADJACENT] = STEP_ADJACENT,
                                      [PLAN_MERGED] = STEP_KEEP,
                                      [PLAN_SUM] = STEP_SUM,
                                      [PLAN_EVENT] = STEP_EVENT};
    const job *j = &a->jobs[number];
    step s = {.scope = (uint8_t)j->scope, .job = (uint8_t)number, .slot = j->first};
    s.bits = (uint8_t)(start * IS_START | end * IS_END);
    if (slots != (j->plan == PLAN_FIRST_LAST || j->plan == PLAN_FIRST_END)) return true;
    if (slots) {
        s.what = STEP_LEAST;
        if (start && !add_least(a, from, &s)) return false;
        s.what = wants_last(j) ? STEP_LAST : STEP_LEAST;
        s.slot = j->last;
        return !end || add_least(a, from, &s);
    }
    s.what = (uint8_t)whats[j->plan];
    return (s.what >= STEP_SUM && !start) || add_step(a, &s);
}

uint32_t dl_analyzer_steps(dl_analyzer *a, uint32_t class, uint32_t kind)
{
    const dl_kind *of = &dl_decode_tables(a->decode)->kinds[kind];
    stream_class *c = &a->classes[class];
    if (!dl_analyzer_room(&c->steps, &c->n_kinds, kind, sizeof *c->steps)) return 0;
    const step end = {.what = STEP_END};
    while (a->n_steps <= NO_STEPS) /* nobody has number 0 */
        if (!add_step(a, &end)) return 0;
    uint64_t starts = met(a, of, false, c->starts), ends = met(a, of, true, c->ends);
    uint32_t from = a->n_steps;
    for (int slots = 1; slots >= 0; slots--) {
        for (uint64_t left = starts | ends; left; left &= left - 1) {
            int i = __builtin_ctzll(left);
            if (!add_job(a, from, i, starts >> i & 1, ends >> i & 1, slots)) return 0;
        }
    }
    if (from == a->n_steps) return c->steps[kind] = NO_STEPS;
    return add_step(a, &end) ? c->steps[kind] = from : 0;
}

static bool meets(const dl_match *m, const dl_tables *t, uint32_t stream, const dl_kind *kind)
{
    return !m->t0 && (!m->has_timer || m->timer_id == kind->timer_id) &&
           dl_match_stream(m, t, &t->streams[stream]) &&
           dl_match_site(m, t, &t->sites[kind->site], (dl_row_type)kind->type);
}

/* Of the list and the tables alone: the analyzer itself may be at work on another thread. */
bool dl_analyzer_marks_of(const void *ctx, uint32_t stream, const dl_kind *kind)
{
    const dl_analyzer *a = ctx;
    const dl_tables *t = dl_decode_tables(a->decode);
    for (size_t i = 0; i < a->list->n; i++) {
        const dl_analysis *of = &a->list->items[i];
        if (meets(&of->start, t, stream, kind) || meets(&of->end, t, stream, kind)) return true;
    }
    return false;
}
