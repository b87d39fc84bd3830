/* A spool: events put away as they come, and given back in an order that is chosen at the end, as often as
 * wanted. What does not fit into its memory waits in an unlinked temporary file; where there is no room for
 * that, an owner who has said so does with fewer events. */
#ifndef DEVLOG_REPORT_VIEW_SPOOL_H
#define DEVLOG_REPORT_VIEW_SPOOL_H

#include <stdbool.h>

#include "decode/event.h"

/* What events are sorted by: `major` first, then `start`, then the larger `end`, then `minor`, then the order
 * in which they came. */
typedef struct view_key {
    uint64_t start, end, minor;
    uint32_t major;
} view_key;

typedef void view_key_fn(void *ctx, const dl_event *e, view_key *out);
typedef devlog_status view_event_fn(void *ctx, const dl_event *e, devlog_error *err);

/* What a spool may ask, when it is full, of an owner who can do without some of the events: whether one is
 * still wanted; and, when there is no room in the temporary file, to want no more than `most` events of all.
 */
typedef struct view_spool_owner {
    void *ctx;
    bool (*wants)(void *ctx, const dl_event *e);
    void (*want_less)(void *ctx, size_t most);
} view_spool_owner;

typedef struct view_spool {
    view_spool_owner owner; /* zero: every event is wanted */
    bool picked;            /* what is in memory has been asked for since it was full last */
    dl_event *events;       /* the part in memory */
    size_t n, cap, max;
    uint64_t total;
    int fd;             /* -1: everything is in memory */
    uint64_t unfit;     /* events that are wanted and for which there was no room */
    uint64_t n_spilled; /* events in the file, in parts of `max` */
} view_spool;

/* `memory`: bytes that it may take, sorting included. */
void view_spool_init(view_spool *s, size_t memory);
void view_spool_free(view_spool *s);
void view_spool_clear(view_spool *s);
devlog_status view_spool_add(view_spool *s, const dl_event *events, size_t n, devlog_error *err);
/* Calls `each` for every event in order. Nothing may be added while it runs. */
devlog_status view_spool_run(view_spool *s, view_key_fn *key, void *key_ctx, view_event_fn *each, void *ctx,
                             devlog_error *err);

#endif
