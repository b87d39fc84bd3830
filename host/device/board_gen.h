/* What is generated from a board file: the device header and the linker constants. */
#ifndef DEVLOG_DEVICE_BOARD_GEN_H
#define DEVLOG_DEVICE_BOARD_GEN_H

#include <stdio.h>

#include "device/board.h"

/* devlog_board.h, which device code includes: memory map, registers, one index per RISC. */
void board_write_header(const board *b, FILE *out);

/* devlog_board.ld, which linker/firmware.ld and linker/kernel.ld include, for one RISC: the reserved regions
 * by name, each ASSERTed to lie in RAM and not to overlap another, and the regions of this RISC. `code` is
 * where its kernel may lie: its slot, or more. */
void board_write_linker(const board *b, uint32_t risc, board_region code, FILE *out);

#endif
