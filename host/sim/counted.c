/* Where the cycles of a hart go: see the header. */
#include "sim/counted.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_WORDS = 256, PAGE_BITS = 10 };

const char *const sim_stall_names[SIM_STALLS] = {
    [SIM_STALL_L1] = "L1",         [SIM_STALL_REGISTER] = "register", [SIM_STALL_LOCAL] = "local",
    [SIM_STALL_BEHIND] = "behind", [SIM_STALL_MULDIV] = "muldiv",     [SIM_STALL_JUMP] = "jump",
    [SIM_STALL_STORES] = "stores", [SIM_STALL_LOADS] = "loads",       [SIM_STALL_ORDER] = "order",
    [SIM_STALL_FENCE] = "fence",
};

typedef struct page {
    uint32_t number; /* pc >> PAGE_BITS */
    sim_cycles words[PAGE_WORDS];
} page;

struct sim_counter {
    page **pages; /* by ascending number */
    uint32_t n, room, near;
    bool failed;      /* no memory: nothing that it says is right */
    uint64_t charged; /* the sum of all cycles that were ever given to a pc */
    /* Of the instruction that runs, and what it was given: it may be taken back when the hart is stopped. */
    uint32_t pc;
    uint64_t retired, given;
    sim_stall stall;
    uint32_t x[SIM_REGS];
    sim_pipe pipe;
    uint8_t why[SIM_REGS]; /* sim_stall: what a wait for the register's value is a wait for */
};

sim_counter *sim_counter_new(void)
{
    return calloc(1, sizeof(sim_counter));
}

static void drop_pages(sim_counter *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        free(c->pages[i]);
    c->n = c->near = 0;
}

void sim_counter_free(sim_counter *c)
{
    if (!c) return;
    drop_pages(c);
    free(c->pages);
    free(c);
}

/* NULL: no memory. */
static page *page_of(sim_counter *c, uint32_t number)
{
    if (c->near < c->n && c->pages[c->near]->number == number) return c->pages[c->near];
    uint32_t at = 0;
    while (at < c->n && c->pages[at]->number < number)
        at++;
    c->near = at;
    if (at < c->n && c->pages[at]->number == number) return c->pages[at];
    if (c->n == c->room) {
        uint32_t room = c->room ? 2 * c->room : 8;
        page **bigger = realloc(c->pages, room * sizeof *bigger);
        if (!bigger) return NULL;
        c->pages = bigger;
        c->room = room;
    }
    page *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->number = number;
    memmove(&c->pages[at + 1], &c->pages[at], (c->n - at) * sizeof *c->pages);
    c->pages[at] = p;
    c->n++;
    return p;
}

static sim_cycles *at_pc(sim_counter *c, uint32_t pc)
{
    page *p = page_of(c, pc >> PAGE_BITS);
    if (!p) c->failed = true;
    return p ? &p->words[pc >> 2 & (PAGE_WORDS - 1)] : NULL;
}

/* `cycles`, of which all but `own` are a stall. */
static void give(sim_counter *c, uint64_t cycles, uint64_t own, sim_stall stall)
{
    sim_cycles *at = at_pc(c, c->pc);
    c->charged += cycles;
    c->given = cycles;
    c->stall = stall;
    if (!at) return;
    at->count += own;
    at->cycles += cycles;
    if (cycles > own) at->stalled[stall] += cycles - own;
}

/* What the hart did not get to. The cycle of its own goes last. */
static void take_back(sim_counter *c, uint64_t cycles)
{
    sim_cycles *at = at_pc(c, c->pc);
    c->charged -= cycles;
    c->given -= cycles;
    if (!at) return;
    at->cycles -= cycles;
    uint64_t stalled = at->stalled[c->stall];
    at->stalled[c->stall] -= cycles < stalled ? cycles : stalled;
}

/* ---- Causes ------------------------------------------------------------------------------------------ */

static bool is_load(uint8_t code)
{
    return code >= SIM_OP_LB && code <= SIM_OP_LHU;
}

static bool is_store(uint8_t code)
{
    return code >= SIM_OP_SB && code <= SIM_OP_SW;
}

static bool is_muldiv(uint8_t code)
{
    return code >= SIM_OP_MUL && code <= SIM_OP_REMU;
}

static sim_stall region_of(const sim_tile *t, const sim_hart_core *h, uint32_t addr)
{
    if (addr - h->local_base < h->local_size) return SIM_STALL_LOCAL;
    for (uint32_t i = 0; i < t->chip->config.n_rams; i++)
        if (addr - t->banks[i].base < t->banks[i].size) return SIM_STALL_L1;
    return SIM_STALL_REGISTER;
}

