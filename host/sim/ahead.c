/* Running harts ahead of each other, and tiles ahead of the chip: how far, beginning, ending and undoing a trial. What it is
 * not: the running (run.c). */
#include "sim/ahead.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/tile.h"

bool sim_ahead_init(sim_tile *t)
{
    void *p = mmap(NULL, sizeof *t->journal, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    t->journal = p;
    t->reach = SIM_AHEAD_FAR;
    return true;
}

void sim_ahead_free(sim_tile *t)
{
    if (t->journal) munmap(t->journal, sizeof *t->journal);
}

/* Cycles from the beginning of this quantum on. */
static uint64_t reach(sim_tile *t)
{
    if (!t->idle || t->reach >= SIM_AHEAD_WORTH) return t->reach;
    if (++t->rested < SIM_AHEAD_REST) return 0;
    t->rested = 0;
    t->reach = SIM_AHEAD_WORTH;
    return t->reach;
}

/* Those of 65,536 trials ago would look like this one's. */
static void forget_tags(sim_tile *t)
{
    for (uint32_t i = 0; i < t->chip->config.n_rams; i++)
        memset(t->banks[i].tags, 0, ((t->banks[i].size >> SIM_TAG_BITS) + 1) * sizeof *t->banks[i].tags);
    t->epoch = 1;
}

uint64_t sim_ahead_begin(sim_tile *t, uint64_t from, uint64_t to, uint64_t end)
{
    if (to - from < SIM_AHEAD_MIN) return 0;
    if (t->wait > 0) {
        t->wait--;
        return 0;
    }
    const uint64_t cycles = reach(t);
    if (cycles == 0) return 0;
    const uint64_t far = from / SIM_QUANTUM * SIM_QUANTUM + cycles;
    to = sim_later(to, far < end ? far : end);
    /* All reads of the clock's low word in a trial latch the same high word, unless it wraps there. */
    if (sim_tile_clock(t, from) >> 32 != sim_tile_clock(t, to - 1) >> 32) return 0;
    sim_journal *j = t->journal;
    j->from = from;
    j->saved = 0;
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++) {
        if (t->harts[i].ready >= to) continue;
        j->harts[i] = t->harts[i];
        j->saved |= 1u << i;
    }
    j->clock_latched = t->clock_latched;
    j->n_truth = t->chip->n_truth;
    j->n_lines = j->n_words = 0;
    if (++t->epoch == 0) forget_tags(t);
    t->ahead = true;
    return to;
}

bool sim_ahead_can_read(const sim_tile *t, uint64_t now, uint32_t addr)
{
    uint32_t latched_addr = t->chip->config.clock_latched_addr;
    if (latched_addr == 0 || addr != latched_addr) return true;
    return t->journal->clock_latched == (uint32_t)(sim_tile_clock(t, now) >> 32);
}

/* Other tiles may have gone on logging, and know where in the log they began: nothing is moved (truth.c). */
static void forget_truth(const sim_tile *t, size_t first)
{
    sim *s = t->chip;
    for (size_t i = first; i < s->n_truth; i++)
        if (s->truth[i].tile == t->index) s->truth[i].size = 0;
}

uint64_t sim_ahead_undo(sim_tile *t)
{
    sim_journal *j = t->journal;
    while (j->n_words > 0) {
        j->n_words--;
        memcpy(j->words[j->n_words].word, &j->words[j->n_words].old, 4);
    }
    while (j->n_lines > 0) {
        j->n_lines--;
        const sim_bank *b = &t->banks[j->lines[j->n_lines].bank];
        const uint32_t first = j->lines[j->n_lines].offset, size = 1 << SIM_TAG_BITS;
        memcpy(b->bytes + first, j->lines[j->n_lines].old, size);
        if (!(b->pages[first >> SIM_PAGE_BITS] & SIM_PAGE_CODE)) continue;
        for (uint32_t at = first; at < first + size && at < b->size; at += 4)
            b->ops[at / 4].code = SIM_OP_UNDECODED;
    }
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++)
        if (j->saved >> i & 1) t->harts[i] = j->harts[i];
    t->clock_latched = j->clock_latched;
    forget_truth(t, j->n_truth);
    return j->from;
}

bool sim_ahead_end(sim_tile *t, uint64_t last)
{
    t->ahead = false;
    if (!t->abandoned) {
        t->patience = 0;
        t->reach = t->reach < SIM_AHEAD_FAR / 2 ? (uint16_t)(2 * t->reach) : SIM_AHEAD_FAR;
        return true;
    }
    t->abandoned = false;
    t->chip->n_truth = t->journal->n_truth;
    const uint64_t from = sim_ahead_undo(t), whole = last / SIM_QUANTUM * SIM_QUANTUM;
    if (whole >
        from + SIM_QUANTUM) { /* up to there it should do, and what was met comes in the next quantum */
        t->reach = (uint16_t)(whole - from / SIM_QUANTUM * SIM_QUANTUM);
        return false;
    }
    t->reach = SIM_QUANTUM;
    t->wait = t->patience;
    t->patience = (uint8_t)(2 * t->patience + 1);
    if (t->patience > SIM_AHEAD_MAX_WAIT) t->patience = SIM_AHEAD_MAX_WAIT;
    return false;
}
