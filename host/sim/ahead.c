/* Running harts ahead of each other: beginning, ending and undoing a trial. What it is not: the running
 * (run.c). */
#include "sim/ahead.h"

#include <string.h>

#include "sim/tile.h"

bool sim_ahead_begin(sim_tile *t, uint64_t from, uint64_t to)
{
    if (to - from < SIM_AHEAD_MIN || t->idle) return false;
    if (t->wait > 0) {
        t->wait--;
        return false;
    }
    /* All reads of the clock's low word in a quantum latch the same high word, unless it wraps there. */
    if (sim_tile_clock(t, from) >> 32 != sim_tile_clock(t, to - 1) >> 32) return false;
    sim_journal *j = t->chip->journal;
    j->saved = 0;
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++) {
        if (t->harts[i].ready >= to) continue;
        j->harts[i] = t->harts[i];
        j->saved |= 1u << i;
    }
    j->clock_latched = t->clock_latched;
    j->n_truth = t->chip->n_truth;
    j->n_stores = 0;
    t->epoch++;
    t->ahead = true;
    return true;
}

bool sim_ahead_can_read(const sim_tile *t, uint64_t now, uint32_t addr)
{
    uint32_t latched_addr = t->chip->config.clock_latched_addr;
    if (latched_addr == 0 || addr != latched_addr) return true;
    return t->chip->journal->clock_latched == (uint32_t)(sim_tile_clock(t, now) >> 32);
}

static void undo(sim_tile *t)
{
    sim_journal *j = t->chip->journal;
    while (j->n_stores > 0) {
        j->n_stores--;
        memcpy(j->stores[j->n_stores].word, &j->stores[j->n_stores].old, 4);
        const sim_bank *b = j->stores[j->n_stores].bank;
        if (!b) continue;
        uint32_t offset = (uint32_t)(j->stores[j->n_stores].word - b->bytes);
        if (b->pages[offset >> SIM_PAGE_BITS] & SIM_PAGE_CODE) b->ops[offset / 4].code = SIM_OP_UNDECODED;
    }
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++)
        if (j->saved >> i & 1) t->harts[i] = j->harts[i];
    t->clock_latched = j->clock_latched;
    t->chip->n_truth = j->n_truth;
}

bool sim_ahead_end(sim_tile *t)
{
    t->ahead = false;
    if (!t->abandoned) {
        t->patience = 0;
        return true;
    }
    t->abandoned = false;
    undo(t);
    t->wait = t->patience;
    t->patience = (uint8_t)(2 * t->patience + 1);
    if (t->patience > SIM_AHEAD_MAX_WAIT) t->patience = SIM_AHEAD_MAX_WAIT;
    return false;
}
