/* A board as its grid: see the header. */
#include "device/board_grid.h"

#include <string.h>

_Static_assert((int)BOARD_MAX_LINE == (int)CHIP_GRID_LINE, "lines of both fit");

static void add(chip_grid *g, board_xy at, chip_tile_kind kind)
{
    for (uint32_t i = 0; i < g->n_tiles; i++)
        if (g->tiles[i].x == at.x && g->tiles[i].y == at.y) return;
    if (g->n_tiles < CHIP_GRID_TILES && at.x < g->width && at.y < g->height)
        g->tiles[g->n_tiles++] = (chip_tile){at.x, at.y, (uint8_t)kind};
}

void board_grid(const board *b, bool opened, chip_grid *out)
{
    *out = (chip_grid){.width = b->noc_width,
                       .height = b->noc_height,
                       .n_columns = b->n_columns,
                       .n_rows = b->n_rows,
                       .off_known = opened,
                       .off_columns = b->dead_columns,
                       .off_rows = b->dead_rows};
    memcpy(out->columns, b->columns, sizeof out->columns);
    memcpy(out->rows, b->rows, sizeof out->rows);
    /* What a board file says of its own use comes first: it may have no list of all its tiles. */
    for (uint32_t i = 0; i < b->n_dram; i++)
        add(out, b->dram[i], CHIP_TILE_DRAM);
    if (b->arc.table) add(out, (board_xy){b->arc.x, b->arc.y}, CHIP_TILE_ARC);
    for (uint32_t i = 0; i < b->n_tiles; i++)
        add(out, (board_xy){b->tiles[i].x, b->tiles[i].y}, (chip_tile_kind)b->tiles[i].kind);
}
