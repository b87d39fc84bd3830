/* Execution: the harts of one tile, interleaved cycle by cycle in the order of their numbers - or so that
 * nobody can tell the difference (ahead.h).
 *
 * What it is for: the loops of the simulator. What it is not: an instruction (step.h). */
#include "sim/counted.h"
#include "sim/step.h"
#include "sim/strict.h"

/* ---- One tile -------------------------------------------------------------------------------------- */

/* All harts, cycle by cycle. */
ALWAYS_INLINE void run_interleaved(sim_tile *t, uint64_t from, uint64_t to, const sim_model model)
{
    sim_hart_core *const end = t->harts + t->chip->config.n_harts;
    for (uint64_t now = from; now < to && !t->frozen;) {
        uint64_t next = to;
        t->rescan = false;
        for (sim_hart_core *h = t->harts; h < end; h++) {
            if (h->ready <= now) {
                uint64_t ready = step(t, h, now, model, false);
                if (UNLIKELY(t->frozen)) return;
                h->ready = ready;
            }
            if (h->ready < next) next = h->ready;
        }
        now = t->rescan ? now + 1 : next;
    }
}

/* The only hart that is running. Returns the cycle until which it has been the only one. */
ALWAYS_INLINE uint64_t run_alone(sim_tile *t, sim_hart_core *h, uint64_t to, const sim_model model)
{
    uint64_t now = h->ready, last = now;
    t->rescan = false;
    while (now < to && !t->rescan) {
        last = now;
        now = step(t, h, now, model, false);
    }
    h->ready = now;
    return t->rescan ? last + 1 : to;
}

/* Each hart alone through the quantum, and further if that goes well; ahead.h. Returns how far; 0: nothing has happened. */
ALWAYS_INLINE uint64_t run_ahead(sim_tile *t, uint64_t from, uint64_t to, uint64_t end, const sim_model model)
{
    const uint64_t far = sim_ahead_begin(t, from, to, end);
    if (far == 0) return 0;
    sim_hart_core *const harts_end = t->harts + t->chip->config.n_harts;
    uint64_t last = from;
    for (sim_hart_core *h = t->harts; h < harts_end && !t->abandoned; h++) {
        uint64_t now = h->ready;
        while (now < far) {
            last = now;
            now = step(t, h, now, model, true);
        }
        h->ready = now;
    }
    return sim_ahead_end(t, last) ? far : 0;
}

/* What is known to go well because a longer trial has. */
ALWAYS_INLINE void run_again(sim_tile *t, uint64_t to, const sim_model model)
{
    sim_hart_core *const harts_end = t->harts + t->chip->config.n_harts;
    for (sim_hart_core *h = t->harts; h < harts_end; h++) {
        uint64_t now = h->ready;
        while (now < to)
            now = step(t, h, now, model, false);
        h->ready = now;
    }
}

/* The same where some code takes no time (sim_free_code). */
static uint64_t step_free(sim_tile *t, sim_hart_core *h, uint64_t now)
{
    uint32_t index = word_index(&t->banks[0], h->pc);
    if (index >= t->banks[0].size / 4 || !t->chip->free_code[index]) {
        h->in_no_time = 0;
        return t->chip->config.cores == SIM_CORES_BLACKHOLE ? step(t, h, now, BLACKHOLE, false)
                                                            : step(t, h, now, WORMHOLE, false);
    }
    uint64_t ready = step(t, h, now, FUNCTIONAL, false);
    if (ready == STOPPED) return ready;
    h->pipe.ready[t->banks[0].ops[index].rd] = 0;
    if (h->in_no_time++ < SIM_MOST_IN_NO_TIME) return now;
    h->in_no_time = 0;
    h->waited++;
    return now + 1;
}

static void run_free(sim_tile *t, uint64_t from, uint64_t to)
{
    sim_hart_core *const end = t->harts + t->chip->config.n_harts;
    for (uint64_t now = from; now < to && !t->frozen;) {
        uint64_t next = to;
        for (sim_hart_core *h = t->harts; h < end; h++) {
            while (h->ready <= now) {
                uint64_t ready = step_free(t, h, now);
                if (t->frozen) return;
                h->ready = ready;
            }
        }
        for (sim_hart_core *h = t->harts; h < end; h++)
            if (h->ready < next) next = h->ready;
        now = next;
    }
}

