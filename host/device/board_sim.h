/* The configuration of the built-in simulator for a board. */
#ifndef DEVLOG_DEVICE_BOARD_SIM_H
#define DEVLOG_DEVICE_BOARD_SIM_H

#include "device/board.h"
#include "sim/sim.h"

void board_to_sim(const board *b, sim_config *out);

/* Applies "name=value,..." (see docs/simulator.md, Options) on top. */
devlog_status board_sim_options(const char *text, sim_config *out, devlog_error *err);

#endif
