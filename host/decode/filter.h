/* Filters: what the user wants to see. Streams and zones are judged once each, rows and zones cheaply. */
#ifndef DEVLOG_DECODE_FILTER_H
#define DEVLOG_DECODE_FILTER_H

#include "decode/event.h"

typedef struct dl_filter_range {
    uint64_t low, high; /* both included */
} dl_filter_range;

typedef struct dl_filter_core {
    uint16_t x, y;
} dl_filter_core;

/* A launch as who asked for it knows it. DL_FILTER_OP: the launches of an op, whatever their own ids are. DL_FILTER_ANY: each.
 * DL_FILTER_CAPTURE: no launch, but what the host did when the trace was captured. */
typedef struct dl_filter_id {
    uint64_t id;      /* run host id; number from 0 in logs without ids; with DL_FILTER_OP an op */
    uint32_t chip;    /* or DL_FILTER_OP */
    uint32_t session; /* which replay of a trace, from 1; 0: none; or DL_FILTER_ANY, DL_FILTER_CAPTURE */
} dl_filter_id;

#define DL_FILTER_OP      UINT32_MAX
#define DL_FILTER_ANY     UINT32_MAX
#define DL_FILTER_CAPTURE (UINT32_MAX - 1)

/* Launches of a chip that are left out: a bit for each, by dl_launch.number. */
typedef struct dl_filter_skip {
    uint32_t chip;
    uint32_t n; /* of launches that the bits are of */
    uint64_t *bits;
} dl_filter_skip;

/* Zero-initialised lets everything through. Arrays are owned by the caller; an empty one means all. */
typedef struct dl_filter {
    const dl_filter_range *chips;
    size_t n_chips;
    const dl_filter_core *cores;
    size_t n_cores;
    const char *const *riscs; /* names; TRISC_0 and TRISC0 are the same; a trailing * is a prefix */
    size_t n_riscs;
    const char *const *zones; /* names; a trailing * is a prefix */
    size_t n_zones;
    const dl_filter_range *launches; /* run host ids, or launch numbers from 0 in logs without ids */
    size_t n_launches;
    const dl_filter_range *traces, *sessions; /* ids of traces, and which of their replays, from 1 */
    size_t n_traces, n_sessions;
    bool
        partly; /* launches that it leaves out are not read as a whole: what is wrong with them is not told */
    bool picks; /* only these launches: in the order of dl_filter_by_id */
    bool also;  /* these launches beside those that traces and sessions let through */
    const dl_filter_id *picked;
    size_t n_picked;
    /* Launches that are none of these are let through, whatever else is; none: all may be. Of an op of no chip of which launches are
     * told, DL_FILTER_OP and 0: it is of the host; DL_FILTER_ANY: of another device; DL_FILTER_CAPTURE: of whichever. */
    const dl_filter_id *told;
    size_t n_told;
    uint32_t told_shift;         /* ids are given one after the other, but for so many bits at their end */
    const dl_filter_skip *skips; /* chips that are not among them: nothing is left out */
    size_t n_skips;
    uint64_t from, to;      /* cycles; an event is kept when it touches this window; to == 0: no end */
    uint64_t min_cycles;    /* shorter zones are left out */
    uint64_t skip_launches; /* leave out the first so many of each chip, as the log has them */
} dl_filter;

bool dl_filter_stream(const dl_filter *f, const dl_tables *t, const dl_stream *s);
bool dl_filter_site(const dl_filter *f, const dl_tables *t, const dl_site *s);
bool dl_filter_launch(const dl_filter *f, const dl_tables *t, const dl_launch *l);
/* The same of a launch that no tables know: `chip` is its chip's id. */
bool dl_filter_launch_of(const dl_filter *f, uint32_t chip, const dl_launch *l);
/* Whether an id is among those that are picked; true when nothing is picked. */
bool dl_filter_picks(const dl_filter *f, uint64_t id, uint32_t chip, uint32_t session);
/* Whether a trace (DL_NO_ID: none) and its replay are among those that are asked for; true when none are. */
bool dl_filter_trace(const dl_filter *f, uint32_t trace, uint32_t session);
/* Which replay of its trace a launch is, from 1; 0: of no trace. By the count of the log, or, where that has
 * none, by how often the ids have come. */
uint32_t dl_filter_session(const dl_launch *l);
/* Whether a number is in one of the ranges; true when there are none. */
bool dl_filter_in(const dl_filter_range *ranges, size_t n, uint64_t value);
/* For qsort. */
int dl_filter_by_id(const void *a, const void *b);
/* Whether launches are chosen, whatever else is. */
bool dl_filter_of_launches(const dl_filter *f);
/* Whether `text` matches `pattern`: equal, or beginning with it when it ends in '*'. */
bool dl_filter_match(const char *pattern, const char *text);

static inline bool dl_filter_time(const dl_filter *f, uint64_t start, uint64_t end)
{
    return end >= f->from && (f->to == 0 || start <= f->to);
}

#endif
