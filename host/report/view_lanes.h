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

#endif
