/* Ways of packets. */
#include "tt_metal/noc_links.h"

#include <string.h>

enum { EAST, SOUTH, NORTH, WEST };

const char *tt_noc_way(int way)
{
    static const char *const names[TT_NOC_WAYS] = {"NOC_0 east", "NOC_0 south", "NOC_1 north", "NOC_1 west"};
    return names[way];
}

tt_noc_grid tt_noc_grid_of(const char *cluster_type)
{
    static const struct {
        const char *begin;
        tt_noc_grid grid;
    } known[] = {{"P1", {17, 12}},   {"P3", {17, 12}},  {"BLACKHOLE", {17, 12}}, {"N150", {10, 12}},
                 {"N300", {10, 12}}, {"T3K", {10, 12}}, {"GALAXY", {10, 12}},    {"TG", {10, 12}}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(cluster_type, known[i].begin, strlen(known[i].begin)) == 0) return known[i].grid;
    return (tt_noc_grid){0, 0};
}

static void over(tt_noc_links *l, int way, unsigned x, unsigned y, uint64_t bytes)
{
    unsigned node = y * TT_NOC_WIDEST + x;
    if (l->stamp[way][node] == l->transfers) return;
    l->stamp[way][node] = l->transfers;
    l->bytes[way][node] += bytes;
}

static void walk(tt_noc_links *l, tt_noc_grid g, int noc, unsigned x, unsigned y, unsigned to_x,
                 unsigned to_y, uint64_t bytes)
{
    if (noc == 0) {
        for (; x != to_x; x = (x + 1) % g.width)
            over(l, EAST, x, y, bytes);
        for (; y != to_y; y = (y + 1) % g.height)
            over(l, SOUTH, x, y, bytes);
        return;
    }
    for (; y != to_y; y = (y + g.height - 1) % g.height)
        over(l, NORTH, x, y, bytes);
    for (; x != to_x; x = (x + g.width - 1) % g.width)
        over(l, WEST, x, y, bytes);
}

void tt_noc_route(tt_noc_links *l, tt_noc_grid g, int noc, uint64_t x, uint64_t y, tt_noc_box to, bool read,
                  uint64_t bytes)
{
    bool there = g.width && x < g.width && y < g.height && to.x0 < g.width && to.x1 < g.width &&
                 to.y0 < g.height && to.y1 < g.height && to.x0 <= to.x1 && to.y0 <= to.y1 &&
                 (noc == 0 || noc == 1);
    if (!there) {
        l->unrouted += bytes;
        return;
    }
    if (++l->transfers == 0) { /* once in 2^32 */
        memset(l->stamp, 0, sizeof l->stamp);
        l->transfers = 1;
    }
    if (read) {
        walk(l, g, noc, (unsigned)to.x0, (unsigned)to.y0, (unsigned)x, (unsigned)y, bytes);
        return;
    }
    for (uint64_t i = to.x0; i <= to.x1; i++)
        for (uint64_t k = to.y0; k <= to.y1; k++)
            walk(l, g, noc, (unsigned)x, (unsigned)y, (unsigned)i, (unsigned)k, bytes);
}

uint64_t tt_noc_busiest(const tt_noc_links *l, int *way, unsigned *x, unsigned *y)
{
    uint64_t most = 0;
    for (int w = 0; w < TT_NOC_WAYS; w++)
        for (unsigned i = 0; i < TT_NOC_NODES; i++) {
            if (l->bytes[w][i] <= most) continue;
            most = l->bytes[w][i];
            *way = w;
            *x = i % TT_NOC_WIDEST;
            *y = i / TT_NOC_WIDEST;
        }
    return most;
}
