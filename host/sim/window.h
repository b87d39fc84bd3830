/* BAR0 of the PCIe tile: TLB windows and their configuration (WormholeB0/PCIExpressTile/TLBs.md).
 *
 * What it is for: bus addresses to tiles. What it is not: PCIe ordering; every access has happened when the
 * call returns, whatever ordering mode the window has. */
#ifndef DEVLOG_SIM_WINDOW_H
#define DEVLOG_SIM_WINDOW_H

#include "sim/chip.h"

/* NULL, or what is wrong with the windows of a configuration. */
const char *sim_window_check(const sim_config *c);
bool sim_window_init(sim *s);

#endif
