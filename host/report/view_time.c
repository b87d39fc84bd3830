/* Items by time: the events of a chip, in sequences that are in order, put together. They are taken window by window, a span of
 * time in which there are some thousands of them: from each sequence what begins in the window, then all of it sorted by digits of
 * the start. That takes a fifth of what merging event by event takes. */
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"
#include "report/view_spool_internal.h"

enum {
    WINDOW = 8192, /* items in memory, about */
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    FIRST_SPAN = 1 << 16, /* cycles */
    PLACED = UINT32_MAX,
};

/* What comes next of a sequence. */
typedef struct upcoming {
    view_reader *reader;
    uint64_t start;      /* of the next item */
    const view_run *run; /* whose item it is; NULL: it is `event` */
    uint32_t item;
    uint32_t track, sequence;
    bool
        is_track; /* there is no other of its track, so that its items can have their lanes when they are taken */
    bool nests; /* view_run_nests */
    bool is_done;
    dl_event event;
} upcoming;

typedef struct placed {
    uint64_t start;
    uint32_t slot;
    uint32_t sequence; /* PLACED: its item has its lane */
} placed;

typedef struct window {
    dl_view *view;
    uint64_t from, last;
    dl_view_item *items;
    placed *places,
        *others;     /* of the items in memory, in the order in which they were taken; room for as many */
    uint32_t *slots; /* n and more: those that are free */
    uint32_t n, cap;
    uint32_t n_inside;
} window;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while ordering events");
}

static void free_window(window *w)
{
    free(w->items);
    free(w->places);
    free(w->others);
    free(w->slots);
}

static bool grow(window *w)
{
    const uint32_t cap = w->cap ? w->cap * 2 : WINDOW + VIEW_RUN_MARKS;
    dl_view_item *items = realloc(w->items, cap * sizeof *items);
    if (items) w->items = items;
    placed *places = realloc(w->places, cap * sizeof *places);
    if (places) w->places = places;
    placed *others = realloc(w->others, cap * sizeof *others);
    if (others) w->others = others;
    uint32_t *slots = realloc(w->slots, cap * sizeof *slots);
    if (slots) w->slots = slots;
    if (!items || !places || !others || !slots) return false;
    for (uint32_t i = w->cap; i < cap; i++)
        slots[i] = i;
    w->cap = cap;
    return true;
}

/* A place for an item; the caller has made room. */
static inline dl_view_item *take_place(window *w, uint64_t start, uint32_t sequence)
{
    const uint32_t slot = w->slots[w->n];
    w->places[w->n++] = (placed){start, slot, sequence};
    w->n_inside += start <= w->last;
    return &w->items[slot];
}

/* Too much is in the window: it becomes shorter. What has been taken and is behind it now waits for the next. */
static void shorten(window *w)
{
    while (w->n_inside >= WINDOW && w->last > w->from) {
        w->last = w->from + (w->last - w->from) / 2;
        w->n_inside = 0;
        for (uint32_t i = 0; i < w->n; i++)
            w->n_inside += w->places[i].start <= w->last;
    }
}

static devlog_status move_on(upcoming *u, devlog_error *err)
{
    bool any;
    devlog_status status = view_reader_next_part(u->reader, &u->event, &u->run, &any, err);
    u->is_done = status || !any;
    u->item = 0;
    if (!u->is_done) u->start = u->run ? u->run->start : u->event.start;
    return status;
}

static bool take_event(window *w, const upcoming *u, const dl_event *e)
{
    uint16_t lane = 0, depth = e->depth;
    if (w->n == w->cap && !grow(w)) return false;
    if (u->is_track && !view_place(w->view, e, &w->view->lanes[u->track], &lane, &depth)) return false;
    if (lane == VIEW_NO_LANE) return true;
    view_item(w->view, e, u->track, lane, depth, take_place(w, e->start, u->is_track ? PLACED : u->sequence));
    return true;
}

