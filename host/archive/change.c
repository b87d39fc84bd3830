/* Where a series changed. See change.h. */
#include "archive/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = RANK_TEST_EXACT };

bool change_likeliest(rank_test *t, const double *values, size_t n, change *out)
{
    *out = (change){.p = 1};
    if (n < 2) return true;
    for (size_t at = 1; at < n; at++) {
        /* As many of each side as there are, and of the longer one what the shorter leaves. */
        size_t behind = n - at < AROUND / 2 ? n - at : AROUND / 2;
        const size_t before = at < AROUND - behind ? at : AROUND - behind;
        if (before + behind < AROUND) behind = n - at < AROUND - before ? n - at : AROUND - before;
        const double p = rank_test_u(t, values + at - before, before, values + at, behind, NULL);
        if (p < 0) return false;
        if (p < out->p) *out = (change){.at = at, .p = p};
    }
    out->p = fmin(1, out->p * (double)(n - 1));
    return true;
}

static bool divide(rank_test *t, const double *values, size_t from, size_t to, double most, change *out,
                   size_t *n_out)
{
    change c;
    if (!change_likeliest(t, values + from, to - from, &c)) return false;
    if (!c.at || c.p > most) return true;
    c.at += from;
    if (!divide(t, values, from, c.at, most, out, n_out)) return false;
    out[(*n_out)++] = c;
    return divide(t, values, c.at, to, most, out, n_out);
}

bool change_find(rank_test *t, const double *values, size_t n, double most, change *out, size_t *n_out)
{
    *n_out = 0;
    if (!divide(t, values, 0, n, most, out, n_out)) return false;
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted) return false;
    double before = NAN;
    for (size_t i = 0; i <= *n_out; i++) {
        const size_t from = i ? out[i - 1].at : 0, to = i < *n_out ? out[i].at : n;
        memcpy(sorted, values + from, (to - from) * sizeof *sorted);
        rank_test_sort(sorted, to - from);
        const double median = rank_test_median(sorted, to - from);
        if (i) out[i - 1].before = before;
        if (i) out[i - 1].behind = median;
        before = median;
    }
    free(sorted);
    return true;
}
