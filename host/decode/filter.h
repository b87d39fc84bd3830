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
    uint64_t from, to;      /* cycles; an event is kept when it touches this window; to == 0: no end */
    uint64_t min_cycles;    /* shorter zones are left out */
    uint64_t skip_launches; /* leave out the first so many of each chip */
} dl_filter;

bool dl_filter_stream(const dl_filter *f, const dl_tables *t, const dl_stream *s);
bool dl_filter_site(const dl_filter *f, const dl_tables *t, const dl_site *s);
bool dl_filter_launch(const dl_filter *f, const dl_launch *l);
/* Whether `text` matches `pattern`: equal, or beginning with it when it ends in '*'. */
bool dl_filter_match(const char *pattern, const char *text);

static inline bool dl_filter_time(const dl_filter *f, uint64_t start, uint64_t end)
{
    return end >= f->from && (f->to == 0 || start <= f->to);
}

#endif
