/* Where a series of figures changed: pure arithmetic, on numbers in the order of their runs.
 *
 * At every place between two of them those before are held against those behind by Mann-Whitney's U (two-sided, exact: of up to 50
 * around the place); the smallest probability, multiplied by the number of places (Bonferroni), is that of a change there, and with
 * it the series is divided, and each part again (binary segmentation). A series in which nothing changes, however it is distributed,
 * is divided with a probability of at most 1 - confidence. Slow drifts without a step are not looked for. */
#ifndef DEVLOG_ARCHIVE_CHANGE_H
#define DEVLOG_ARCHIVE_CHANGE_H

#include "answers/rank_test.h"

typedef struct change {
    size_t at;             /* the first figure after it */
    double p;              /* corrected for places */
    double before, behind; /* medians of the parts beside it */
} change;

/* The likeliest change of all; p is 1 when there is no place for one. False: no memory. */
bool change_likeliest(rank_test *t, const double *values, size_t n, change *out);
/* All changes whose p is at most `most`, in order; out has room for n. False: no memory. */
bool change_find(rank_test *t, const double *values, size_t n, double most, change *out, size_t *n_out);

#endif
