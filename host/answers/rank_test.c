/* Tests by ranks. See rank_test.h. H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables
 * is stochastically larger than the other", 1947; S. Holm, "A simple sequentially rejective multiple test
 * procedure", 1979; R. A. Johnson, S. Verrill, D. H. Moore, "Two-sample rank tests for detecting changes that
 * occur in a small proportion of the treated population", 1987. */
#include "answers/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rank {
    double value;
    unsigned twice; /* the rank, twice, as ties have the mean of theirs */
    bool is_y;
};

static int by_value(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

void rank_test_sort(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (values[i - 1] <= values[i]) continue;
        qsort(values, n, sizeof *values, ascending);
        return;
    }
}

void rank_test_free(rank_test *t)
{
    free(t->ways);
    free(t->sorted);
    *t = (rank_test){0};
}

/* Both groups in one list, in order. */
static bool pool(rank_test *t, const double *x, size_t n_x, const double *y, size_t n_y)
{
    const size_t n = n_x + n_y;
    if (t->n_sorted < n) {
        struct rank *grown = realloc(t->sorted, n * sizeof *grown);
        if (!grown) return false;
        t->sorted = grown;
        t->n_sorted = n;
    }
    for (size_t i = 0; i < n; i++)
        t->sorted[i] = (struct rank){.value = i < n_x ? x[i] : y[i - n_x], .is_y = i >= n_x};
    qsort(t->sorted, n, sizeof *t->sorted, by_value);
    return true;
}

/* Ranks, and the sum of t^3 - t over the groups of t ties. */
static double give_ranks(struct rank *sorted, size_t n)
{
    double ties = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && sorted[to].value <= sorted[from].value;)
            to++;
        const double equal = (double)(to - from);
        ties += equal * equal * equal - equal;
        for (size_t i = from; i < to; i++)
            sorted[i].twice = (unsigned)(from + to + 1); /* from + 1 ... to */
    }
    return ties;
}

/* Counts the ways to choose n_y of the n ranks by their sum, all of them twice. Row k: choosing k. At most
 * 2^50, which a double holds. False: no memory. */
static bool count_ways(rank_test *t, size_t n, size_t n_y, size_t width, bool ties)
{
    if (!ties && t->kept_x == n - n_y && t->kept_y == n_y) return true;
    const size_t wanted = (n_y + 1) * width;
    if (t->n_ways < wanted) {
        double *grown = realloc(t->ways, wanted * sizeof *grown);
        if (!grown) return false;
        t->ways = grown;
        t->n_ways = wanted;
    }
    memset(t->ways, 0, wanted * sizeof *t->ways);
    t->ways[0] = 1;
    size_t most = 0; /* the greatest sum so far */
    for (size_t i = 0; i < n; i++) {
        const size_t rank = t->sorted[i].twice;
        most = most + rank < width ? most + rank : width - 1;
        for (size_t k = i + 1 < n_y ? i + 1 : n_y; k > 0; k--) {
            double *to = t->ways + k * width;
            const double *from = t->ways + (k - 1) * width;
            for (size_t s = rank; s <= most; s++)
                to[s] += from[s - rank];
        }
    }
    t->kept_x = ties ? 0 : n - n_y;
    t->kept_y = ties ? 0 : n_y;
    return true;
}

static double exactly(rank_test *t, size_t n_x, size_t n_y, size_t sum, bool ties)
{
    const size_t n = n_x + n_y, mean = n_y * (n + 1), width = 2 * n_y * n + 1;
    if (!count_ways(t, n, n_y, width, ties)) return -1;
    const size_t apart = sum > mean ? sum - mean : mean - sum;
    const double *ways = t->ways + n_y * width;
    double all = 0, so_far = 0;
    for (size_t s = 0; s < width; s++) {
        all += ways[s];
        if ((s > mean ? s - mean : mean - s) >= apart) so_far += ways[s];
    }
    return so_far / all;
}

