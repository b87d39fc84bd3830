/* The union of spans of time. See the header. */
#include "answers/busy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const busy_span *x = a, *y = b;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bool sorted(const busy_span *spans, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (by_start(&spans[i - 1], &spans[i]) > 0) return false;
    return true;
}

double busy_union(busy_span *spans, size_t n)
{
    double sum = 0, end = -INFINITY;
    if (n && !sorted(spans, n)) qsort(spans, n, sizeof *spans, by_start);
    for (size_t i = 0; i < n; i++) {
        const double from = spans[i].start > end ? spans[i].start : end;
        if (spans[i].end <= from) continue;
        sum += spans[i].end - from;
        end = spans[i].end;
    }
    return sum;
}
