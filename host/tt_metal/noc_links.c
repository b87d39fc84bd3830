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

/* A step along an axis of `n` nodes. */
static unsigned step(int noc, unsigned at, unsigned n)
{
    return noc ? (at ? at : n) - 1 : at + 1 < n ? at + 1 : 0;
}

/* Those from `from` to `to`, both among them. */
static unsigned span(int noc, unsigned from, unsigned to, unsigned n)
{
    return (noc ? from + n - to : to + n - from) % n + 1;
}

static unsigned along_x(tt_noc_links *l, tt_noc_grid g, int noc, unsigned x, unsigned y, unsigned to,
                        uint64_t bytes)
{
    for (; x != to; x = step(noc, x, g.width))
        over(l, noc ? WEST : EAST, x, y, bytes);
    return x;
}

static unsigned along_y(tt_noc_links *l, tt_noc_grid g, int noc, unsigned x, unsigned y, unsigned to,
                        uint64_t bytes)
{
    for (; y != to; y = step(noc, y, g.height))
        over(l, noc ? NORTH : SOUTH, x, y, bytes);
    return y;
}

static void unicast(tt_noc_links *l, tt_noc_grid g, int noc, unsigned x, unsigned y, unsigned to_x,
                    unsigned to_y, uint64_t bytes)
{
    if (noc == 0) x = along_x(l, g, noc, x, y, to_x, bytes);
    y = along_y(l, g, noc, x, y, to_y, bytes);
    if (noc) along_x(l, g, noc, x, y, to_x, bytes);
}

/* From a node inside of the rectangle's columns, or rows, the packet goes round the torus to those before it. */
static void broadcast(tt_noc_links *l, tt_noc_grid g, int noc, unsigned x, unsigned y, tt_noc_box to,
                      uint64_t bytes)
{
    const unsigned x0 = (unsigned)to.x0, y0 = (unsigned)to.y0, wide = span(noc, x0, (unsigned)to.x1, g.width),
                   high = span(noc, y0, (unsigned)to.y1, g.height);
    if (span(noc, x0, x, g.width) > wide) x = along_x(l, g, noc, x, y, x0, bytes);
    for (unsigned rows = high;;) {
        if (span(noc, y0, y, g.height) <= high) {
            unsigned at = x, columns = wide;
            while (span(noc, x0, at, g.width) > wide || --columns) {
                over(l, noc ? WEST : EAST, at, y, bytes);
                at = step(noc, at, g.width);
            }
            if (--rows == 0) return;
        }
        over(l, noc ? NORTH : SOUTH, x, y, bytes);
        y = step(noc, y, g.height);
    }
}

void tt_noc_route(tt_noc_links *l, tt_noc_grid g, int noc, uint64_t x, uint64_t y, tt_noc_box to,
                  tt_noc_kind kind, uint64_t bytes)
{
    bool there = g.width && x < g.width && y < g.height && to.x0 < g.width && to.x1 < g.width &&
                 to.y0 < g.height && to.y1 < g.height && (noc == 0 || noc == 1);
    if (!there) {
        l->unrouted += bytes;
        return;
    }
    if (++l->transfers == 0) { /* once in 2^32 */
        memset(l->stamp, 0, sizeof l->stamp);
        l->transfers = 1;
    }
    const unsigned here_x = (unsigned)x, here_y = (unsigned)y, x0 = (unsigned)to.x0, y0 = (unsigned)to.y0;
    if (kind == TT_NOC_TO_ALL)
        broadcast(l, g, noc, here_x, here_y, to, bytes);
    else if (kind == TT_NOC_FROM)
        unicast(l, g, noc, x0, y0, here_x, here_y, bytes);
    else
        unicast(l, g, noc, here_x, here_y, x0, y0, bytes);
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
