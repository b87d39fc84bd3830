/* Samples: every duration of a zone, kept in 4 bytes each so that medians and percentiles are exact; and the
 * statistics of one or several sets of them. Durations of 2^32 - 1 cycles and more take 12 bytes. */
#ifndef DEVLOG_DECODE_SAMPLES_H
#define DEVLOG_DECODE_SAMPLES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/big.h"
#include "base/error.h"

__extension__ typedef unsigned __int128 dl_u128;

typedef struct dl_sample_chunk {
    struct dl_sample_chunk *next;
    uint32_t *end; /* of the values stored; the last chunk's is dl_samples.at */
    uint32_t values[];
} dl_sample_chunk;

/* Memory for the chunks of many sets, in large pieces; given back all at once. Zero-initialised is empty. With
 * `filed.folder`, what is more than some megabytes is in a file there (base/big.h). */
typedef struct dl_sample_pool {
    char *at, *end; /* of the piece in hand */
    void **pieces;  /* in memory */
    uint32_t n_pieces, cap_pieces;
    dl_big_pieces filed;   /* its folder NULL: memory only */
    _Atomic uint32_t seen; /* chunks read since what is in the file was let go last */
} dl_sample_pool;

void dl_sample_pool_free(dl_sample_pool *p);
/* Bytes of its file. */
uint64_t dl_sample_pool_filed(const dl_sample_pool *p);

/* Zero-initialised is empty. */
typedef struct dl_samples {
    uint32_t *at, *limit; /* the next value's place, and the end of the chunk */
    dl_sample_chunk *first, *last;
    uint64_t *wide; /* the values that did not fit, in order */
    uint32_t n_wide, cap_wide;
    uint64_t before;          /* values in all chunks but the last */
    uint32_t next_size;       /* values in the next chunk */
    dl_sample_pool *pool;     /* where chunks come from; NULL: each is allocated by itself */
    const struct dl_far *far; /* other values of the set are in other processes (far.h), .. */
    uint32_t far_id;          /* .. by this number; NULL: there are none */
} dl_samples;

#define DL_WIDE UINT32_MAX /* stands for the next of `wide` */

bool dl_samples_grow(dl_samples *s);
bool dl_samples_add_wide(dl_samples *s, uint64_t value);
void dl_samples_free(dl_samples *s);
/* Puts the values of `from` behind those of `to`, without copying their chunks: what they are in must stay. `from` is
 * empty then. False: out of memory, and nothing has been done. */
bool dl_samples_take(dl_samples *to, dl_samples *from);
/* Bytes that it holds. */
size_t dl_samples_bytes(const dl_samples *s);

/* How many values there are. */
static inline uint64_t dl_samples_count(const dl_samples *s)
{
    return s->last ? s->before + (uint64_t)(s->at - s->last->values) : 0;
}

/* Whether values are known, here or elsewhere. */
static inline bool dl_samples_any(const dl_samples *s)
{
    return s->first || s->far;
}

/* False when out of memory. */
static inline bool dl_samples_add(dl_samples *s, uint64_t value)
{
    if (value >= DL_WIDE) return dl_samples_add_wide(s, value);
    if (s->at == s->limit && !dl_samples_grow(s)) return false;
    *s->at++ = (uint32_t)value;
    return true;
}

/* Walks through the values in the order in which they were added. */
typedef struct dl_sample_walk {
    const dl_samples *samples;
    const dl_sample_chunk *chunk;
    const uint32_t *at, *end;
    uint32_t wide;
} dl_sample_walk;

void dl_sample_walk_start(dl_sample_walk *w, const dl_samples *s);
/* To the next chunk that has values; false: there is none. */
bool dl_sample_walk_on(dl_sample_walk *w);
static inline bool dl_sample_walk_next(dl_sample_walk *w, uint64_t *value)
{
    if (w->at == w->end && !dl_sample_walk_on(w)) return false;
    *value = *w->at++;
    if (*value == DL_WIDE) *value = w->samples->wide[w->wide++];
    return true;
}

/* Exact statistics of a set of durations or values. */
typedef struct dl_summary {
    uint64_t count, min, max, first;
    dl_u128 sum;
    uint64_t median_low, median_high; /* the two in the middle; equal when the count is odd */
    uint64_t p50, p90, p95, p99;      /* nearest rank: a value that occurred */
} dl_summary;

/* Fills count, min, max, first and sum from all values. */
void dl_samples_totals(const dl_samples *s, dl_summary *totals);

double dl_summary_average(const dl_summary *s);
double dl_summary_median(const dl_summary *s);

/* Fills the median and percentiles of *s from the sets, whose count, min and max are already in *s. */
devlog_status dl_summary_quantiles(dl_summary *s, const dl_samples *const *sets, size_t n, devlog_error *err);
/* The same of all values, which have another order afterwards, or are lost. */
void dl_summary_quantiles_of(dl_summary *s, uint64_t *values);

#endif