/* What of a run begins in the window; all of it, where there is room. */
static bool take_run(window *w, upcoming *u)
{
    const view_run *const run = u->run;
    const uint32_t n = run->shape->n;
    uint64_t times[VIEW_RUN_MARKS];
    const bool all = w->n + n <= WINDOW;
    while (w->cap - w->n < n)
        if (!grow(w)) return false;
    if (!u->item) u->nests = u->is_track && view_run_nests(run, &w->view->lanes[u->track]);
    dl_view_times(w->view, u->track, run, times);
    for (; u->item < n; u->item++) {
        const view_shape_item *item = &run->shape->items[u->item];
        u->start = view_run_stamp(run, item->start);
        if (!all && u->start > w->last) return true;
        if (u->nests) {
            *take_place(w, u->start, PLACED) = dl_view_run_item(run, u->track, item, times);
            continue;
        }
        dl_event e;
        view_run_event(run, u->item, &e);
        if (!take_event(w, u, &e)) return false;
    }
    return true;
}

static devlog_status take(window *w, upcoming *u, devlog_error *err)
{
    while (!u->is_done && u->start <= w->last) {
        const uint32_t launch = u->run ? u->run->launch : u->event.launch;
        const bool is_kept = view_choice_keeps(&w->view->choice, launch);
        if (is_kept && !(u->run ? take_run(w, u) : take_event(w, u, &u->event))) return no_memory(err);
        if (w->n_inside >= WINDOW) shorten(w);
        if (is_kept && u->run && u->item < u->run->shape->n) continue;
        devlog_status status = move_on(u, err);
        if (status) return status;
    }
    return DEVLOG_OK;
}

/* Of one start: the longer first, then by track; then those that have no lane yet by depth and line. */
static bool comes_after(const window *w, const placed *pa, const placed *pb)
{
    const dl_view_item *a = &w->items[pa->slot], *b = &w->items[pb->slot];
    if (a->end_cycle != b->end_cycle) return a->end_cycle < b->end_cycle;
    if (a->track != b->track) return a->track > b->track;
    if (pa->sequence == pb->sequence) return false;
    if ((a->depth ^ b->depth) & 511) return (a->depth & 511) > (b->depth & 511);
    return a->line != b->line ? a->line > b->line : pa->sequence > pb->sequence;
}

/* Of one start; those that are alike stay as they are. There may be as many as the log has events. */
static void sort_ties(const window *w, placed *p, placed *other, uint32_t n)
{
    enum { SHORT = 16 };
    if (n > SHORT) {
        const uint32_t half = n / 2;
        sort_ties(w, p, other, half);
        sort_ties(w, p + half, other, n - half);
        if (!comes_after(w, &p[half - 1], &p[half])) return;
        memcpy(other, p, half * sizeof *p);
        for (uint32_t a = 0, b = half, to = 0; a < half;)
            p[to++] = b < n && comes_after(w, &other[a], &p[b]) ? p[b++] : other[a++];
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const placed one = p[i];
        uint32_t at = i;
        for (; at && comes_after(w, &p[at - 1], &one); at--)
            p[at] = p[at - 1];
        p[at] = one;
    }
}

static void sort_by_start(window *w, uint32_t n)
{
    const uint64_t from = w->from, span = w->last - from;
    for (unsigned shift = 0; shift < 64 && span >> shift; shift += DIGIT_BITS) {
        uint32_t counts[DIGITS] = {0}, at = 0;
        for (uint32_t i = 0; i < n; i++)
            counts[(w->places[i].start - from) >> shift & (DIGITS - 1)]++;
        for (uint32_t d = 0; d < DIGITS; d++) {
            const uint32_t here = counts[d];
            counts[d] = at;
            at += here;
        }
        for (uint32_t i = 0; i < n; i++)
            w->others[counts[(w->places[i].start - from) >> shift & (DIGITS - 1)]++] = w->places[i];
        placed *sorted = w->others;
        w->others = w->places;
        w->places = sorted;
    }
    for (uint32_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && w->places[to].start == w->places[i].start;)
            to++;
        sort_ties(w, w->places + i, w->others, to - i);
    }
}

