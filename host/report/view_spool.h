/* A spool: events put away as they come, and given back in an order that is chosen at the end, as often as
 * wanted. What does not fit into its memory waits in an unlinked temporary file. */
#ifndef DEVLOG_REPORT_VIEW_SPOOL_H
#define DEVLOG_REPORT_VIEW_SPOOL_H

#include "decode/event.h"

/* What events are sorted by: `major` first, then `start`, then the larger `end`, then `minor`, then the order
 * in which they came. */
typedef struct view_key {
    uint64_t start, end, minor;
    uint32_t major;
} view_key;

typedef void view_key_fn(void *ctx, const dl_event *e, view_key *out);
typedef devlog_status view_event_fn(void *ctx, const dl_event *e, devlog_error *err);

typedef struct view_spool {
    dl_event *events; /* the part in memory */
    size_t n, cap, max;
    uint64_t total;
    int fd;             /* -1: everything is in memory */
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
