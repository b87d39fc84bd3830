/* Which links of a chip's two NoCs carried how many bytes. Both are tori: on NoC 0 a packet goes east to its column, then
 * south to its row; on NoC 1 north, then west (tt-isa-documentation, NoC/RoutingPaths; tt-npe's model at 1021603). What is
 * broadcast has a tree, along x to the first column of its rectangle, there along y over the rectangle's rows, and along x in
 * each of them: "X as major axis" in RoutingPaths, as tt-metal's kernels never set NOC_CMD_BRCST_XY. The rectangle goes
 * from start to end in the direction of the NoC, over the edge when it must (NoC/MemoryMap, StartX): on NoC 1 the start is
 * the lower right corner. */
#ifndef DEVLOG_TT_METAL_NOC_LINKS_H
#define DEVLOG_TT_METAL_NOC_LINKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TT_NOC_WIDEST = 32, TT_NOC_NODES = TT_NOC_WIDEST * TT_NOC_WIDEST, TT_NOC_WAYS = 4 };

/* The chip's grid; 0: not known, and nothing is routed. */
typedef struct tt_noc_grid {
    unsigned width, height;
} tt_noc_grid;

typedef struct tt_noc_links {
    uint64_t bytes[TT_NOC_WAYS][TT_NOC_NODES]; /* out of each node: NoC 0 east, south, NoC 1 north, west */
    uint32_t stamp[TT_NOC_WAYS][TT_NOC_NODES]; /* of the last transfer over it */
    uint32_t transfers;
    uint64_t unrouted; /* bytes whose way is not known */
} tt_noc_links;

typedef struct tt_noc_box {
    uint64_t x0, y0, x1, y1; /* one node, or where a broadcast's rectangle starts and ends */
} tt_noc_box;

typedef enum tt_noc_kind {
    TT_NOC_TO,   /* to the one node of the box */
    TT_NOC_FROM, /* a read: its data come from there */
    TT_NOC_TO_ALL
} tt_noc_kind;

/* A transfer that a node (x, y) asks for. */
void tt_noc_route(tt_noc_links *l, tt_noc_grid g, int noc, uint64_t x, uint64_t y, tt_noc_box to,
                  tt_noc_kind kind, uint64_t bytes);
/* "NOC_0 east of 3-4"; the greatest, and its bytes; 0: none. */
uint64_t tt_noc_busiest(const tt_noc_links *l, int *way, unsigned *x, unsigned *y);
const char *tt_noc_way(int way);
/* By tt-metal's cluster type (topology.json). */
tt_noc_grid tt_noc_grid_of(const char *cluster_type);

#endif
