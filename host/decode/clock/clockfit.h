/* Clock fit: from a chip's counter to another clock, with a bound on the error. A pure function of samples.
 *
 * A sample says: the counter showed `cycles` at some moment between `before` and `after` of the reference
 * clock. The reference is the host's monotonic clock in nanoseconds, or, for two chips that are linked, the
 * other chip's counter. Samples come in bursts, taken close together; each burst gives one knot of a
 * piecewise-linear map, and the spread of what its samples allow is the knot's error.
 *
 * Between knots the counter's frequency may have changed once, at a moment that nobody saw. The slopes on
 * both sides bound how far the map can have strayed from the straight line; that is added to the error. So
 * the bound holds for slow drift, and when the frequency changes at most once in nine successive intervals
 * between bursts, at most once in twice the time `quiet`, and neither in the first interval nor in the last; and, where bursts are far
 * apart, when the reference is steered by DL_CLOCK_STEERED as often as it may be, in any of them.
 * It is half the best round trip, a tick and a cycle, plus that drift of one interval; a burst whose round
 * trips were all slow is narrowed by the lines through its neighbours. docs/time.md explains it to users. */
#ifndef DEVLOG_DECODE_CLOCKFIT_H
#define DEVLOG_DECODE_CLOCKFIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct dl_clock_sample {
    uint64_t before, after; /* of the reference clock */
    uint64_t cycles;        /* of the counter */
    uint32_t burst;         /* samples of one burst have the same number and stand together */
} dl_clock_sample;

typedef struct dl_clock_knot {
    double cycles;    /* since dl_clock_fit.cycles */
    double ticks;     /* since dl_clock_fit.ticks */
    double half;      /* the true value is at most so far from `ticks` */
    double deviation; /* between this knot and the next: bound of what a change of frequency can do */
} dl_clock_knot;

/* A frequency that changed: somewhere in the interval behind knot `knot`. */
typedef struct dl_clock_change {
    uint32_t knot;
    double before, after; /* cycles per tick */
} dl_clock_change;

typedef struct dl_clock_fit {
    uint64_t cycles, ticks; /* origin: the first sample */
    double quiet, steered;
    dl_clock_knot *knots; /* ascending */
    uint32_t n_knots;
    dl_clock_change *changes;
    uint32_t n_changes;
    uint32_t n_ignored; /* samples whose `after` is before their `before` */
    double best_round_trip;
    double residual;         /* the largest error between the first and the last knot, in ticks */
    double rate;             /* cycles per tick from the first to the last knot */
    double rate_lo, rate_hi; /* before the first knot and behind the last: bounds of ticks per cycle */
    double tail_lo, tail_hi;
} dl_clock_fit;

/* What a clock that is steered by firmware in steps can be trusted to stay unchanged: 1 ms, or as many cycles
 * of a clock of 1 GHz. */
#define DL_CLOCK_QUIET 1e6

/* How far off its mean a host's clock may run as it is steered (NTP), and how often it may be steered anew, in ticks of 1 ns. Where nine
 * intervals between bursts take longer than that the bound has room for any number of such changes. */
#define DL_CLOCK_STEERED 10e-6
#define DL_CLOCK_STEERS  1e9

/* Makes the map; `quiet` in ticks; `steered`: DL_CLOCK_STEERED where the reference is a host's clock, otherwise 0. Fails with DEVLOG_ERR_NOT_FOUND when there are fewer than two bursts, and
 * DEVLOG_ERR_FORMAT when the counter stood still, ran backwards, or the reference clock did; the text says
 * where. */
devlog_status dl_clock_fit_make(dl_clock_fit *fit, const dl_clock_sample *samples, size_t n, double quiet,
                                double steered, devlog_error *err);
void dl_clock_fit_free(dl_clock_fit *fit);

/* When the counter showed `cycles`: ticks of the reference clock since fit->ticks (may be negative), and the
 * bound of the error, also in ticks. True when the counter's value lies between the first knot and the last;
 * outside, the bound grows with the distance. */
bool dl_clock_fit_at(const dl_clock_fit *fit, uint64_t cycles, double *ticks, double *error);

#endif
