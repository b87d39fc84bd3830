/* Median and spread of a few values, of which some may be unknown: for what is measured several times. */
#ifndef DEVLOG_ANSWERS_SPREAD_H
#define DEVLOG_ANSWERS_SPREAD_H

#include <stddef.h>

/* Sorts values, those that are NAN at the end; returns how many are known. */
size_t spread_sort(double *values, size_t n);
/* Of sorted values, all known, interpolated between neighbours; NAN: there are none. */
double spread_quantile(const double *sorted, size_t n, double q);

#endif
