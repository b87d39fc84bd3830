/* The configuration of the built-in simulator for a board. */
#ifndef DEVLOG_DEVICE_BOARD_SIM_H
#define DEVLOG_DEVICE_BOARD_SIM_H

#include "device/board.h"
#include "sim/sim.h"
#include "transport/sim_world.h"

void board_to_sim(const board *b, sim_config *out, sim_world_options *world);

/* Applies "name=value,..." (see docs/simulator.md, Options) on top. */
devlog_status board_sim_options(const char *text, sim_config *out, sim_world_options *world,
                                devlog_error *err);

#endif
