/* A window of time: items of all tracks of a chip, in order, as a sink may have them (dl_view_sink.window). Those of runs of
 * a known shape are not made: there is the run, and which of its shape's items it is. Not for how windows come about:
 * view_time.c. */
#ifndef DEVLOG_REPORT_VIEW_WINDOW_H
#define DEVLOG_REPORT_VIEW_WINDOW_H

#include "report/view.h"

/* A run of which items are in the window: all of it nests in the first lane of its track, each as deep as its shape says. */
typedef struct view_taken {
    const view_shape_item *items;
    uint64_t start;          /* of the first mark, in cycles */
    uint64_t freq_khz, half; /* of its clock; 0: times are cycles */
    uint64_t last;           /* where the last of its items starts */
    uint32_t launch, line, line_step, track;
    uint32_t stamps[]; /* of each mark: cycles behind the first */
} view_taken;

/* Of an item. */
typedef struct view_place {
    uint64_t cycle;
    uint32_t slot; /* where it, or its run, lies: in words of eight bytes */
    uint32_t
        what; /* its number in its run; VIEW_ITEM: it is a dl_view_item; more: one whose lane is not known yet */
} view_place;
enum { VIEW_ITEM = VIEW_RUN_MARKS };

typedef struct view_window {
    const view_place *places;
    size_t n;
    const uint64_t *items, *runs;
} view_window;

static inline bool view_is_of_run(const view_place *p)
{
    return p->what < VIEW_ITEM;
}
static inline const view_taken *view_taken_of(const view_window *w, const view_place *p)
{
    return (const view_taken *)(const void *)(w->runs + p->slot);
}
static inline const dl_view_item *view_item_of(const view_window *w, const view_place *p)
{
    return (const dl_view_item *)(const void *)(w->items + p->slot);
}
static inline uint64_t view_taken_time(const view_taken *run, uint64_t cycle)
{
    return run->freq_khz ? (cycle * 1000000 + run->half) / run->freq_khz
                         : cycle; /* dl_cycles_to_ns of few cycles */
}

/* An item that is in the window, as it is without this. */
static inline dl_view_item view_window_item(const view_window *w, const view_place *p)
{
    if (!view_is_of_run(p)) return *view_item_of(w, p);
    const view_taken *const run = view_taken_of(w, p);
    const view_shape_item *const of = &run->items[p->what];
    const uint64_t end_cycle = run->start + run->stamps[of->end];
    return (dl_view_item){.start = view_taken_time(run, p->cycle),
                          .end = view_taken_time(run, end_cycle),
                          .cycle = p->cycle,
                          .end_cycle = end_cycle,
                          .track = run->track,
                          .site = of->site,
                          .launch = run->launch,
                          .timer_id = of->timer_id,
                          .line = run->line + run->line_step * of->line,
                          .depth = of->depth,
                          .kind = of->kind}; /* which are numbered alike */
}

#endif
