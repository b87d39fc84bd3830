/* Running harts ahead of each other, and tiles ahead of the chip.
 *
 * What it is for: speed. Interleaving harts instruction by instruction costs most of the simulator's time, and so
 * does going round all tiles, whose code and data do not fit into the machine's caches together. Both hardly
 * ever matter: harts seldom touch the same memory, and packets are rare. So each hart runs for many cycles
 * alone, while everything that it reads or writes is noted. If two harts of a tile turn out to have met - one has
 * written 16 bytes that another has accessed - or if anything happens that all have to notice at once (a write
 * to a register, a change of code, a refusal), what the tile has done is undone, and a quantum of it is run again
 * in lock-step. A tile that has run ahead of the chip's clock keeps the notes: if a packet reaches it in the
 * meantime, it is put back, and runs up to there. What it is not: visible. The result is that of lock-step,
 * always; test_sim_determinism.c compares the two. */
#ifndef DEVLOG_SIM_AHEAD_H
#define DEVLOG_SIM_AHEAD_H

#include "sim/chip.h"

enum {
    SIM_AHEAD_MIN = 8,       /* cycles: shorter quanta are not worth it */
    SIM_AHEAD_BUSY = 3,      /* nor are harts that start less than one instruction in so many cycles */
    SIM_AHEAD_MAX_WAIT = 63, /* quanta in lock-step after having met again and again */
    SIM_AHEAD_FAR = 4096,    /* cycles: the longest trial */
    SIM_AHEAD_WORTH = 256,   /* cycles: so long a trial is worth it even if harts mostly wait ... */
    SIM_AHEAD_REST = 8       /* ... and is tried after so many quanta */
};

struct sim_journal {
    sim_hart_core harts[SIM_MAX_HARTS]; /* as they were; only those that run */
    uint64_t from;
    uint32_t saved; /* bits of those */
    uint32_t clock_latched;
    size_t n_truth;
    /* What has been overwritten: the 16 bytes of a tag at the first store to them, each word of a local RAM. A hart makes at most
     * one store per cycle. */
    uint32_t n_lines, n_words;
    struct {
        uint8_t old[1 << SIM_TAG_BITS];
        uint32_t bank, offset;
    } lines[SIM_AHEAD_FAR * SIM_MAX_HARTS];
    struct {
        uint8_t *word;
        uint32_t old;
    } words[SIM_AHEAD_FAR * SIM_MAX_HARTS];
};

/* False: no memory. */
bool sim_ahead_init(sim_tile *t);
void sim_ahead_free(sim_tile *t);
/* Until when the quantum [from, to) and what follows it, but nothing from `end` on, can be tried; 0: not at all. */
uint64_t sim_ahead_begin(sim_tile *t, uint64_t from, uint64_t to, uint64_t end);
/* Whether a register reads the same, whatever other harts have read before in the trial. */
bool sim_ahead_can_read(const sim_tile *t, uint64_t now, uint32_t addr);
/* Ends the trial, in which the last instruction started in cycle `last`. False: it was abandoned and everything is as it
 * was. */
bool sim_ahead_end(sim_tile *t, uint64_t last);
/* Puts a tile back to where its trial began, after its end. Returns that cycle. */
uint64_t sim_ahead_undo(sim_tile *t);

/* True in a trial, which then is abandoned: what the caller was about to do needs lock-step. */
static inline bool sim_ahead_abandon(sim_tile *t)
{
    if (t->ahead) t->abandoned = true;
    return t->ahead;
}

/* Notes the 16 bytes around `offset`. There are as many: memory is mapped by pages (tile.c). */
static inline void sim_ahead_note(sim_tile *t, const sim_bank *b, uint32_t offset)
{
    sim_journal *j = t->journal;
    const uint32_t first = offset >> SIM_TAG_BITS << SIM_TAG_BITS;
    j->lines[j->n_lines].bank = (uint32_t)(b - t->banks);
    j->lines[j->n_lines].offset = first;
    __builtin_memcpy(j->lines[j->n_lines++].old, b->bytes + first, 1 << SIM_TAG_BITS);
}

/* Notes that a hart accesses the 16 bytes around `offset`. False: another one has met it there. */
static inline bool sim_ahead_claim(sim_tile *t, const sim_bank *b, uint32_t hart, uint32_t offset, bool write)
{
    enum { WRITERS = 8, EPOCH = 16 }; /* bits 0-7 of a tag: readers */
    uint32_t *tag = &b->tags[offset >> SIM_TAG_BITS], seen = *tag;
    uint32_t mine = 1u << hart, all = 0xff, clash;
    if (seen >> EPOCH != t->epoch) seen = (uint32_t)t->epoch << EPOCH;
    clash = write ? (all | all << WRITERS) & ~(mine | mine << WRITERS) : (all & ~mine) << WRITERS;
    if (seen & clash) return !sim_ahead_abandon(t);
    if (write && !(seen & mine << WRITERS)) sim_ahead_note(t, b, offset);
    *tag = seen | (write ? mine << WRITERS : mine);
    return true;
}

/* Notes what a store to a local RAM is about to overwrite. */
static inline void sim_ahead_store_local(sim_tile *t, uint8_t *byte)
{
    sim_journal *j = t->journal;
    uint8_t *word = (uint8_t *)((uintptr_t)byte & ~(uintptr_t)3);
    j->words[j->n_words].word = word;
    __builtin_memcpy(&j->words[j->n_words++].old, word, 4);
}

#endif
