/* The order of accesses, strictly: what the documents do not promise happens, by a seed.
 *
 * What it is for: showing programs that rely on more order than a chip promises, or on caches that it does not keep coherent. What
 * it is not: timing. An instruction takes a cycle and what it has to wait for; waits are random. Documents:
 * WormholeB0 and BlackholeA0, TensixTile/BabyRISCV/MemoryOrdering.md and InstructionCache.md. */
#ifndef DEVLOG_SIM_STRICT_H
#define DEVLOG_SIM_STRICT_H

#include "sim/chip.h"

typedef struct sim_strict sim_strict;

/* Of a tile of a chip with sim_config.strict. False: no memory. */
bool sim_strict_init(sim_tile *t);
void sim_strict_free(sim_tile *t);
/* As sim_tile_run. */
void sim_strict_run(sim_tile *t, uint64_t from, uint64_t to);
/* What a hart has under way is dropped (reset), or comes to its end at once (a debugger). */
void sim_strict_reset(sim_tile *t, uint32_t hart);
void sim_strict_settle(sim_tile *t, uint32_t hart, uint64_t now);
/* RISCV_IC_INVALIDATE */
void sim_strict_invalidate(sim_tile *t, uint32_t mask);
/* Further cycles that something takes on the NoC: 0 on a chip that is not strict. */
uint32_t sim_strict_way(sim_tile *t);

#endif
