/* What the spool's files share: view_spool.c (putting away), view_spool_run.c (giving back). */
#ifndef DEVLOG_REPORT_VIEW_SPOOL_INTERNAL_H
#define DEVLOG_REPORT_VIEW_SPOOL_INTERNAL_H

#include "report/view_spool.h"

typedef struct chunk {
    struct chunk *next;
    uint32_t n, cap;
    uint8_t bytes[];
} chunk;

/* Bytes of the file. */
typedef struct extent {
    uint64_t at, n;
} extent;

/* Events in order, but for those of the last sequence that a source may have: first those in the file, extent by
 * extent, then those in memory. */
typedef struct view_sequence {
    uint32_t source, stream;
    uint32_t next;       /* of the same source; 0: none */
    bool disordered;     /* the last that a source may have, in no order */
    uint64_t start, end; /* of the last event */
    uint32_t line;
    uint16_t depth;
    view_before before; /* begins anew with each extent, and in memory */
    chunk *first, *last;
    extent *extents;
    uint32_t n_extents;
} view_sequence;

/* Reads a sequence. Zeroes but for `spool` and `of`, and what it may take for blocks of the file. */
typedef struct view_reader {
    const view_spool *spool;
    const view_sequence *of;
    size_t room;
    const uint8_t *at, *end;
    uint8_t *buffer;
    uint32_t extent; /* the one in hand, or, behind the last, the memory */
    uint64_t taken;  /* bytes of it that have been read from the file */
    const chunk *chunk;
    bool begun;
    view_before before;
    view_run run;  /* in hand */
    uint32_t item; /* the next of it; behind the last when none is in hand */
} view_reader;

/* The next event; *any is false behind the last. */
devlog_status view_reader_next(view_reader *r, dl_event *e, bool *any, devlog_error *err);
/* The next event, or the next run; not between the events of a run. *e is the first event then. */
devlog_status view_reader_next_whole(view_reader *r, dl_event *e, const view_run **run, bool *any,
                                     devlog_error *err);
/* The same; *e is set only where there is no run. */
devlog_status view_reader_next_other(view_reader *r, dl_event *e, const view_run **run, bool *any,
                                     devlog_error *err);
static inline bool view_reader_is_at_run(const view_reader *r)
{
    uint32_t form;
    /* Where an entry may be cut, there is more of it, or it ends the block. */
    if (r->begun ? r->at == r->end : r->end - r->at < VIEW_RUN_BYTES) return false;
    memcpy(&form, r->at, sizeof form);
    return form & VIEW_IS_RUN;
}
static inline devlog_status view_reader_next_part(view_reader *r, dl_event *e, const view_run **run,
                                                  bool *any, devlog_error *err)
{
    if (!view_reader_is_at_run(r)) return view_reader_next_other(r, e, run, any, err);
    r->at = view_run_get(r->at, &r->spool->shapes, &r->before, &r->run);
    r->item = r->run.shape->n;
    *run = &r->run;
    *any = true;
    return DEVLOG_OK;
}
void view_reader_free(view_reader *r);

/* Reads or writes the spool's file. */
devlog_status view_spool_transfer(int fd, bool out, void *bytes, size_t n, uint64_t at, devlog_error *err);

#endif
