/* Grids of the architectures that a log names, for the page: where tiles of such a chip are, of the board files. Not for logs whose
 * capture says it of the very chip (decode.h, dl_decode_grid). */
#ifndef DEVLOG_CLI_PAGE_GRIDS_H
#define DEVLOG_CLI_PAGE_GRIDS_H

#include "decode/decode.h"

/* Appends {"wormhole_b0":{...}} (base/chip_grid.h); nothing when cores of this log are not named by NoC coordinates, or there is no
 * board file of its chips. The decoder has finished. */
void cli_page_grids(dl_decode *d, dl_str *out);

#endif
