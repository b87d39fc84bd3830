/* Whether two groups of samples differ by more than chance makes them: tests that assume nothing of how the
 * samples are distributed, only that without a difference any of them could be in either group. Used by the
 * diff; knows nothing of what is compared. */
#ifndef DEVLOG_ANSWERS_RANK_TEST_H
#define DEVLOG_ANSWERS_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>

/* So many samples together are tested exactly: all ways to divide them are counted. */
enum { RANK_TEST_EXACT = 50 };

/* Room for the tests, so that many of them allocate once. Zero-initialise; free with rank_test_free. */
typedef struct rank_test {
    double *ways;                            /* how many ways to choose k ranks that add up to s */
    struct rank *sorted;                     /* both groups, ascending */
    size_t n_ways, n_sorted, kept_x, kept_y; /* kept: the numbers of samples without ties that `ways` is of */
} rank_test;

/* Mann-Whitney's U, two-sided: the probability that chance alone divides these samples at least so unevenly.
 * Ties have the mean of their ranks. Up to RANK_TEST_EXACT samples it is exact, by all ways to divide the
 * samples that there are, ties included; above, the normal approximation with its corrections for ties and
 * continuity. 1 when a group is empty or all samples are equal. *higher, which may be NULL: how much more
 * often a sample of `y` is above one of `x` than below, -1 to 1. Negative: no memory. */
double rank_test_u(rank_test *t, const double *x, size_t n_x, const double *y, size_t n_y, double *higher);

/* The quantile test, one-sided: the probability that chance alone puts at least as many of the greatest
 * samples into `y`. The greatest are the upper 1 - q of all, ties with the least of them included. Exact
 * (hypergeometric). *least, which may be NULL: what it is when all of them are in `y`. Negative: no memory. */
double rank_test_tail(rank_test *t, const double *x, size_t n_x, const double *y, size_t n_y, double q,
                      double *least);

/* What rank_test_u gives at least for so many samples, however far they are apart. */
double rank_test_least(size_t n_x, size_t n_y);

void rank_test_free(rank_test *t);

/* Holm's correction of n probabilities in place, each for being the smallest of those that are left: whoever
 * takes those up to `a` for real is wrong about any of them with a probability of at most `a`. False: no
 * memory. */
bool rank_test_holm(double *p, size_t n);

/* Sorts ascending. */
void rank_test_sort(double *values, size_t n);

/* The value that a share q of the sorted values does not exceed, by nearest rank; 0 of none. */
double rank_test_quantile(const double *sorted, size_t n, double q);
double rank_test_median(const double *sorted, size_t n);

#endif