static double normally(double n_x, double n_y, double sum, double ties)
{
    const double n = n_x + n_y, variance = n_x * n_y / 12 * (n + 1 - ties / (n * (n - 1)));
    const double apart = fabs(sum - n_y * (n + 1)) / 2 - 0.5;
    if (apart <= 0 || variance <= 0) return 1;
    return erfc(apart / sqrt(2 * variance));
}

double rank_test_u(rank_test *t, const double *x, size_t n_x, const double *y, size_t n_y, double *higher)
{
    const size_t n = n_x + n_y;
    if (higher) *higher = 0;
    if (!n_x || !n_y) return 1;
    if (!pool(t, x, n_x, y, n_y)) return -1;
    const double ties = give_ranks(t->sorted, n);
    double sum = 0; /* of the ranks of y, twice */
    for (size_t i = 0; i < n; i++)
        if (t->sorted[i].is_y) sum += t->sorted[i].twice;
    if (higher) *higher = (sum - (double)n_y * (double)(n + 1)) / ((double)n_x * (double)n_y);
    if (t->sorted[0].value >= t->sorted[n - 1].value) return 1;
    const double about = normally((double)n_x, (double)n_y, sum, ties);
    /* What is far from any limit is left at that: most of what is tested. */
    if (n > RANK_TEST_EXACT || (n > 16 && about > 0.1)) return about;
    return exactly(t, n_x, n_y, (size_t)sum, ties > 0);
}

/* ln of n over k. */
static double ln_choose(double n, double k)
{
    int sign;
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double rank_test_least(size_t n_x, size_t n_y)
{
    if (!n_x || !n_y) return 1;
    const double least = 2 * exp(-ln_choose((double)(n_x + n_y), (double)n_y));
    return least < 1 ? least : 1;
}

double rank_test_tail(rank_test *t, const double *x, size_t n_x, const double *y, size_t n_y, double q,
                      double *least)
{
    const size_t n = n_x + n_y;
    if (least) *least = 1;
    if (!n_x || !n_y) return 1;
    if (!pool(t, x, n_x, y, n_y)) return -1;
    size_t first = (size_t)(q * (double)n);
    if (first >= n) first = n - 1;
    while (first > 0 && t->sorted[first - 1].value >= t->sorted[first].value)
        first--;
    const size_t top = n - first;
    size_t in_y = 0;
    for (size_t i = first; i < n; i++)
        in_y += t->sorted[i].is_y;
    const double all = ln_choose((double)n, (double)top);
    const size_t most = top < n_y ? top : n_y;
    double p = 0;
    for (size_t k = in_y; k <= most; k++)
        if (top - k <= n_x)
            p += exp(ln_choose((double)n_y, (double)k) + ln_choose((double)n_x, (double)(top - k)) - all);
    if (least && top - most <= n_x)
        *least =
            exp(ln_choose((double)n_y, (double)most) + ln_choose((double)n_x, (double)(top - most)) - all);
    return p < 1 ? p : 1;
}

/* ---- Many at once --- */

typedef struct numbered {
    double p;
    size_t at;
} numbered;

static int by_p(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->p < y->p || x->p > y->p) return x->p < y->p ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

bool rank_test_holm(double *p, size_t n)
{
    if (n < 2) return true;
    numbered *all = malloc(n * sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < n; i++)
        all[i] = (numbered){p[i], i};
    qsort(all, n, sizeof *all, by_p);
    double so_far = 0;
    for (size_t i = 0; i < n; i++) {
        double corrected = all[i].p * (double)(n - i);
        if (corrected > 1) corrected = 1;
        if (corrected > so_far) so_far = corrected;
        p[all[i].at] = so_far;
    }
    free(all);
    return true;
}

double rank_test_quantile(const double *sorted, size_t n, double q)
{
    if (!n) return 0;
    double rank = ceil(q * (double)n);
    size_t at = rank > 1 ? (size_t)rank - 1 : 0;
    return sorted[at < n ? at : n - 1];
}

double rank_test_median(const double *sorted, size_t n)
{
    return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
}
