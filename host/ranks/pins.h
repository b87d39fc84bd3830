/* By how much one clock is ahead of another, from moments at which that lies between two bounds: for any moment, with the bound of its
 * error. Pure arithmetic. Not for what the moments are (host_way.c).
 *
 * What it assumes: no two clocks of hosts run more than PINS_FAST apart, and between the first moment and the last, and around them, the one
 * never runs faster or slower against the other than PINS_STEERED away from its mean (NTP steers clocks). Where moments show
 * that it did, twice as much as they show is taken. */
#ifndef DEVLOG_RANKS_PINS_H
#define DEVLOG_RANKS_PINS_H

#include <stdbool.h>
#include <stddef.h>

#define PINS_FAST    500e-6
#define PINS_STEERED 10e-6

/* At x of the one clock the other is ahead by `low` to `high`. */
typedef struct pin {
    double x, low, high;
} pin;

typedef struct pins {
    pin *items; /* by x */
    size_t n, cap;
    double slowest, fastest; /* how much the other gains, for each ns of the one */
    double steered;          /* away from the mean, that is taken for possible */
} pins;

/* False: no memory. */
bool pins_add(pins *p, pin added);
/* Narrows each of them by the others. False: they contradict one another, or there are none: a clock was set, or is another one's. */
bool pins_make(pins *p);
/* Of pins that are made: the middle of what is possible at x, and how far off that may be. */
void pins_at(const pins *p, double x, double *ahead, double *error);
void pins_free(pins *p);

#endif
