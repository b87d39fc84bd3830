/* A compute tile: its memories, its registers, and which of its harts run.
 *
 * What it is for: the parts of a tile that are not a hart's pipeline. What it is not: the NoC (noc.h) and the
 * debug timestamper (stamper.h), whose registers it hands on.
 *
 * Functions that can refuse return NULL, or the reason as a text that does not name the access: the caller
 * knows whether a hart, the host or a packet made it. */
#ifndef DEVLOG_SIM_TILE_H
#define DEVLOG_SIM_TILE_H

#include "sim/chip.h"

bool sim_tile_init(sim_tile *t, sim *chip, uint32_t index);
void sim_tile_free(sim_tile *t);

/* The memory that holds [addr, addr + size), or NULL. */
sim_bank *sim_tile_bank(sim_tile *t, uint32_t addr, uint32_t size);
/* Copies into a memory and forgets what was decoded from there. */
void sim_bank_write(sim_bank *b, uint32_t offset, const void *src, uint32_t size);
/* A store of a hart has hit a page with flags: forgets decoded words, logs truth. */
void sim_bank_stored(sim_tile *t, const sim_bank *b, sim_by by, uint32_t offset, uint32_t value,
                     uint32_t size);

/* A 32-bit register. `addr` is a multiple of four. */
const char *sim_reg_read(sim_tile *t, sim_by by, uint32_t addr, uint32_t *value);
const char *sim_reg_write(sim_tile *t, sim_by by, uint32_t addr, uint32_t value);
/* CSRs; NULL as above. */
const char *sim_csr_read(sim_tile *t, sim_by by, uint32_t csr, uint32_t *value);

/* Memory and registers as everything outside of the harts sees them. */
const char *sim_tile_fetch_bytes(sim_tile *t, sim_by by, uint64_t addr, void *dst, uint32_t size);
const char *sim_tile_store_bytes(sim_tile *t, sim_by by, uint64_t addr, const void *src, uint32_t size);

/* Keeps t->why. */
__attribute__((format(printf, 2, 3))) const char *sim_tile_why(sim_tile *t, const char *format, ...);

static inline uint64_t sim_tile_clock(const sim_tile *t, uint64_t now)
{
    return now + t->clock_offset;
}

/* Puts a hart in or out of reset; a released hart starts in cycle `start`. `by` says when, and who. */
void sim_hart_hold(sim_tile *t, uint32_t hart, bool held, sim_by by);
void sim_hart_pause(sim_tile *t, uint32_t hart, bool halted, uint64_t now);
/* Accounts for the time that a hart has run until `end`, and takes it off the schedule. */
void sim_hart_stop(sim_hart_core *h, uint64_t end);

#endif