/* The lane of an item that has none yet: all that begins before it on its track has. *shown is false where there is none. */
static bool place_late(window *w, dl_view_item *item, bool *shown)
{
    const dl_event e = {.start = item->cycle,
                        .end = item->end_cycle,
                        .depth = item->depth,
                        .kind = item->kind == DL_VIEW_LAUNCH ? (uint8_t)VIEW_EVENT_LAUNCH : item->kind};
    if (!view_place(w->view, &e, &w->view->lanes[item->track], &item->lane, &item->depth)) return false;
    *shown = item->lane != VIEW_NO_LANE;
    return true;
}

/* Hands on what is in the window, in order, and keeps the rest. */
static devlog_status give_window(window *w, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint32_t n = 0, rest = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const placed p = w->places[i];
        if (p.start <= w->last)
            w->places[n++] = p;
        else
            w->others[rest++] = p;
    }
    placed *const waiting = rest ? malloc(rest * sizeof *waiting) : NULL;
    if (rest && !waiting) return no_memory(err);
    if (rest) memcpy(waiting, w->others, rest * sizeof *waiting);
    sort_by_start(w, n);
    for (uint32_t i = 0; i < n && !status; i++) {
        const uint32_t slot = w->places[i].slot;
        bool shown = true;
        if (w->places[i].sequence != PLACED && !place_late(w, &w->items[slot], &shown))
            status = no_memory(err);
        if (shown && !status) status = view_give(w->view, &w->items[slot], err);
        w->slots[rest + i] = slot;
    }
    if (rest) memcpy(w->places, waiting, rest * sizeof *waiting);
    free(waiting);
    w->n = rest;
    return status;
}

/* Where the next window begins; false: there is nothing more. */
static bool find_start(window *w, const upcoming *all, size_t n)
{
    bool any = w->n > 0;
    uint64_t from = any ? w->places[0].start : 0;
    for (uint32_t i = 1; i < w->n; i++)
        if (w->places[i].start < from) from = w->places[i].start;
    for (size_t i = 0; i < n; i++) {
        if (all[i].is_done || (any && all[i].start >= from)) continue;
        from = all[i].start;
        any = true;
    }
    w->from = from;
    return any;
}

static devlog_status each_window(window *w, upcoming *all, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint64_t span = FIRST_SPAN - 1;
    while (!status && find_start(w, all, n)) {
        w->last = span < UINT64_MAX - w->from ? w->from + span : UINT64_MAX;
        w->n_inside = 0;
        for (uint32_t i = 0; i < w->n; i++)
            w->n_inside += w->places[i].start <= w->last;
        for (size_t i = 0; i < n && !status; i++)
            status = take(w, &all[i], err);
        if (!status) status = give_window(w, err);
        span = w->last - w->from;
        if (w->n_inside < WINDOW / 4) span = span * 2 + 1;
    }
    return status;
}

devlog_status view_merge_by_time(void *ctx, view_reader *readers, size_t n, devlog_error *err)
{
    window w = {.view = ctx};
    upcoming *all = calloc(n, sizeof *all);
    devlog_status status = all && grow(&w) ? DEVLOG_OK : no_memory(err);
    for (size_t i = 0; i < n && !status; i++) {
        const view_spool *const spool = readers[i].spool;
        const view_sequence *const of = readers[i].of;
        const bool is_first = &spool->sequences[spool->sources[of->source] - 1] == of;
        all[i].reader = &readers[i];
        all[i].sequence = (uint32_t)i;
        all[i].is_track = is_first && !of->next;
        status = move_on(&all[i], err);
        if (!status && !all[i].is_done)
            all[i].track =
                all[i].run ? w.view->track_of_stream[of->stream] : view_track_of(w.view, &all[i].event);
    }
    if (!status) status = each_window(&w, all, n, err);
    free(all);
    free_window(&w);
    return status;
}
