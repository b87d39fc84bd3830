/* Events as bytes: what a spool keeps of an event, mostly sixteen bytes of the 64. What seldom changes together (site,
 * timer id, depth, kind, flags) is a form, which has a number; stamps, lines and launches are differences to the event
 * before. Not for files: bytes are read by the process that wrote them. */
#ifndef DEVLOG_REPORT_VIEW_EVENTS_H
#define DEVLOG_REPORT_VIEW_EVENTS_H

#include <string.h>

#include "decode/event.h"

enum { VIEW_EVENT_BYTES = 80 }; /* no event takes more */

typedef struct view_form {
    uint32_t site, timer_id;
    uint16_t depth;
    uint8_t kind, flags;
    uint32_t follows; /* the form that came after it last; no part of it */
} view_form;

/* Zero-initialised is empty; the first form is none. */
typedef struct view_forms {
    view_form *items;
    uint32_t n, cap;
    uint32_t *slots, n_slots; /* hash table: numbers */
} view_forms;

void view_forms_free(view_forms *f);
uint32_t view_forms_find(view_forms *f, const dl_event *e, uint32_t before);

static inline bool view_is_form(const view_form *f, const dl_event *e)
{
    return f->site == e->site && f->timer_id == e->timer_id && f->depth == e->depth && f->kind == e->kind &&
           f->flags == e->flags;
}

/* The number of an event's form, where that of the event before it was `before`, or 0; 0: out of memory, or of numbers. */
static inline uint32_t view_forms_add(view_forms *f, const dl_event *e, uint32_t before)
{
    const uint32_t expected = f->n ? f->items[before].follows : 0;
    if (expected && view_is_form(&f->items[expected], e)) return expected;
    return view_forms_find(f, e, before);
}

/* What an event is told by the difference to: the event before it. Zero at the beginning. */
typedef struct view_before {
    uint64_t start;
    uint32_t launch, line, form;
} view_before;

/* Most events; with 8 bytes more for their data, and for meta data and cost together, where they have such. One of no
 * form has all of itself behind the first member. */
typedef struct view_short {
    uint32_t form; /* its number, above VIEW_HAS_BITS */
    uint32_t start, length;
    uint32_t line; /* difference + VIEW_LINES, above the difference of the launch + VIEW_LAUNCHES, one byte */
} view_short;

enum {
    VIEW_HAS_DATA = 1,
    VIEW_HAS_MORE = 2,
    VIEW_IS_PLAIN = 1, /* of a run */
    VIEW_IS_RUN = 4,   /* it is none of these: view_runs.h */
    VIEW_HAS_BITS = 3,
    VIEW_LINES = 1 << 23,
    VIEW_LAUNCHES = 1 << 7,
};

/* Returns the place behind. `stream` is not written. */
static inline uint8_t *view_event_put(uint8_t *to, const dl_event *e, uint32_t form, view_before *before)
{
    const uint64_t start = e->start - before->start, length = e->end - e->start;
    const uint32_t line = e->line - before->line + VIEW_LINES,
                   launch = e->launch - before->launch + VIEW_LAUNCHES;
    *before = (view_before){e->start, e->launch, e->line, form};
    if (!form || (start | length) >> 32 || line >= 2 * VIEW_LINES || launch >= 2 * VIEW_LAUNCHES) {
        const uint32_t none = 0;
        memcpy(to, &none, sizeof none);
        memcpy(to + sizeof none, e, sizeof *e);
        return to + sizeof none + sizeof *e;
    }
    const bool more = e->meta || e->own_cost;
    const view_short s = {form << VIEW_HAS_BITS | (more ? VIEW_HAS_MORE : 0) | (e->data ? VIEW_HAS_DATA : 0),
                          (uint32_t)start, (uint32_t)length, line << 8 | launch};
    memcpy(to, &s, sizeof s);
    to += sizeof s;
    if (e->data) {
        memcpy(to, &e->data, sizeof e->data);
        to += sizeof e->data;
    }
    if (more) {
        const uint32_t both[2] = {e->meta, e->own_cost};
        memcpy(to, both, sizeof both);
        to += sizeof both;
    }
    return to;
}

static inline const uint8_t *view_event_get(const uint8_t *from, const view_forms *f, view_before *before,
                                            dl_event *e)
{
    view_short s;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): only what was put is got */
    memcpy(&s, from, sizeof s); /* there are as many bytes of any event */
    if (!s.form) {
        memcpy(e, from + sizeof s.form, sizeof *e);
        *before = (view_before){e->start, e->launch, e->line, 0};
        return from + sizeof s.form + sizeof *e;
    }
    const view_form *form = &f->items[s.form >> VIEW_HAS_BITS];
    const uint64_t start = before->start + s.start;
    *before = (view_before){start, before->launch + (s.line & 255) - VIEW_LAUNCHES,
                            before->line + (s.line >> 8) - VIEW_LINES, 0};
    from += sizeof s;
    *e = (dl_event){.start = start,
                    .end = start + s.length,
                    .site = form->site,
                    .launch = before->launch,
                    .timer_id = form->timer_id,
                    .line = before->line,
                    .depth = form->depth,
                    .kind = form->kind,
                    .flags = form->flags};
    if (s.form & VIEW_HAS_DATA) {
        memcpy(&e->data, from, sizeof e->data);
        from += sizeof e->data;
    }
    if (s.form & VIEW_HAS_MORE) {
        memcpy(&e->meta, from, sizeof e->meta);
        memcpy(&e->own_cost, from + sizeof e->meta, sizeof e->own_cost);
        from += sizeof e->meta + sizeof e->own_cost;
    }
    return from;
}

#endif
