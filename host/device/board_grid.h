/* A board as its grid: for captures and pages. */
#ifndef DEVLOG_DEVICE_BOARD_GRID_H
#define DEVLOG_DEVICE_BOARD_GRID_H

#include "base/chip_grid.h"
#include "device/board.h"

/* `opened`: of a device, which has been asked which of its tiles are there (harvest.h); otherwise of a board file alone. */
void board_grid(const board *b, bool opened, chip_grid *out);

#endif
