/* Items by time: the events of a chip, in sequences that are in order, put together. They are taken window by window, a span of time
 * in which there are some thousands of them: of each sequence what begins in it, then all of it sorted by digits of the start. */
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"
#include "report/view_spool_internal.h"
#include "report/view_window.h"

enum {
    WINDOW = 8192, /* items in memory, about */
    DIGIT_BITS = 11,
    FIRST_SPAN = 1 << 16, /* cycles */
};

/* Rooms of one size, in words of eight bytes, that are taken and given back by the number of their first word. */
typedef struct slots {
    uint64_t *at;
    uint32_t size, cap;
    uint32_t *free, n_free; /* and those that are taken: */
    uint32_t *live, n_live;
} slots;

/* What comes next of a sequence. */
typedef struct upcoming {
    view_reader *reader;
    uint64_t start;      /* of the next item */
    const view_run *run; /* whose item it is; NULL: it is `event` */
    uint32_t item;
    uint32_t slot;       /* of the run, where it is one of the window's */
    uint64_t kept_below; /* runs that start before this may be */
    uint64_t freq_khz;   /* of view_taken */
    uint32_t track, sequence;
    bool is_track; /* it has all of its track, so that its items can have their lanes when they are taken */
    bool is_taken; /* the run is one of the window's */
    bool is_done;
    dl_event event;
} upcoming;

typedef struct window {
    dl_view *view;
    uint64_t from, last;
    slots items, runs;
    view_place *places, *others, *rest; /* as they were taken; room for as many, twice */
    uint32_t n, cap, n_inside;
    uint32_t n_late; /* items that have no lane yet */
} window;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while ordering events");
}

static void free_slots(slots *s)
{
    free(s->at);
    free(s->free);
    free(s->live);
}

static void free_window(window *w)
{
    free_slots(&w->items);
    free_slots(&w->runs);
    free(w->places), free(w->others), free(w->rest);
}

static bool grow_slots(slots *s)
{
    const uint32_t cap = s->cap ? s->cap * 2 : 256;
    uint64_t *at =
        (uint64_t)cap * s->size <= UINT32_MAX ? realloc(s->at, (size_t)cap * s->size * sizeof *at) : NULL;
    if (!at) return false;
    s->at = at;
    uint32_t **const lists[] = {&s->free, &s->live};
    for (int i = 0; i < 2; i++) {
        uint32_t *list = realloc(*lists[i], cap * sizeof *list);
        if (!list) return false;
        *lists[i] = list;
    }
    for (uint32_t i = cap; i > s->cap; i--)
        s->free[s->n_free++] = (i - 1) * s->size;
    s->cap = cap;
    return true;
}

static inline bool take_slot(slots *s, uint32_t *slot)
{
    if (!s->n_free && !grow_slots(s)) return false;
    s->live[s->n_live++] = *slot = s->free[--s->n_free];
    return true;
}

static inline dl_view_item *item_at(const window *w, uint32_t slot)
{
    return (dl_view_item *)(void *)(w->items.at + slot);
}

static inline view_taken *run_at(const window *w, uint32_t slot)
{
    return (view_taken *)(void *)(w->runs.at + slot);
}

/* Room for so many more places, and one behind them. */
static bool make_room(window *w, uint32_t n)
{
    uint32_t cap = w->cap ? w->cap : WINDOW + VIEW_RUN_MARKS;
    while (cap - w->n < n)
        cap *= 2;
    if (cap == w->cap) return true;
    view_place **const all[] = {&w->places, &w->others, &w->rest};
    for (int i = 0; i < 3; i++) {
        view_place *at = realloc(*all[i], (cap + 1u) * sizeof *at);
        if (!at) return false;
        *all[i] = at;
    }
    w->cap = cap;
    return true;
}

