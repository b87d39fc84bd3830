/* Far samples: durations that stay in the processes which decoded them. Medians and percentiles of them are found by selection: in
 * each pass every process counts its values by their next DL_FAR_BITS bits, in ranges that are known to hold a wanted rank, and
 * the counts are added up. After at most (bits of the greatest difference) / DL_FAR_BITS passes the values are known, exactly. What
 * is sent does not depend on how many values there are. Not how counts are sent: mpi/far.c. */
#ifndef DEVLOG_DECODE_FAR_H
#define DEVLOG_DECODE_FAR_H

#include "decode/samples.h"

enum {
    DL_FAR_BITS = 10,
    DL_FAR_RANKS = 5, /* wanted at once, and so ranges at most */
    DL_FAR_COUNTS = DL_FAR_RANKS << DL_FAR_BITS,
};

/* Counted are values v with (v - min) >> (shift + bits) == prefixes[i], by the `bits` bits above bit `shift`. */
typedef struct dl_far_pass {
    uint64_t min, prefixes[DL_FAR_RANKS];
    uint32_t shift, bits, n;
    bool all; /* the first pass: all values are in the one range that there is */
} dl_far_pass;

/* A launch whose durations are wanted: of the part that has them, by its number there. */
typedef struct dl_far_launch {
    uint32_t part, launch;
    uint32_t place; /* by which the answer names it */
} dl_far_launch;

/* A duration of a launch; of the set with this far_id. */
typedef struct dl_far_sample {
    uint64_t cycles;
    uint32_t id, place;
} dl_far_sample;

typedef struct dl_far {
    void *ctx;
    /* The next passes are of these sets. */
    devlog_status (*begin)(void *ctx, const dl_samples *const *sets, size_t n, devlog_error *err);
    /* Counts of all processes, this one among them, in counts[i << bits | digit], which are 0. */
    devlog_status (*count)(void *ctx, const dl_far_pass *pass, uint64_t *counts, devlog_error *err);
    /* The durations of these launches in all processes, in any order; the caller frees them. */
    devlog_status (*launches)(void *ctx, const dl_far_launch *wanted, size_t n, dl_far_sample **samples,
                              size_t *n_samples, devlog_error *err);
} dl_far;

/* Adds the values of a set that is here. */
void dl_far_count(const dl_samples *set, const dl_far_pass *pass, uint64_t *counts);
/* The values of n ranks, which ascend and count from 0, of sets whose least and greatest values are known. */
devlog_status dl_far_select(const dl_far *far, const dl_samples *const *sets, size_t n_sets, uint64_t min,
                            uint64_t max, const uint64_t *ranks, uint64_t *values, uint32_t n,
                            devlog_error *err);

#endif
