/* Runs as bytes: what a spool keeps of a run whose shape is known (dl_run.items): its first stamp, and how far the others are
 * behind it; the rest is the shape's, and kept once. Its events are made of it one by one, in the order of their starts.
 * Events by themselves: view_events.h. */
#ifndef DEVLOG_REPORT_VIEW_RUNS_H
#define DEVLOG_REPORT_VIEW_RUNS_H

#include <stdbool.h>

#include "decode/run.h"
#include "report/view_events.h"

enum {
    VIEW_RUN_MARKS = 128, /* runs of more are kept as events */
    VIEW_RUN_BYTES = sizeof(view_short) + VIEW_RUN_MARKS * sizeof(uint32_t),
};

typedef struct view_shape_item {
    uint32_t site, timer_id;
    uint8_t start, end;  /* places of marks */
    uint8_t line, depth; /* of dl_run_item */
    uint8_t kind;        /* dl_event_kind */
} view_shape_item;

typedef struct view_shape {
    uint32_t number, n_marks;
    uint32_t n, n_open;
    const view_shape_item *items; /* in the order of their starts */
    const uint8_t *open; /* of the items: the last zone and those that it is in, from the outside in */
} view_shape;

/* Zero-initialised is empty. */
typedef struct view_shapes {
    view_shape **by_number;
    uint32_t n;
} view_shapes;

void view_shapes_free(view_shapes *s);
/* The shape of a run with items; NULL: out of memory, or it has too many marks. */
const view_shape *view_shapes_of(view_shapes *s, const dl_run *run, const dl_tables *tables);

/* A run in hand. */
typedef struct view_run {
    const view_shape *shape;
    const uint8_t *stamps; /* of each mark, in 4 bytes: cycles behind the first */
    uint64_t start;        /* of the first */
    uint32_t launch, line, line_step;
    bool is_plain; /* each zone takes time: so it lies in those in which the shape says that it lies */
} view_run;

static inline uint64_t view_run_stamp(const view_run *run, uint8_t place)
{
    uint32_t behind;
    memcpy(&behind, run->stamps + place * sizeof behind, sizeof behind);
    return run->start + behind;
}

static inline void view_run_event(const view_run *run, uint32_t i, dl_event *e)
{
    const view_shape_item *item = &run->shape->items[i];
    *e = (dl_event){.start = view_run_stamp(run, item->start),
                    .end = view_run_stamp(run, item->end),
                    .site = item->site,
                    .launch = run->launch,
                    .timer_id = item->timer_id,
                    .line = run->line + run->line_step * item->line,
                    .depth = item->depth,
                    .kind = item->kind};
}

/* What comes before the stamps; false: it is too far from what came before it. */
static inline bool view_run_put_head(uint8_t *to, const view_shape *shape, uint64_t start, uint32_t launch,
                                     uint32_t line, uint32_t line_step, bool is_plain, view_before *before)
{
    const uint64_t behind = start - before->start;
    const uint32_t lines = line - before->line + VIEW_LINES,
                   launches = launch - before->launch + VIEW_LAUNCHES;
    if (behind >> 32 || lines >= 2 * VIEW_LINES || launches >= 2 * VIEW_LAUNCHES) return false;
    const view_short s = {shape->number << VIEW_HAS_BITS | VIEW_IS_RUN | (is_plain ? VIEW_IS_PLAIN : 0),
                          (uint32_t)behind, line_step, lines << 8 | launches};
    *before = (view_before){start, launch, line, 0};
    memcpy(to, &s, sizeof s);
    return true;
}

/* Whether a run's events have the order of the shape's items although some of its marks are of one time; *is_plain is of
 * view_run, true until then. */
bool view_run_is_in_order(const view_shape *shape, const dl_mark *marks, bool *is_plain);

/* Writes a run of this shape at `to`, where there are view_run_bytes(shape). Returns the place behind; NULL, when its stamps are
 * such that its events have another order than the shape's items, or too far from what came before to be told by the
 * difference. */
static inline uint8_t *view_run_put(uint8_t *to, const view_shape *shape, const dl_run *run,
                                    view_before *before)
{
    const dl_mark *mark = run->marks, *const end = mark + shape->n_marks;
    const uint64_t first = mark->time;
    uint8_t *at = to + sizeof(view_short);
    const uint32_t none = 0;
    memcpy(at, &none, sizeof none);
    at += sizeof none;
    uint32_t same = 0, last = 0;
    for (mark++; mark < end; mark++, at += sizeof(uint32_t)) {
        const uint32_t behind = (uint32_t)mark->time - (uint32_t)first;
        memcpy(at, &behind, sizeof behind);
        same += behind == last;
        last = behind;
    }
    bool is_plain = true;
    if (same && !view_run_is_in_order(shape, run->marks, &is_plain)) return NULL;
    const bool told =
        view_run_put_head(to, shape, first, run->launch, run->line, run->line_step, is_plain, before);
    return told ? at : NULL;
}
/* The same of a run that was kept. */
uint8_t *view_run_put_again(uint8_t *to, const view_run *run, view_before *before);

static inline uint32_t view_run_bytes(const view_shape *shape)
{
    return (uint32_t)(sizeof(view_short) + shape->n_marks * sizeof(uint32_t));
}

/* Of bytes that begin with a view_short that is a run. */
static inline const uint8_t *view_run_get(const uint8_t *from, const view_shapes *shapes, view_before *before,
                                          view_run *run)
{
    view_short s;
    memcpy(&s, from, sizeof s);
    const view_shape *shape = shapes->by_number[s.form >> VIEW_HAS_BITS];
    *before = (view_before){before->start + s.start, before->launch + (s.line & 255) - VIEW_LAUNCHES,
                            before->line + (s.line >> 8) - VIEW_LINES, 0};
    from += sizeof s;
    *run = (view_run){shape,        from,     before->start,         before->launch,
                      before->line, s.length, s.form & VIEW_IS_PLAIN};
    return from + shape->n_marks * sizeof(uint32_t);
}

#endif
