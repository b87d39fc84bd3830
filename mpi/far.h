/* Far samples by MPI: durations stay on the ranks that decoded them, and rank 0 asks for counts (decode/far.h). */
#ifndef DEVLOG_MPI_FAR_H
#define DEVLOG_MPI_FAR_H

#include "decode/decode.h"
#include "decode/far.h"
#include "team.h"

/* Parts of a log that one decoder has decoded on this rank. */
typedef struct far_part {
    dl_decode *decode; /* borrowed */
    uint32_t first, n;
} far_part;

/* The durations of one key of rank 0's on this rank, or some of them. */
typedef struct far_set {
    uint32_t id, part; /* the first one of those that its decoder has decoded */
    const dl_key *key;
} far_set;

/* Zero-initialised, but for the ranks. */
typedef struct far_samples {
    team *r;
    dl_far far;
    far_part *parts;
    uint32_t n_parts;
    dl_str dropped; /* rank 0: parts that were decoded again */
    far_set *sets;  /* by id */
    size_t n_sets, cap_sets;
    const dl_samples *const *asked; /* rank 0 */
    size_t n_asked;
    uint32_t *ids; /* of those that are asked for */
    size_t n_ids, cap_ids;
    uint32_t n_keys; /* that have durations on ranks */
    dl_str said;
    void (*hear)(void *ctx, const char *bytes,
                 size_t n); /* other ranks: something else that rank 0 says (far_tell) */
    void *ctx;
} far_samples;

/* Keeps the durations of what a decoder has decoded. */
void far_keep(far_samples *f, dl_decode *d, uint32_t first_part, uint32_t n_parts);
/* Rank 0: the durations of these parts do not count: they were decoded again. */
void far_drop(far_samples *f, uint32_t first_part, uint32_t n_parts);
/* Rank 0, when `d` has all and is finished: medians of it may be asked for, until far_end, which must come in any case. */
devlog_status far_begin(far_samples *f, dl_decode *d, devlog_error *err);
void far_end(far_samples *f);
/* Rank 0, in between: says something else to the others. */
void far_tell(far_samples *f, const dl_str *bytes);
/* Other ranks: answer until then. */
void far_serve(far_samples *f);
void far_free(far_samples *f);

#endif
