/* The boards that devlog ships, as simulator configurations. Generated from boards/ at build time; exports.c
 * is the only user in this folder. */
#ifndef DEVLOG_SIM_SHIPPED_H
#define DEVLOG_SIM_SHIPPED_H

#include "sim/sim.h"

/* Configuration of a board by name, such as "wormhole_b0"; NULL if there is none. */
const sim_config *sim_shipped_config(const char *board);

#endif
