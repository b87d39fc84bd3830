/* Where the cycles of a hart go: for every pc how often it ran, how long, and what it waited for.
 *
 * What it is for: `devlog annotate`. What it is not: on the way when nobody asks (sim_config.count_cycles): then
 * no hart has a counter, and run.c goes by its usual ways. Nor a second model of time: it looks at the pipeline
 * before and after each instruction and says which of its terms decided.
 *
 * An instruction has the cycles from when it is next to when its successor is. The first of them that it runs in
 * is its own; the others are stalls. A wait for several things at once counts for the one that ends last. */
#ifndef DEVLOG_SIM_COUNTED_H
#define DEVLOG_SIM_COUNTED_H

#include "sim/chip.h"

typedef struct sim_counter sim_counter;

/* NULL: no memory. */
sim_counter *sim_counter_new(void);
void sim_counter_free(sim_counter *c);

/* Around each instruction of a hart. `ready`: what step returned, SIM_NEVER when the hart stopped. */
void sim_counter_before(sim_hart_core *h);
void sim_counter_after(sim_tile *t, sim_hart_core *h, uint64_t now, uint64_t ready);

/* The hart has stopped: its sum becomes the time that it has run, h->live. */
void sim_counter_stopped(sim_hart_core *h);

#endif
