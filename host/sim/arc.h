/* The tile of the management core. Returned texts are NULL, or what is wrong with the access. */
#ifndef DEVLOG_SIM_ARC_H
#define DEVLOG_SIM_ARC_H

#include "sim/chip.h"

void sim_arc_init(sim *s);
const char *sim_arc_read(sim *s, uint64_t addr, void *dst, uint32_t size);
const char *sim_arc_write(sim *s, uint64_t addr, const void *src, uint32_t size);

#endif
