/* Events as bytes: what a spool keeps of an event, about ten bytes of the 64, when most of it is as in the event before.
 * What seldom changes together (site, timer id, depth, kind, flags) is a form, which has a number; stamps, lines and
 * launches are differences. Not for files: bytes are read by the process that wrote them. */
#ifndef DEVLOG_REPORT_VIEW_EVENTS_H
#define DEVLOG_REPORT_VIEW_EVENTS_H

#include "decode/event.h"

enum { VIEW_EVENT_BYTES = 96 }; /* no event takes more */

typedef struct view_form {
    uint32_t site, timer_id;
    uint16_t depth;
    uint8_t kind, flags;
    uint32_t follows; /* the form that came after it last; no part of it */
} view_form;

/* Zero-initialised is empty; the first form is none. */
typedef struct view_forms {
    view_form *items;
    uint32_t n, cap, last;
    uint32_t *slots, n_slots; /* hash table: numbers */
} view_forms;

void view_forms_free(view_forms *f);
/* The number of an event's form; 0: out of memory, or of numbers, and the event is written with its form. */
uint32_t view_forms_add(view_forms *f, const dl_event *e);

/* What an event is told by the difference to: the event before it. Zero at the beginning. */
typedef struct view_before {
    uint64_t start;
    uint32_t launch, line;
} view_before;

/* Returns the place behind. `stream` is not written. */
uint8_t *view_event_put(uint8_t *to, const dl_event *e, uint32_t form, view_before *before);
const uint8_t *view_event_get(const uint8_t *from, const view_forms *f, view_before *before, dl_event *e);

#endif
