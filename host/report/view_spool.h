/* A spool: events put away as they come, and given back in an order that is chosen at the end, as often as
 * wanted. Events of one source (a RISC) come nearly in order of their starts, so they are put into few sequences that
 * are in order, as bytes (view_events.h; view_runs.h), and merged when they are given back. What does not fit into the memory waits
 * in an unlinked temporary file; where there is no room for that, an owner who has said so does with fewer events. */
#ifndef DEVLOG_REPORT_VIEW_SPOOL_H
#define DEVLOG_REPORT_VIEW_SPOOL_H

#include <stdbool.h>

#include "report/view_runs.h"

/* What events are sorted by: `major` first, which all events of a source have in common, then `start`, then the larger
 * `end`, then `minor`, then the order in which they came. */
typedef struct view_key {
    uint64_t start, end, minor;
    uint32_t major;
} view_key;

typedef void view_key_fn(void *ctx, const dl_event *e, view_key *out);

/* Who takes the events. `run`, where it is not NULL, is called instead for a run that was added as one and has nothing
 * else of its major beside it. */
typedef struct view_spool_sink {
    void *ctx;
    devlog_status (*event)(void *ctx, const dl_event *e, devlog_error *err);
    devlog_status (*run)(void *ctx, const view_run *run, uint32_t stream, devlog_error *err);
} view_spool_sink;

struct view_reader;

typedef struct view_spool_order {
    view_key_fn *key; /* of which neither start nor end decreases when those of the event do not */
    void *ctx;
    /* The keys' start and end are the events' own, and those of one source are ordered by start, the larger end, depth,
     * line. */
    bool exact;
    /* Puts events of one major together and takes them, in place of the sink, where the order is exact and all
     * sequences are in order; or NULL. */
    devlog_status (*merge)(void *ctx, struct view_reader *readers, size_t n, devlog_error *err);
} view_spool_order;

/* What a spool may ask, when it is full, of an owner who can do without some of the events: whether one is
 * still wanted; and, when there is no room in the temporary file, to want no more than `most` events of all.
 */
typedef struct view_spool_owner {
    void *ctx;
    bool (*wants)(void *ctx, const dl_event *e);
    void (*want_less)(void *ctx, size_t most);
} view_spool_owner;

struct view_sequence;

typedef struct view_spool {
    view_spool_owner owner; /* zero: every event is wanted */
    bool picked;            /* what is in memory has been asked for since it was full last */
    view_forms forms;
    view_shapes shapes;
    struct view_sequence *sequences;
    uint32_t n_sequences, cap_sequences;
    uint32_t *sources, n_sources; /* the first sequence of each source + 1 */
    size_t bytes, max;            /* of the chunks in memory, and how many there may be */
    size_t reading;               /* bytes for blocks of the file */
    uint64_t total;
    uint64_t unfit;     /* events that are wanted and for which there was no room */
    int fd;             /* -1: everything is in memory */
    uint64_t n_spilled; /* bytes in the file */
} view_spool;

/* `memory`: bytes that it may take. */
void view_spool_init(view_spool *s, size_t memory);
void view_spool_free(view_spool *s);
void view_spool_clear(view_spool *s);
/* Events of a source, which all have its stream; sources are small numbers. */
devlog_status view_spool_add(view_spool *s, uint32_t source, const dl_event *events, size_t n,
                             devlog_error *err);
/* The same of the events of a run that has items, or the first n of them. */
devlog_status view_spool_add_run(view_spool *s, uint32_t source, const dl_run *run, size_t n,
                                 const dl_tables *tables, devlog_error *err);
/* Gives every event in order. Nothing may be added while it runs. */
devlog_status view_spool_run(view_spool *s, const view_spool_order *order, const view_spool_sink *sink,
                             devlog_error *err);

#endif