/* The instruction has started, and the next one cannot start in the cycle behind it. */
static sim_stall why_next_waits(bool blackhole, const sim_hart_core *h, sim_op op, uint64_t ready)
{
    const sim_pipe *before = &h->counter->pipe, *after = &h->pipe;
    if (op.code == SIM_OP_FENCE || op.code == SIM_OP_CSR_READ) return SIM_STALL_FENCE;
    if (blackhole) {
        bool stored = after->stores != before->stores;
        if (stored && ready == before->drained[before->stores % SIM_STORE_QUEUE]) return SIM_STALL_STORES;
        if (after->entered != before->entered && ready == after->leave[after->entered % SIM_RETIRE_QUEUE])
            return SIM_STALL_LOADS;
    } else if (after->entered != before->entered) {
        if (ready == before->store_space) return SIM_STALL_STORES;
        if (ready == before->leave[before->entered % SIM_RETIRE_QUEUE]) return SIM_STALL_LOADS;
        if (after->loads != before->loads && ready == before->response[before->loads % SIM_LOADS_IN_FLIGHT])
            return SIM_STALL_LOADS;
    }
    return is_load(op.code) ? SIM_STALL_ORDER : is_muldiv(op.code) ? SIM_STALL_MULDIV : SIM_STALL_JUMP;
}

/* ---- Each instruction -------------------------------------------------------------------------------- */

void sim_counter_before(sim_hart_core *h)
{
    sim_counter *c = h->counter;
    c->pc = h->pc;
    c->retired = h->retired;
    c->given = 0;
    memcpy(c->x, h->x, sizeof c->x);
    c->pipe = h->pipe;
}

void sim_counter_after(sim_tile *t, sim_hart_core *h, uint64_t now, uint64_t ready)
{
    sim_counter *c = h->counter;
    if (ready == SIM_NEVER || h->started == SIM_NEVER) return; /* sim_counter_stopped has counted it */
    const sim_op op = h->code->ops[(c->pc - h->code->base) / 4];
    if (h->retired == c->retired) {
        const uint64_t *at = c->pipe.ready;
        give(c, ready - now, 0, (sim_stall)c->why[at[op.rs1] >= at[op.rs2] ? op.rs1 : op.rs2]);
        return;
    }
    const bool blackhole = t->chip->config.cores == SIM_CORES_BLACKHOLE;
    sim_stall stall = SIM_STALL_L1;
    if (ready > now + 1) stall = why_next_waits(blackhole, h, op, ready);
    give(c, ready - now, 1, stall);
    if (is_load(op.code))
        c->why[op.rd] = (uint8_t)region_of(t, h, c->x[op.rs1] + op.imm);
    else if (!is_store(op.code))
        c->why[op.rd] = blackhole || is_muldiv(op.code) ? SIM_STALL_MULDIV : SIM_STALL_BEHIND;
}

/* So that the sum is what it has to be: how long the hart has run. */
static void settle(sim_counter *c, uint64_t live)
{
    if (c->charged > live) {
        take_back(c, c->charged - live);
    } else if (c->charged < live) {
        uint64_t missing = live - c->charged;
        give(c, missing, missing, SIM_STALL_L1); /* the instruction by which it stopped itself */
    }
}

void sim_counter_stopped(sim_hart_core *h)
{
    settle(h->counter, h->live);
}

/* ---- Handing out -------------------------------------------------------------------------------------- */

static bool used(const sim_cycles *w)
{
    return w->count || w->cycles;
}

bool sim_cycles_take(sim *s, uint32_t tile, uint32_t hart, sim_cycles **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    if (tile >= s->n_tiles || hart >= s->config.n_harts) return false;
    sim_hart_core *h = &s->tiles[tile].harts[hart];
    sim_counter *c = h->counter;
    if (!c || c->failed) return false;
    /* The instruction that runs has been given cycles that are still to come: they are the next asker's. */
    const uint64_t live = h->live + (h->started < s->clock ? s->clock - h->started : 0);
    const uint64_t ahead = c->charged > live ? c->charged - live : 0;
    settle(c, live);
    size_t count = 0;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < PAGE_WORDS; k++)
            count += used(&c->pages[i]->words[k]);
    sim_cycles *all = malloc((count + 1) * sizeof *all);
    if (!all) return false;
    for (uint32_t i = 0; i < c->n; i++) {
        for (uint32_t k = 0; k < PAGE_WORDS; k++) {
            sim_cycles *w = &c->pages[i]->words[k];
            if (!used(w)) continue;
            w->pc = c->pages[i]->number << PAGE_BITS | k << 2;
            all[(*n)++] = *w;
        }
    }
    drop_pages(c);
    if (ahead) give(c, ahead, 0, c->stall);
    *out = all;
    return !c->failed;
}
