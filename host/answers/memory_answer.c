/* What is shown of the memory of a run; see memory_answer.h. */
#include "answers/memory_answer.h"

#include <stdlib.h>

static const char *memory_name(const memory_space *s)
{
    return s->dram ? "DRAM" : "L1";
}

const char *memory_source(answer *a, const memory_run *r, const memory_buffer *b)
{
    const uint32_t line = memory_made(r, b)->line;
    if (!b->file) return NULL;
    return line ? answer_keepf(a, "%s:%u", memory_text(r, b->file), line) : memory_text(r, b->file);
}

static const char *text_or_null(const memory_run *r, uint32_t text)
{
    return text ? memory_text(r, text) : NULL;
}

const memory_buffer *memory_peak_buffer(const memory_run *r, const memory_space *s)
{
    size_t from = 0, to = r->n_buffers;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (r->buffers[mid].made < s->peak_event)
            from = mid + 1;
        else
            to = mid;
    }
    return from < r->n_buffers && r->buffers[from].made == s->peak_event ? &r->buffers[from] : NULL;
}

static double since_start(const memory_run *r, uint64_t t)
{
    return t >= r->start ? (double)(t - r->start) : NAN;
}

/* Events up to the peak. */
static size_t peak_place(const memory_space *s)
{
    size_t at = 0;
    while (at < s->n_events && s->events[at] != s->peak_event)
        at++;
    return at < s->n_events ? at + 1 : 0;
}

static double known(uint64_t value)
{
    return value ? (double)value : NAN;
}

/* ---- MEMORY --- */