/* Too much is in the window: it becomes shorter. What has been taken and is behind it now waits for the next. */
static void shorten(window *w)
{
    while (w->n_inside >= WINDOW && w->last > w->from) {
        w->last = w->from + (w->last - w->from) / 2;
        w->n_inside = 0;
        for (uint32_t i = 0; i < w->n; i++)
            w->n_inside += w->places[i].cycle <= w->last;
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
    uint32_t slot;
    if (w->n == w->cap && !make_room(w, 1)) return false;
    if (u->is_track && !view_place_event(w->view, e, &w->view->lanes[u->track], &lane, &depth)) return false;
    if (lane == VIEW_NO_LANE) return true;
    if (!take_slot(&w->items, &slot)) return false;
    view_item(w->view, e, u->track, lane, depth, item_at(w, slot));
    w->n_late += !u->is_track;
    w->places[w->n++] = (view_place){e->start, slot, VIEW_ITEM + (u->is_track ? 0 : 1 + u->sequence)};
    w->n_inside += e->start <= w->last;
    return true;
}

/* Keeps a run itself, where all of it nests in its track's first lane, and times are easily made of its stamps. */
static bool keep_run(window *w, upcoming *u)
{
    const view_run *const run = u->run;
    const view_shape *const shape = run->shape;
    u->is_taken = run->start < u->kept_below && view_run_nests(run, &w->view->lanes[u->track]);
    if (!u->is_taken) return true;
    if (!take_slot(&w->runs, &u->slot)) return false;
    view_taken *const taken = run_at(w, u->slot);
    const uint64_t last = view_run_stamp(run, shape->items[shape->n - 1].start);
    taken->items = shape->items;
    taken->start = run->start;
    taken->freq_khz = u->freq_khz;
    taken->half = u->freq_khz / 2;
    taken->last = last < run->start ? UINT64_MAX : last;
    taken->launch = run->launch;
    taken->line = run->line;
    taken->line_step = run->line_step;
    taken->track = u->track;
    const uint32_t n = shape->n_marks; /* mostly so few that a call would be dearer */
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4)
        memcpy(taken->stamps + i, run->stamps + i * sizeof *taken->stamps, 4 * sizeof *taken->stamps);
    for (; i < n; i++)
        memcpy(taken->stamps + i, run->stamps + i * sizeof *taken->stamps, sizeof *taken->stamps);
    return true;
}

/* What of a run begins in the window; all of it, where there is room. */
static bool take_run(window *w, upcoming *u)
{
    const view_run *const run = u->run;
    const view_shape_item *const items = run->shape->items;
    const uint32_t n = run->shape->n;
    const uint64_t most = w->n + n <= WINDOW ? UINT64_MAX : w->last;
    if (w->cap - w->n < n && !make_room(w, n)) return false;
    if (!u->item && !keep_run(w, u)) return false;
    if (!u->is_taken) {
        for (; u->item < n && (u->start = view_run_stamp(run, items[u->item].start)) <= most; u->item++) {
            dl_event e;
            view_run_event(run, u->item, &e);
            if (!take_event(w, u, &e)) return false;
        }
        return true;
    }
    uint32_t item = u->item;
    view_place *to = w->places + w->n, *const first = to;
    for (; item < n; item++, to++) {
        u->start = view_run_stamp(run, items[item].start);
        if (u->start > most) break;
        *to = (view_place){u->start, u->slot, item};
    }
    u->item = item;
    w->n += (uint32_t)(to - first);
    while (to > first && to[-1].cycle > w->last)
        to--;
    w->n_inside += (uint32_t)(to - first);
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

static void end_and_track(const window *w, const view_place *p, uint64_t *end, uint32_t *track)
{
    if (view_is_of_run(p)) {
        const view_taken *const run = run_at(w, p->slot);
        *end = run->start + run->stamps[run->items[p->what].end];
        *track = run->track;
    } else {
        *end = item_at(w, p->slot)->end_cycle;
        *track = item_at(w, p->slot)->track;
    }
}

/* Of one start: the longer first, then by track; then those that have no lane yet by depth and line. */
static bool comes_after(const window *w, const view_place *pa, const view_place *pb)
{
    uint64_t a_end, b_end;
    uint32_t a_track, b_track;
    end_and_track(w, pa, &a_end, &a_track);
    end_and_track(w, pb, &b_end, &b_track);
    if (a_end != b_end) return a_end < b_end;
    if (a_track != b_track) return a_track > b_track;
    if (pa->what <= VIEW_ITEM || pa->what == pb->what) return false; /* there is no other sequence */
    const dl_view_item *a = item_at(w, pa->slot), *b = item_at(w, pb->slot);
    if ((a->depth ^ b->depth) & 511) return (a->depth & 511) > (b->depth & 511);
    return a->line != b->line ? a->line > b->line : pa->what > pb->what;
}

/* Of one start; those that are alike stay as they are. There may be as many as the log has events. */
static void sort_ties(const window *w, view_place *p, view_place *other, uint32_t n)
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
        const view_place one = p[i];
        uint32_t at = i;
        for (; at && comes_after(w, &p[at - 1], &one); at--)
            p[at] = p[at - 1];
        p[at] = one;
    }
}

