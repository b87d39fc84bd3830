/* Real numbers to whole ones, for every number: C says nothing about those that do not fit. */
#ifndef DEVLOG_BASE_ROUND_H
#define DEVLOG_BASE_ROUND_H

#include <math.h>
#include <stdint.h>

/* The nearest whole number; 0 for what is negative or no number, UINT64_MAX for what is more. */
static inline uint64_t dl_u64_of(double value)
{
    const double end = 18446744073709551616.0; /* 2^64 */
    double nearest = round(value);
    return !(nearest > 0) ? 0 : nearest >= end ? UINT64_MAX : (uint64_t)nearest;
}

#endif