devlog_status memory_answer_short(answer *a, const memory_run *r, devlog_error *err)
{
    /* A terminal has the first 16 at most. */
    static const answer_column columns[] = {
        {"chip", "chip", ANSWER_COUNT, 0},
        {"memory", "memory", ANSWER_TEXT, 0},
        {"current", "at the end", ANSWER_BYTES, 0},
        {"peak", "peak", ANSWER_BYTES, 0},
        {"peak_share", "peak %", ANSWER_PERCENT, 1},
        {"bank_peak", "in a bank", ANSWER_BYTES, 3},
        {"when", "when", ANSWER_TIME, 2},
        {"largest_free", "free block", ANSWER_BYTES, 5},
        {"fragmentation", "frag. %", ANSWER_PERCENT, 4},
        {"allocations", "allocs", ANSWER_COUNT, 6},
        {"frees", "frees", ANSWER_COUNT, 7},
        {"leaked", "leaked", ANSWER_COUNT, 0},
        {"banks", "banks", ANSWER_COUNT, 10},
        {"bank_bytes", "of each", ANSWER_BYTES, 9},
        {"op", "op", ANSWER_TEXT, ANSWER_BELOW},
        {"source", "source", ANSWER_TEXT, ANSWER_BELOW},
        {"leaked_bytes", "leaked", ANSWER_BYTES, ANSWER_HIDDEN},
        {"live", "live", ANSWER_COUNT, ANSWER_HIDDEN},
        {"open", "open", ANSWER_COUNT, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "memory", "MEMORY", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->n_spaces; i++) {
        const memory_space *s = &r->spaces[i];
        const memory_buffer *by = memory_peak_buffer(r, s);
        memory_moment m;
        devlog_status status = memory_moment_of(r, s, peak_place(s), &m, err);
        if (status) return status;
        const double all = (double)s->bank_bytes * s->banks;
        answer_number(t, s->chip);
        answer_text(t, memory_name(s));
        answer_number(t, (double)(s->used + s->leaked_bytes));
        answer_number(t, (double)s->peak);
        answer_number(t, all > 0 ? 100 * (double)s->peak / all : NAN);
        answer_number(t, (double)s->bank_peak);
        answer_number(t, by ? since_start(r, s->peak_t) : NAN);
        answer_number(t, s->bank_bytes ? (double)m.largest : NAN);
        answer_number(t, memory_fragmentation(s, &m));
        answer_number(t, (double)s->allocs);
        answer_number(t, (double)s->frees);
        answer_number(t, (double)s->leaked);
        answer_number(t, known(s->banks));
        answer_number(t, known(s->bank_bytes));
        answer_text(t, by ? text_or_null(r, by->op) : NULL);
        answer_text(t, by ? memory_source(a, r, by) : NULL);
        answer_number(t, (double)s->leaked_bytes);
        answer_number(t, (double)s->live);
        answer_number(t, known(s->boot));
    }
    answer_note(
        a, t,
        "Bytes of buffers, by what allocators wrote down. peak: of all banks together; in a bank: the most that one held. "
        "when: since the first op or buffer; below: the op and the line that reached it. free block: at the peak, the largest range of addresses that is free in all "
        "banks; frag. %: of what is free then, the share that a buffer over all banks cannot have in one piece.");
    return DEVLOG_OK;
}

/* ---- Who held it at the peak --- */

typedef struct group {
    uint32_t space, file, line, op;
    uint64_t n, bytes, most, held, kept, life_sum, lives;
} group;

static int by_key(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int by_bytes(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return by_key(a, b);
}

static int by_most(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->most != y->most) return x->most > y->most ? -1 : 1;
    return by_key(a, b);
}

static group group_of(const memory_run *r, const memory_buffer *b)
{
    return (group){.space = b->space, .file = b->file, .line = memory_made(r, b)->line, .op = b->op};
}

/* Those of the buffers that `wanted` lets through (NULL: all), each key once. *n how many; NULL: no memory. */
static group *groups_of(const memory_run *r, const uint8_t *wanted, size_t *n)
{
    group *all = malloc((r->n_buffers + 1) * sizeof *all);
    size_t have = 0;
    *n = 0;
    if (!all) return NULL;
    for (size_t i = 0; i < r->n_buffers; i++)
        if (!wanted || wanted[i]) all[have++] = group_of(r, &r->buffers[i]);
    qsort(all, have, sizeof *all, by_key);
    for (size_t i = 0; i < have; i++)
        if (!i || by_key(&all[i], &all[*n - 1]) != 0) all[(*n)++] = all[i];
    return all;
}

static group *find(group *all, size_t n, const group *key)
{
    return bsearch(key, all, n, sizeof *all, by_key);
}

static const char *source_of(answer *a, const memory_run *r, const group *g)
{
    if (!g->file) return NULL;
    return g->line ? answer_keepf(a, "%s:%u", memory_text(r, g->file), g->line) : memory_text(r, g->file);
}

static bool add_at_peak(answer *a, const memory_run *r, size_t top)
{
    static const answer_column columns[] = {
        {"chip", "chip", ANSWER_COUNT, 1},    {"open", "open", ANSWER_COUNT, ANSWER_HIDDEN},
        {"memory", "memory", ANSWER_TEXT, 0}, {"source", "source", ANSWER_TEXT, 0},
        {"op", "op", ANSWER_TEXT, 0},         {"buffers", "buffers", ANSWER_COUNT, 2},
        {"bytes", "bytes", ANSWER_BYTES, 0},  {"share", "% of peak", ANSWER_PERCENT, 3},
    };
    answer_section *t =
        answer_table(a, "at_peak", "HELD AT THE PEAK", columns, sizeof columns / sizeof columns[0]);
    uint8_t *wanted = calloc(r->n_buffers + 1, 1);
    size_t n = 0;
    for (size_t i = 0; wanted && i < r->n_buffers; i++) {
        const memory_buffer *b = &r->buffers[i];
        const uint32_t peak = r->spaces[b->space].peak_event;
        wanted[i] = peak != MEMORY_NONE && b->made <= peak && (b->gone == MEMORY_NONE || b->gone > peak);
    }
    group *all = wanted ? groups_of(r, wanted, &n) : NULL;
    for (size_t i = 0; all && i < r->n_buffers; i++) {
        const group key = group_of(r, &r->buffers[i]);
        group *g = wanted[i] ? find(all, n, &key) : NULL;
        if (!g) continue;
        g->n++;
        g->bytes += memory_bytes(memory_made(r, &r->buffers[i]));
    }
    if (all) qsort(all, n, sizeof *all, by_bytes);
    for (size_t i = 0; all && i < n; i++) {
        const memory_space *s = &r->spaces[all[i].space];
        answer_number(t, s->chip);
        answer_number(t, known(s->boot));
        answer_text(t, memory_name(s));
        answer_text(t, source_of(a, r, &all[i]));
        answer_text(t, text_or_null(r, all[i].op));
        answer_number(t, (double)all[i].n);
        answer_number(t, (double)all[i].bytes);
        answer_number(t, s->peak ? 100 * (double)all[i].bytes / (double)s->peak : NAN);
    }
    answer_top(t, top);
    const bool good = all != NULL;
    free(all);
    free(wanted);
    return good;
}

/* ---- Time --- */

/* A buffer comes or goes. */
typedef struct turn {
    uint32_t event, buffer;
    bool comes;
} turn;

/* In the order of the log; a buffer that goes in an event does so before one comes in it. */
static int by_event(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    if (x->comes != y->comes) return x->comes ? 1 : -1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static turn *turns_of(const memory_run *r, size_t *n)
{
    turn *all = malloc((2 * r->n_buffers + 1) * sizeof *all);
    *n = 0;
    if (!all) return NULL;
    for (size_t i = 0; i < r->n_buffers; i++) {
        const memory_buffer *b = &r->buffers[i];
        all[(*n)++] = (turn){b->made, (uint32_t)i, true};
        if (b->gone != MEMORY_NONE) all[(*n)++] = (turn){b->gone, (uint32_t)i, false};
    }
    qsort(all, *n, sizeof *all, by_event);
    return all;
}

static bool add_sources(answer *a, const memory_run *r, const turn *turns, size_t n_turns, size_t top)
{
    static const answer_column columns[] = {
        {"chip", "chip", ANSWER_COUNT, 1},     {"open", "open", ANSWER_COUNT, ANSWER_HIDDEN},
        {"memory", "memory", ANSWER_TEXT, 0},  {"source", "source", ANSWER_TEXT, 0},
        {"op", "op", ANSWER_TEXT, 3},          {"buffers", "buffers", ANSWER_COUNT, 0},
        {"bytes", "bytes", ANSWER_BYTES, 5},   {"most", "most at once", ANSWER_BYTES, 0},
        {"life", "mean life", ANSWER_TIME, 4}, {"kept", "not freed", ANSWER_COUNT, 2},
    };
    answer_section *t =
        answer_table(a, "sources", "BY SOURCE LINE", columns, sizeof columns / sizeof columns[0]);
    size_t n = 0;
    group *all = groups_of(r, NULL, &n);
    for (size_t i = 0; all && i < n_turns; i++) {
        const memory_buffer *b = &r->buffers[turns[i].buffer];
        const op_memory *made = memory_made(r, b);
        const group key = group_of(r, b);
        group *g = find(all, n, &key);
        if (!turns[i].comes) {
            const uint64_t gone = r->log->memory[b->gone].t;
            g->held -= memory_bytes(made);
            g->kept -= b->state == MEMORY_FREED;
            if (b->state != MEMORY_FREED || gone < made->t) continue;
            g->life_sum += gone - made->t;
            g->lives++;
            continue;
        }
        g->n++;
        g->kept++;
        g->bytes += memory_bytes(made);
        g->held += memory_bytes(made);
        if (g->held > g->most) g->most = g->held;
    }
    if (all) qsort(all, n, sizeof *all, by_most);
    for (size_t i = 0; all && i < n; i++) {
        const memory_space *s = &r->spaces[all[i].space];
        answer_number(t, s->chip);
        answer_number(t, known(s->boot));
        answer_text(t, memory_name(s));
        answer_text(t, source_of(a, r, &all[i]));
        answer_text(t, text_or_null(r, all[i].op));
        answer_number(t, (double)all[i].n);
        answer_number(t, (double)all[i].bytes);
        answer_number(t, (double)all[i].most);
        answer_number(t, all[i].lives ? (double)all[i].life_sum / (double)all[i].lives : NAN);
        answer_number(t, (double)all[i].kept);
    }
    answer_top(t, top);
    answer_note(
        a, t,
        "bytes: of all its buffers; most at once: what those that lived at one time held. Life is that of buffers that were freed.");
    const bool good = all != NULL;
    free(all);
    return good;
}

/* ---- A timeline --- */

typedef struct step {
    uint64_t most, used, allocs, frees;
    size_t events; /* of the memory, up to the step's end */
} step;

/* The step that a time belongs to: each has its end, and the first its beginning too. */
static size_t step_of(const memory_run *r, uint64_t t, size_t steps)
{
    const uint64_t all = r->end - r->start;
    if (t <= r->start || !all) return 0;
    const size_t at = (size_t)((double)(t - r->start) / (double)all * (double)steps);
    return at < steps ? at : steps - 1;
}

static devlog_status add_timeline(answer *a, const memory_run *r, const turn *turns, size_t n_turns,
                                  size_t steps, devlog_error *err)
{
    static const answer_column columns[] = {
        {"from", "from", ANSWER_TIME, 0},
        {"to", "to", ANSWER_TIME, ANSWER_HIDDEN},
        {"chip", "chip", ANSWER_COUNT, 4},
        {"open", "open", ANSWER_COUNT, ANSWER_HIDDEN},
        {"memory", "memory", ANSWER_TEXT, 0},
        {"most", "most", ANSWER_BYTES, 0},
        {"used", "at its end", ANSWER_BYTES, 0},
        {"largest_free", "free block", ANSWER_BYTES, 2},
        {"fragmentation", "frag. %", ANSWER_PERCENT, 1},
        {"allocations", "allocs", ANSWER_COUNT, 3},
        {"frees", "frees", ANSWER_COUNT, 3},
    };
    answer_section *t = answer_table(a, "timeline", "TIMELINE", columns, sizeof columns / sizeof columns[0]);
    step *all = calloc(steps * (r->n_spaces + 1), sizeof *all);
    devlog_status status = all ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a timeline");
    for (size_t i = 0; i < r->n_spaces && !status; i++) {
        step *of = all + i * steps;
        uint64_t used = 0, latest = r->start;
        size_t at = 0;
        for (size_t k = 0; k < n_turns; k++) {
            const memory_buffer *b = &r->buffers[turns[k].buffer];
            const op_memory *e = &r->log->memory[turns[k].event];
            if (b->space != i) continue;
            if (e->t > latest) latest = e->t; /* time does not go back where clocks of processes do */
            for (const size_t now = step_of(r, latest, steps); at < now; at++) {
                of[at].used = used;
                of[at + 1].most = used;
                of[at + 1].events = of[at].events;
            }
            const uint64_t bytes = memory_bytes(memory_made(r, b));
            used += turns[k].comes ? bytes : -bytes;
            if (used > of[at].most) of[at].most = used;
            of[at].allocs += turns[k].comes;
            of[at].frees += !turns[k].comes;
            of[at].events++;
        }
        for (; at < steps; at++) {
            of[at].used = used;
            if (at + 1 == steps) break;
            of[at + 1].most = used;
            of[at + 1].events = of[at].events;
        }
    }
    const double width = (double)(r->end - r->start) / (double)steps;
    for (size_t k = 0; k < steps && !status; k++) {
        for (size_t i = 0; i < r->n_spaces && !status; i++) {
            const memory_space *s = &r->spaces[i];
            const step *of = all + i * steps + k;
            memory_moment m;
            status = memory_moment_of(r, s, of->events, &m, err);
            answer_number(t, width * (double)k);
            answer_number(t, width * (double)(k + 1));
            answer_number(t, s->chip);
            answer_number(t, known(s->boot));
            answer_text(t, memory_name(s));
            answer_number(t, (double)of->most);
            answer_number(t, (double)of->used);
            answer_number(t, s->bank_bytes ? (double)m.largest : NAN);
            answer_number(t, memory_fragmentation(s, &m));
            answer_number(t, (double)of->allocs);
            answer_number(t, (double)of->frees);
        }
    }
    free(all);
    return status;
}

/* ---- Buffers --- */

static const char *const states[] = {
    [MEMORY_FREED] = "freed", [MEMORY_LEAKED] = "leaked", [MEMORY_LIVE] = "live at the end of the log"};

static const answer_column buffer_columns[] = {
    {"buffer", "buffer", ANSWER_COUNT, 2},
    {"chip", "chip", ANSWER_COUNT, 3},
    {"memory", "memory", ANSWER_TEXT, 0},
    {"name", "name", ANSWER_TEXT, 1},
    {"address", "address", ANSWER_COUNT, 6},
    {"bytes", "bytes", ANSWER_BYTES, 0},
    {"held", "held", ANSWER_BYTES, 5},
    {"page_bytes", "page", ANSWER_BYTES, 8},
    {"banks", "banks", ANSWER_COUNT, 7},
    {"made", "made at", ANSWER_TIME, 4},
    {"life", "life", ANSWER_TIME, 4},
    {"state", "state", ANSWER_TEXT, 0},
    {"op", "op", ANSWER_TEXT, ANSWER_BELOW},
    {"source", "source", ANSWER_TEXT, ANSWER_BELOW},
    {"freed_by", "freed by", ANSWER_TEXT, ANSWER_HIDDEN},
    {"bank_list", "banks", ANSWER_TEXT, ANSWER_HIDDEN},
    {"open", "open", ANSWER_COUNT, ANSWER_HIDDEN},
};

static void print_buffer(answer *a, answer_section *t, const memory_run *r, const memory_buffer *b)
{
    const memory_space *s = &r->spaces[b->space];
    const op_memory *made = memory_made(r, b),
                    *gone = b->gone == MEMORY_NONE ? NULL : &r->log->memory[b->gone];
    answer_number(t, made->buffer);
    answer_number(t, s->chip);
    answer_text(t, memory_name(s));
    answer_text(t, text_or_null(r, b->name));
    answer_number(t, (double)made->address);
    answer_number(t, (double)made->bytes);
    answer_number(t, (double)memory_bytes(made));
    answer_number(t, known(made->page));
    answer_number(t, made->banks);
    answer_number(t, since_start(r, made->t));
    answer_number(t, gone && gone->t >= made->t ? (double)(gone->t - made->t) : NAN);
    answer_text(t, states[b->state]);
    answer_text(t, text_or_null(r, b->op));
    answer_text(t, memory_source(a, r, b));
    answer_text(t, b->gone_file ? answer_keepf(a, "%s:%u", memory_text(r, b->gone_file), gone->line) : NULL);
    answer_text(t, text_or_null(r, b->at));
    answer_number(t, known(s->boot));
}

static void add_leaks(answer *a, const memory_run *r, size_t top)
{
    answer_section *t = answer_table(a, "leaks", "NOT FREED", buffer_columns,
                                     sizeof buffer_columns / sizeof buffer_columns[0]);
    for (size_t i = 0; i < r->n_buffers; i++)
        if (r->buffers[i].state != MEMORY_FREED) print_buffer(a, t, r, &r->buffers[i]);
    answer_top(t, top);
    answer_note(
        a, t,
        "leaked: it lived when its device was closed. live at the end of the log: the device was not closed; the program was killed, still runs, or ended without closing it.");
}

/* The greatest first; of the same size the first. */
typedef struct sized {
    uint64_t bytes;
    size_t at;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* For programs in the order in which they were made; with a bound, the greatest. */
static bool add_buffers(answer *a, const memory_run *r, size_t top)
{
    answer_section *t = answer_table(a, "buffers", "BUFFERS", buffer_columns,
                                     sizeof buffer_columns / sizeof buffer_columns[0]);
    sized *all = malloc((r->n_buffers + 1) * sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < r->n_buffers; i++)
        all[i] = (sized){memory_bytes(memory_made(r, &r->buffers[i])), i};
    if (top) qsort(all, r->n_buffers, sizeof *all, by_size);
    for (size_t i = 0; i < r->n_buffers; i++)
        if (!top || i < top) print_buffer(a, t, r, &r->buffers[all[i].at]);
    if (top && r->n_buffers > top) t->more = r->n_buffers - top;
    free(all);
    return true;
}

/* ---- All of it --- */

devlog_status memory_answer(answer *a, const memory_run *r, const memory_wishes *w, devlog_error *err)
{
    size_t n_turns = 0;
    turn *turns = turns_of(r, &n_turns);
    devlog_status status =
        turns ? memory_answer_short(a, r, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for an answer");
    bool good = !status && add_at_peak(a, r, w->top) && add_sources(a, r, turns, n_turns, w->top);
    if (good) status = add_timeline(a, r, turns, n_turns, w->steps ? w->steps : 10, err);
    if (good && !status) add_leaks(a, r, w->top);
    if (good && !status) good = add_buffers(a, r, w->top);
    free(turns);
    if (!good) a->no_memory = true;
    return status ? status : answer_status(a, err);
}
