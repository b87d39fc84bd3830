/* Which tiles a chip has: the grid of an open device becomes what is there, before any tile of it is touched.
 */
#ifndef DEVLOG_DEVICE_HARVEST_H
#define DEVLOG_DEVICE_HARVEST_H

#include "device/board.h"
#include "transport/transport.h"

/* Asks the chip (cards only), or the saved state, and takes what DEVLOG_GRID names. Columns, rows and DRAM
 * that are not there leave the board. A card that does not say is DEVLOG_ERR_DEVICE, unless DEVLOG_GRID says.
 */
devlog_status harvest_grid(dl_transport *t, board *b, devlog_error *err);

#endif
