/* Lanes: a place for every interval of a track such that the intervals of one lane nest. */
#ifndef DEVLOG_REPORT_VIEW_LANES_H
#define DEVLOG_REPORT_VIEW_LANES_H

#include <stdbool.h>

#include "base/error.h"

typedef struct view_lane {
    uint64_t *ends; /* of the intervals that are open, from the outside in */
    uint32_t n, cap;
} view_lane;

/* Zero-initialised is empty. */
typedef struct view_lanes {
    view_lane *lanes;
    uint32_t n, cap;
} view_lanes;

void view_lanes_free(view_lanes *l);
void view_lanes_clear(view_lanes *l);

enum { VIEW_NO_LANE = UINT16_MAX };

/* Intervals come by start, and then longer first. Gives the lowest lane that it nests in and how many are
 * around it there; VIEW_NO_LANE when `max` lanes do not do. False: out of memory. */
bool view_lanes_place(view_lanes *l, uint64_t start, uint64_t end, uint32_t max, uint16_t *lane,
                      uint16_t *depth);

/* The same where the first lane has been used before and takes it, as nearly always; false: ask view_lanes_place. */
static inline bool view_lanes_place_first(view_lanes *l, uint64_t start, uint64_t end, uint16_t *depth)
{
    if (!l->n) return false;
    view_lane *const first = l->lanes;
    uint32_t n = first->n;
    while (n && first->ends[n - 1] <= start)
        n--;
    if (n == first->cap || n >= UINT16_MAX || (n && first->ends[n - 1] < end)) return false;
    first->ends[n] = end;
    first->n = n + 1;
    *depth = (uint16_t)n;
    return true;
}

/* Whether the first lane has been used before and is free from `start` on, with room for n intervals that are open at once. */
static inline bool view_lanes_first_is_free(const view_lanes *l, uint64_t start, uint32_t n)
{
    if (!l->n) return false;
    const view_lane *const first = l->lanes;
    return n <= first->cap && (!first->n || first->ends[0] <= start);
}

/* Then they are put there: their ends, from the outside in, go where this says. */
static inline uint64_t *view_lanes_open_in_first(view_lanes *l, uint32_t n)
{
    l->lanes->n = n;
    return l->lanes->ends;
}

#endif
