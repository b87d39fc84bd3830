/* Median and spread. See the header. */
#include "answers/spread.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

size_t spread_sort(double *values, size_t n)
{
    if (n) qsort(values, n, sizeof *values, by_value);
    while (n && isnan(values[n - 1]))
        n--;
    return n;
}

double spread_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0) return NAN;
    const double at = q * (double)(n - 1);
    const size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}
