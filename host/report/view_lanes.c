/* Lanes: a place for every interval of a track such that the intervals of one lane nest. */
#include "report/view_lanes.h"

#include <stdlib.h>
#include <string.h>

void view_lanes_free(view_lanes *l)
{
    for (uint32_t i = 0; i < l->cap; i++)
        free(l->lanes[i].ends);
    free(l->lanes);
    *l = (view_lanes){0};
}

void view_lanes_clear(view_lanes *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        l->lanes[i].n = 0;
    l->n = 0;
}

static bool push(view_lane *lane, uint64_t end)
{
    if (lane->n == lane->cap) {
        uint32_t cap = lane->cap ? lane->cap * 2 : 8;
        uint64_t *ends = realloc(lane->ends, cap * sizeof *ends);
        if (!ends) return false;
        lane->ends = ends;
        lane->cap = cap;
    }
    lane->ends[lane->n++] = end;
    return true;
}

static bool add_lane(view_lanes *l)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 1;
        view_lane *lanes = realloc(l->lanes, cap * sizeof *lanes);
        if (!lanes) return false;
        memset(lanes + l->cap, 0, (cap - l->cap) * sizeof *lanes);
        l->lanes = lanes;
        l->cap = cap;
    }
    l->lanes[l->n++].n = 0;
    return true;
}

bool view_lanes_place(view_lanes *l, uint64_t start, uint64_t end, uint32_t max, uint16_t *lane,
                      uint16_t *depth)
{
    for (uint32_t i = 0; i < max; i++) {
        if (i == l->n && !add_lane(l)) return false;
        view_lane *at = &l->lanes[i];
        while (at->n && at->ends[at->n - 1] <= start)
            at->n--;
        if (at->n && at->ends[at->n - 1] < end) continue;
        *lane = (uint16_t)i;
        *depth = at->n < UINT16_MAX ? (uint16_t)at->n : UINT16_MAX;
        return push(at, end);
    }
    *lane = VIEW_NO_LANE;
    *depth = 0;
    return true;
}