static void swap(view_place *a, view_place *b)
{
    const view_place was = *a;
    *a = *b;
    *b = was;
}

static unsigned bits_of(uint64_t span)
{
    unsigned bits = 1;
    while (bits < 64 && span >> bits)
        bits++;
    return bits;
}

/* Into `others`, by the digit that begins at bit `shift`, and counts the next for who has a use for it. */
ALWAYS_INLINE void move(window *w, uint32_t n, unsigned shift, unsigned width, uint32_t *ends, uint32_t *next)
{
    const uint64_t from = w->from;
    const uint32_t mask = (1u << width) - 1;
    view_place *const to = w->others;
    for (uint32_t d = 0, at = 0; d <= mask; d++) {
        const uint32_t here = ends[d];
        ends[d] = at;
        at += here;
    }
    for (const view_place *p = w->places, *end = p + n; p < end; p++) {
        const uint64_t digits = (p->cycle - from) >> shift;
        to[ends[digits & mask]++] = *p;
        if (next) next[digits >> width & mask]++;
    }
    w->others = w->places;
    w->places = to;
}

/* What is in the window, in order, into `places`, and how many that is; what is behind it into `rest`, as it was taken. By one digit
 * after the other, of as many bits as do with the fewest of them. */
static uint32_t sort_window(window *w, uint32_t *n_rest)
{
    const uint64_t from = w->from, span = w->last - from;
    const unsigned bits = bits_of(span), n_digits = (bits + DIGIT_BITS - 1) / DIGIT_BITS,
                   width = (bits + n_digits - 1) / n_digits;
    const uint32_t mask = (1u << width) - 1;
    uint32_t counts[2][1 << DIGIT_BITS], n = 0, rest = 0;
    for (unsigned i = 0; i < 2; i++)
        memset(counts[i], 0, (mask + 1) * sizeof *counts[i]);
    const view_place *p = w->places, *const end = p + w->n;
    for (uint64_t behind; p < end && (behind = p->cycle - from) <= span; p++) {
        counts[0][behind & mask]++;
        counts[1][behind >> width & mask]++;
    }
    for (n = (uint32_t)(p - w->places); p < end; p++) {
        const uint64_t behind = p->cycle - from;
        if (behind > span) {
            w->rest[rest++] = *p;
        } else {
            counts[0][behind & mask]++;
            counts[1][behind >> width & mask]++;
            w->places[n++] = *p;
        }
    }
    *n_rest = rest;
    for (unsigned i = 0; i + 1 < n_digits; i++) {
        move(w, n, i * width, width, counts[i % 2], i ? counts[!(i % 2)] : NULL);
        memset(counts[i % 2], 0, (mask + 1) * sizeof *counts[0]);
    }
    move(w, n, (n_digits - 1) * width, width, counts[!(n_digits % 2)], NULL);
    view_place *first = w->places, *const behind = first + n;
    for (view_place *next = first + 1; next < behind; first = next++) {
        if (next->cycle != first->cycle) continue;
        while (++next < behind && next->cycle == first->cycle)
            ;
        if (next - first > 2)
            sort_ties(w, first, w->others, (uint32_t)(next - first));
        else if (comes_after(w, first, first + 1))
            swap(first, first + 1);
    }
    return n;
}

/* The lane of an item that has none yet: all that begins before it on its track has. *shown is false where there is none. */
static bool place_late(window *w, dl_view_item *item, bool *shown)
{
    const dl_event e = {.start = item->cycle,
                        .end = item->end_cycle,
                        .depth = item->depth,
                        .kind = item->kind == DL_VIEW_LAUNCH ? (uint8_t)VIEW_EVENT_LAUNCH : item->kind};
    if (!view_place_event(w->view, &e, &w->view->lanes[item->track], &item->lane, &item->depth)) return false;
    *shown = item->lane != VIEW_NO_LANE;
    w->n_late--;
    return true;
}

/* Gives those their lanes that have none yet, and forgets those for which there is none. */
static devlog_status place_all_late(window *w, uint32_t *n, devlog_error *err)
{
    view_place *to = w->places;
    w->places[*n].what = UINT32_MAX; /* for which there is room */
    for (const view_place *p = to, *end = p + *n, *from = p;; from = ++p) {
        while (p->what <= VIEW_ITEM)
            p++;
        if (to != from) memmove(to, from, (size_t)(p - from) * sizeof *p);
        to += p - from;
        if (p == end) break;
        bool shown;
        if (!place_late(w, item_at(w, p->slot), &shown)) return no_memory(err);
        if (shown) *to++ = *p;
    }
    *n = (uint32_t)(to - w->places);
    return DEVLOG_OK;
}

