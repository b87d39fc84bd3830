/* The event streams of the debug timestamper (WormholeB0/TensixTile/DebugTimestamper.md).
 *
 * What it is for: the complete functional specification of that document. What it is not: the wall clock
 * registers (tile.c). Known to be right only against the document: ttsim does not model this block. */
#ifndef DEVLOG_SIM_STAMPER_H
#define DEVLOG_SIM_STAMPER_H

#include "sim/chip.h"

enum { SIM_STAMPER_SIZE = 0x1c }; /* bytes of registers, from RISCV_DEBUG_REG_TIMESTAMP on */

void sim_stamper_init(sim_stamper *st);
uint32_t sim_stamper_read(sim_stamper *st, uint32_t offset);
/* NULL, or why the write is refused (what the document calls undefined behaviour). */
const char *sim_stamper_write(sim_tile *t, sim_by by, uint32_t offset, uint32_t value);

#endif