static sim_model model_of(const sim_tile *t)
{
    const sim_config *c = &t->chip->config;
    return c->functional ? FUNCTIONAL : c->cores == SIM_CORES_BLACKHOLE ? BLACKHOLE : WORMHOLE;
}

/* The same where it is asked where the cycles go (counted.h). */
static uint64_t step_counted(sim_tile *t, sim_hart_core *h, uint64_t now)
{
    const sim_model model = model_of(t);
    sim_counter_before(h);
    uint64_t ready = model == FUNCTIONAL  ? step(t, h, now, FUNCTIONAL, false)
                     : model == BLACKHOLE ? step(t, h, now, BLACKHOLE, false)
                                          : step(t, h, now, WORMHOLE, false);
    sim_counter_after(t, h, now, ready);
    return ready;
}

static void run_counted(sim_tile *t, uint64_t from, uint64_t to)
{
    sim_hart_core *const end = t->harts + t->chip->config.n_harts;
    for (uint64_t now = from; now < to && !t->frozen; now++) {
        for (sim_hart_core *h = t->harts; h < end; h++) {
            if (h->ready > now) continue;
            uint64_t ready = step_counted(t, h, now);
            if (t->frozen) return;
            h->ready = ready;
        }
    }
}

static uint64_t retired(const sim_tile *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++)
        sum += t->harts[i].retired;
    return sum;
}

ALWAYS_INLINE uint64_t run(sim_tile *t, uint64_t from, uint64_t to, uint64_t end, const sim_model model)
{
    sim_hart_core *running = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++)
        if (t->harts[i].ready < to) running = &t->harts[i], n++;
    if (n == 0) return to;
    uint64_t before = retired(t), far = 0;
    /* When it has failed late, it is tried once more up to there. */
    for (uint32_t tries = 0; far == 0 && tries < 2 && (n > 1 || end > to); tries++) {
        far = run_ahead(t, from, to, end, model);
        if (t->reach == SIM_QUANTUM) break;
    }
    if (far == 0 && n == 1) {
        from = run_alone(t, running, to, model);
        run_interleaved(t, from, to, model);
        return to;
    }
    if (far == 0) run_interleaved(t, from, far = to, model);
    t->idle = (retired(t) - before) * SIM_AHEAD_BUSY < n * (far - from);
    return far;
}

uint64_t sim_tile_run_far(sim_tile *t, uint64_t from, uint64_t to)
{
    sim_hart_core *running = NULL;
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++) {
        if (t->harts[i].ready == SIM_NEVER) continue;
        if (running) return from;
        running = &t->harts[i];
    }
    if (!running || t->frozen || t->strict || t->chip->free_code || running->counter) return from;
    if (running->ready >= to) return to;
    switch (model_of(t)) {
    case FUNCTIONAL: return run_alone(t, running, to, FUNCTIONAL);
    case BLACKHOLE: return run_alone(t, running, to, BLACKHOLE);
    case WORMHOLE: return run_alone(t, running, to, WORMHOLE);
    }
    return from;
}

uint64_t sim_tile_run(sim_tile *t, uint64_t from, uint64_t to, uint64_t end)
{
    if (t->frozen) return to;
    if (t->strict)
        sim_strict_run(t, from, to);
    else if (t->chip->free_code)
        run_free(t, from, to);
    else if (t->harts[0].counter)
        run_counted(t, from, to);
    else
        switch (model_of(t)) {
        case FUNCTIONAL: return run(t, from, to, end, FUNCTIONAL);
        case BLACKHOLE: return run(t, from, to, end, BLACKHOLE);
        case WORMHOLE: return run(t, from, to, end, WORMHOLE);
        }
    return to;
}

void sim_tile_settle(sim_tile *t)
{
    sim *s = t->chip;
    if (s->ran_to[t->index] <= s->clock) return;
    s->ran_to[t->index] = s->clock;
    if (t->reach > SIM_QUANTUM) t->reach /= 2;
    sim_ahead_undo(t);
    switch (model_of(t)) {
    case FUNCTIONAL: run_again(t, s->clock, FUNCTIONAL); break;
    case BLACKHOLE: run_again(t, s->clock, BLACKHOLE); break;
    case WORMHOLE: run_again(t, s->clock, WORMHOLE); break;
    }
}