static devlog_status give_items(dl_view *v, const view_window *all, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < all->n && !status; i++) {
        v->batch[v->n_batch++] = view_window_item(all, &all->places[i]);
        if (v->n_batch == VIEW_BATCH) status = view_flush(v, err);
    }
    return status;
}

/* Where runs and items were of which all has been handed on is free. */
static void forget(slots *s, const window *w, const bool are_runs)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < s->n_live; i++) {
        const uint32_t slot = s->live[i];
        if ((are_runs ? run_at(w, slot)->last : item_at(w, slot)->cycle) <= w->last)
            s->free[s->n_free++] = slot;
        else
            s->live[live++] = slot;
    }
    s->n_live = live;
}

/* Hands on what is in the window, in order, and keeps the rest. */
static devlog_status give_window(window *w, devlog_error *err)
{
    uint32_t n_rest, n = sort_window(w, &n_rest);
    devlog_status status = w->n_late ? place_all_late(w, &n, err) : DEVLOG_OK;
    const view_window all = {w->places, n, w->items.at, w->runs.at};
    dl_view *const v = w->view;
    if (!status && v->sink.window) {
        status = view_flush(v, err);
        if (!status) status = v->sink.window(v->sink.ctx, &all, err);
    } else if (!status) {
        status = give_items(v, &all, err);
    }
    forget(&w->runs, w, true);
    forget(&w->items, w, false);
    view_place *const given = w->places;
    w->places = w->rest;
    w->rest = given;
    w->n = n_rest;
    return status;
}

/* Where the next window begins; false: there is nothing more. */
static bool find_start(window *w, const upcoming *all, size_t n)
{
    bool any = w->n > 0;
    uint64_t from = any ? w->places[0].cycle : 0;
    for (uint32_t i = 1; i < w->n; i++)
        if (w->places[i].cycle < from) from = w->places[i].cycle;
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
            w->n_inside += w->places[i].cycle <= w->last;
        for (size_t i = 0; i < n && !status; i++)
            status = take(w, &all[i], err);
        if (!status) status = give_window(w, err);
        span = w->last - w->from;
        if (w->n_inside < WINDOW / 4) span = span * 2 + 1;
    }
    return status;
}

/* Words for a run of any of the shapes that there are. */
static uint32_t size_of_run(const view_shapes *shapes)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < shapes->n; i++)
        if (shapes->by_number[i] && shapes->by_number[i]->n_marks > most)
            most = shapes->by_number[i]->n_marks;
    return (uint32_t)(sizeof(view_taken) + most * sizeof(uint32_t) + 7) / 8;
}

/* Which runs of a track are kept themselves: dl_cycles_to_ns of few cycles is one division. None where zones of another
 * sequence may be around them. */
static uint64_t kept_below(const view_axis *axis, bool is_track)
{
    const uint64_t few = UINT64_C(1) << 43;
    if (!is_track || axis->by_clock || axis->freq_khz >= few) return 0;
    return axis->freq_khz ? few - UINT32_MAX : UINT64_MAX;
}

devlog_status view_merge_by_time(void *ctx, view_reader *readers, size_t n, devlog_error *err)
{
    window w = {.view = ctx, .items.size = sizeof(dl_view_item) / 8};
    upcoming *all = calloc(n, sizeof *all);
    devlog_status status = all && make_room(&w, 1) ? DEVLOG_OK : no_memory(err);
    w.runs.size = size_of_run(&w.view->spool.shapes);
    for (size_t i = 0; i < n && !status; i++) {
        const view_spool *const spool = readers[i].spool;
        const view_sequence *const of = readers[i].of;
        const bool is_first = &spool->sequences[spool->sources[of->source] - 1] == of;
        all[i].reader = &readers[i];
        all[i].sequence = (uint32_t)i;
        all[i].is_track = is_first && !of->next;
        status = move_on(&all[i], err);
        if (status || all[i].is_done) continue;
        all[i].track =
            all[i].run ? w.view->track_of_stream[of->stream] : view_track_of(w.view, &all[i].event);
        const uint64_t khz = w.view->axes[all[i].track].freq_khz;
        all[i].freq_khz = khz == 1000000 ? 0 : khz; /* as Wormhole's */
        all[i].kept_below = kept_below(&w.view->axes[all[i].track], all[i].is_track);
    }
    if (!status) status = each_window(&w, all, n, err);
    free(all);
    free_window(&w);
    return status;
}
