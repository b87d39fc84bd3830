/* A chip as its NoC sees it: how large it is, which columns and rows have compute tiles, which of them a device had not got, and
 * what stands elsewhere. A device fills it (device/board_grid.h), a capture keeps it, and pages draw it. Not for tables in a terminal
 * (grid.h), nor for what cores did. Coordinates are of NoC 0. */
#ifndef DEVLOG_BASE_CHIP_GRID_H
#define DEVLOG_BASE_CHIP_GRID_H

#include "base/str.h"

enum {
    CHIP_GRID_SIDE = 64, /* masks have a bit for each coordinate */
    CHIP_GRID_LINE = 32, /* as BOARD_MAX_LINE */
    CHIP_GRID_TILES = 256,
};

/* In captures: numbers stay. A kind that nobody has told of is none of these. */
typedef enum chip_tile_kind {
    CHIP_TILE_DRAM = 1,
    CHIP_TILE_ARC,
    CHIP_TILE_PCIE,
    CHIP_TILE_ETH,
    CHIP_TILE_ROUTER,
    CHIP_TILE_KINDS
} chip_tile_kind;

typedef struct chip_tile {
    uint8_t x, y, kind;
} chip_tile;

typedef struct chip_grid {
    uint8_t width, height;
    uint32_t n_columns,
        n_rows; /* of compute tiles that can be used: logical (i, k) is at (columns[i], rows[k]) */
    uint8_t columns[CHIP_GRID_LINE], rows[CHIP_GRID_LINE];
    bool off_known; /* otherwise nobody knows which: a board in general, not a chip */
    uint64_t off_columns,
        off_rows;     /* would have compute tiles, and are switched off or were left out by the user */
    uint32_t n_tiles; /* of other kinds */
    chip_tile tiles[CHIP_GRID_TILES];
} chip_grid;

/* Whether everything is inside, and no line both used and off. */
bool chip_grid_valid(const chip_grid *g);
/* {"noc":[10,12],"columns":[1,..],"rows":[1,..],"off":{"columns":[],"rows":[7]},"tiles":{"dram":[[0,0],..],"arc":[[0,10]],..}};
 * without "off" where that is not known, without kinds of which there is none. */
void chip_grid_json(const chip_grid *g, dl_str *out);
/* "dram", "arc", "pcie", "eth", "router". */
const char *chip_tile_name(chip_tile_kind kind);

#endif
