/* Accesses that overtake each other, a data cache and instruction caches that are not coherent: see the header.
 *
 * A hart has a queue of stores, which leave it in their order but whenever they like, and a way to each region of memory, on
 * which accesses keep their order; each way is as slow as it likes. A load has its value when it is processed at the end of its
 * way; instructions behind it go on until one needs its value, or until seven have. */
#include "sim/strict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/strict_execute.h"
#include "sim/tile.h"

enum {
    IN_FLIGHT = 32,
    STORES = 4, /* in the queue */
    BEHIND = 8, /* instructions in the retire-order queue, the oldest load among them */
    LINES = 4,  /* of the data cache */
    LINE = 16,
    CACHED = 512, /* instructions: 2 KiB */
    PREFETCH = 4, /* instructions that are fetched with a missing one */
    WINDOW = 20,  /* instructions that may have been fetched before an invalidation */
    REGIONS = 16,
    LOCAL = SIM_MAX_RAMS,
    CONFIGURATION = LOCAL + 3,
    MOST_CONFIGURATION = 3000, /* cycles */
    NEAR = 4,                  /* stores this close together are merged in the queue */
};

/* A load or a store. Stores begin in the queue; all that has left is in the order in which it did. */
typedef struct request {
    bool store, processed, follows; /* follows: shares its place in the queue with the one in front */
    uint8_t region, size, rd;
    sim_opcode code;
    uint32_t addr, value, pc, number;
    uint64_t at; /* queue: leaves; on the way: is processed; then: its response is there */
} request;

typedef struct hart {
    uint64_t random;
    uint32_t number;             /* of instructions begun */
    uint32_t slow[REGIONS];      /* cycles, of each way */
    uint32_t slow_queue;         /* cycles */
    uint32_t flush_one_in;       /* of the hits of the data cache; 0: never */
    uint64_t region_at[REGIONS]; /* when the last access is processed there */
    uint64_t queue_at;           /* when the last store leaves the queue */
    uint32_t n_queue, n_way;
    request queue[2 * IN_FLIGHT], way[2 * IN_FLIGHT];
    uint32_t
        waits_for[SIM_REGS]; /* number + 1 of the load whose value a register gets; 0: it has its value */
    struct {
        uint32_t base;
        bool valid;
        uint8_t bytes[LINE];
    } lines[LINES];
    struct {
        uint32_t pc, generation; /* generation 0: empty */
        sim_op op;
    } code[CACHED];
    uint32_t generation, window;
    bool lazy; /* some stores to registers take very long */
} hart;

struct sim_strict {
    hart harts[SIM_MAX_HARTS];
    uint64_t random; /* of the tile's NIUs */
};

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (uint32_t)((*random >> 33) % n) : 0;
}

/* Mostly little, sometimes all of it. */
static uint32_t delay(hart *h, uint32_t most)
{
    return below(&h->random, below(&h->random, 4) ? most / 4 + 1 : most + 1);
}

bool sim_strict_init(sim_tile *t)
{
    static const uint32_t waits[] = {0, 2, 8, 30, 120}, chances[] = {0, 128, 128, 12};
    const sim_config *c = &t->chip->config;
    t->strict = calloc(1, sizeof *t->strict);
    if (!t->strict) return false;
    uint64_t seed =
        (c->strict_seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + t->index * UINT64_C(0xD1B54A32D192ED03);
    t->strict->random = seed;
    for (uint32_t i = 0; i < c->n_harts; i++) {
        hart *h = &t->strict->harts[i];
        h->random = seed ^ (i + 1) * UINT64_C(0x94D049BB133111EB);
        below(&h->random, 1);
        for (uint32_t r = 0; r < REGIONS; r++)
            h->slow[r] = waits[below(&h->random, 5)];
        /* A cache is told to forget what it holds by way of the backend configuration, and cores start by way of L1. */
        if (below(&h->random, 2)) h->slow[CONFIGURATION] = MOST_CONFIGURATION;
        h->slow_queue = waits[below(&h->random, 5)];
        h->flush_one_in = chances[below(&h->random, 4)];
        h->generation = 1;
        h->lazy = below(&h->random, 2);
    }
    return true;
}

void sim_strict_free(sim_tile *t)
{
    free(t->strict);
}

uint32_t sim_strict_way(sim_tile *t)
{
    if (!t->strict) return 0;
    return below(&t->strict->random, below(&t->strict->random, 4) ? 16 : 400);
}

/* ---- Regions and memory ---------------------------------------------------------------------------- */

static bool is_local(const sim_hart_core *core, uint32_t addr)
{
    return addr - core->local_base < core->local_size;
}

/* The rows of BabyRISCV/README.md, "Memory map". */
static uint8_t region_of(sim_tile *t, const sim_hart_core *core, uint32_t addr)
{
    const sim_config *c = &t->chip->config;
    for (uint32_t i = 0; i < c->n_rams; i++)
        if (addr - t->banks[i].base < t->banks[i].size) return (uint8_t)i;
    if (is_local(core, addr)) return LOCAL;
    for (uint32_t noc = 0; noc < 2; noc++)
        if (c->noc_regs_addr[noc] && addr >> 16 == c->noc_regs_addr[noc] >> 16)
            return (uint8_t)(LOCAL + 1 + noc);
    if (c->icache_addr && addr >> 16 == c->icache_addr >> 16) return CONFIGURATION;
    return (uint8_t)(LOCAL + 4 + (addr >> 12) % (REGIONS - LOCAL - 4));
}

static const char *load_now(sim_tile *t, sim_hart_core *core, sim_by by, uint32_t addr, uint32_t size,
                            uint32_t *value)
{
    *value = 0;
    if (is_local(core, addr)) {
        memcpy(value, core->local + (addr - core->local_base), size);
        return NULL;
    }
    const sim_bank *b = sim_tile_bank(t, addr, size);
    if (b) {
        memcpy(value, b->bytes + (addr - b->base), size);
        return NULL;
    }
    return size == 4 ? sim_reg_read(t, by, addr, value)
                     : "only memory, or a register of 4 bytes, can be accessed";
}

static const char *store_now(sim_tile *t, sim_hart_core *core, sim_by by, uint32_t addr, uint32_t size,
                             uint32_t value)
{
    if (is_local(core, addr)) {
        memcpy(core->local + (addr - core->local_base), &value, size);
        return NULL;
    }
    sim_bank *b = sim_tile_bank(t, addr, size);
    if (b) {
        uint32_t offset = addr - b->base;
        memcpy(b->bytes + offset, &value, size);
        if (b->pages[offset >> SIM_PAGE_BITS]) sim_bank_stored(t, b, by, offset, value, size);
        return NULL;
    }
    return size == 4 ? sim_reg_write(t, by, addr, value)
                     : "only memory, or a register of 4 bytes, can be accessed";
}

static void refuse_access(sim_tile *t, uint32_t number, const request *r, uint64_t now, const char *why)
{
    const char *name = sim_hart_name(t, number);
    if (r->store)
        sim_refuse(t, (uint8_t)number, now,
                   "%s of tile (%u,%u) at pc 0x%08x: store of %u byte%s, 0x%0*x to 0x%08x: %s", name,
                   t->config->x, t->config->y, r->pc, r->size, r->size > 1 ? "s" : "", (int)(2 * r->size),
                   r->value, r->addr, why);
    else
        sim_refuse(t, (uint8_t)number, now,
                   "%s of tile (%u,%u) at pc 0x%08x: load of %u byte%s from 0x%08x: %s", name, t->config->x,
                   t->config->y, r->pc, r->size, r->size > 1 ? "s" : "", r->addr, why);
}

/* ---- The data cache -------------------------------------------------------------------------------- */

static void forget_lines(hart *h)
{
    for (uint32_t i = 0; i < LINES; i++)
        h->lines[i].valid = false;
}

static void forget_line(hart *h, uint32_t addr)
{
    for (uint32_t i = 0; i < LINES; i++)
        if (h->lines[i].base == addr / LINE * LINE) h->lines[i].valid = false;
}

/* A hart's own stores are always seen by its loads: what was read while one to the line was under way is not kept. */
static bool stores_to_line(const hart *h, uint32_t base)
{
    for (uint32_t i = 0; i < h->n_queue; i++)
        if (h->queue[i].region == 0 && h->queue[i].addr / LINE * LINE == base) return true;
    for (uint32_t i = 0; i < h->n_way; i++)
        if (h->way[i].store && h->way[i].region == 0 && h->way[i].addr / LINE * LINE == base) return true;
    return false;
}

static void fill(const sim_tile *t, hart *h, uint32_t addr)
{
    uint32_t base = addr / LINE * LINE, at = below(&h->random, LINES);
    const sim_bank *l1 = &t->banks[0];
    if (!t->chip->config.data_cache || base - l1->base + LINE > l1->size || stores_to_line(h, base)) return;
    for (uint32_t i = 0; i < LINES; i++)
        if (!h->lines[i].valid) at = i;
    for (uint32_t i = 0; i < LINES; i++)
        if (h->lines[i].valid && h->lines[i].base == base) at = i;
    h->lines[at].valid = true;
    h->lines[at].base = base;
    memcpy(h->lines[at].bytes, l1->bytes + (base - l1->base), LINE);
}

static bool hit(hart *h, const request *r, uint32_t *value)
{
    for (uint32_t i = 0; i < LINES; i++) {
        if (!h->lines[i].valid || h->lines[i].base != r->addr / LINE * LINE) continue;
        *value = 0;
        memcpy(value, h->lines[i].bytes + r->addr % LINE, r->size);
        if (h->flush_one_in && below(&h->random, h->flush_one_in) == 0) forget_lines(h);
        return true;
    }
    return false;
}

/* ---- What is under way ----------------------------------------------------------------------------- */

static void emit(hart *h, request r, uint64_t now)
{
    /* A block of registers may take its time. */
    bool late = r.store && r.region > LOCAL && h->lazy && below(&h->random, 8) == 0;
    uint64_t at = now + 1 + delay(h, late ? MOST_CONFIGURATION : h->slow[r.region]);
    if (at < h->region_at[r.region]) at = h->region_at[r.region];
    r.at = h->region_at[r.region] = at;
    h->way[h->n_way++] = r;
}

static uint32_t extended(sim_opcode code, uint32_t value)
{
    return code == SIM_OP_LB ? (uint32_t)(int8_t)value : code == SIM_OP_LH ? (uint32_t)(int16_t)value : value;
}

static void deliver(sim_hart_core *core, hart *h, const request *r)
{
    if (h->waits_for[r->rd] != r->number + 1) return;
    h->waits_for[r->rd] = 0;
    core->x[r->rd] = extended(r->code, r->value);
}

/* Everything of a hart that is due by `now`. */
static void proceed(sim_tile *t, uint32_t number, uint64_t now)
{
    hart *h = &t->strict->harts[number];
    sim_hart_core *core = &t->harts[number];
    uint32_t gone = 0, kept = 0;
    while (gone < h->n_queue && h->queue[gone].at <= now && h->n_way < IN_FLIGHT)
        emit(h, h->queue[gone++], now);
    if (gone) memmove(h->queue, h->queue + gone, (h->n_queue -= gone) * sizeof h->queue[0]);
    for (uint32_t i = 0; i < h->n_way && !t->frozen; i++) {
        request *r = &h->way[i];
        if (r->at > now || r->processed) continue;
        sim_by by = {.now = now, .pc = r->pc, .hart = (uint8_t)number};
        r->processed = true;
        const char *why = r->store ? store_now(t, core, by, r->addr, r->size, r->value)
                                   : load_now(t, core, by, r->addr, r->size, &r->value);
        if (why) refuse_access(t, number, r, now, why);
        if (core->started == SIM_NEVER) return; /* it has reset itself, and has nothing under way any more */
        if (r->store) continue;
        if (r->region == 0) fill(t, h, r->addr);
        r->at = now + delay(h, h->slow[r->region] / 2);
    }
    for (uint32_t i = 0; i < h->n_way; i++) {
        request *r = &h->way[i];
        bool over = r->processed && (r->store || r->at <= now);
        if (over && !r->store) deliver(core, h, r);
        if (!over) h->way[kept++] = *r;
    }
    h->n_way = kept;
}

void sim_strict_settle(sim_tile *t, uint32_t number, uint64_t now)
{
    hart *h = &t->strict->harts[number];
    while ((h->n_queue || h->n_way) && !t->frozen) {
        for (uint32_t i = 0; i < h->n_queue; i++)
            h->queue[i].at = 0;
        for (uint32_t i = 0; i < h->n_way; i++)
            h->way[i].at = 0;
        proceed(t, number, now);
    }
}

void sim_strict_reset(sim_tile *t, uint32_t number)
{
    hart *h = &t->strict->harts[number];
    h->n_queue = h->n_way = 0;
    memset(h->waits_for, 0, sizeof h->waits_for);
    /* "The instruction cache will be invalidated" (SoftReset.md); of the data cache nothing is said. */
    h->generation += 2;
    h->window = 0;
}

/* "bit 0 for RISCV B, bit 1 for RISCV T0, .. bit 4 for RISCV NC" (BackendConfiguration.md) */
static uint32_t cache_bit(const char *name, uint32_t index)
{
    static const char *const names[] = {"BRISC", "TRISC0", "TRISC1", "TRISC2", "NCRISC"};
    for (uint32_t i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return index;
}

void sim_strict_invalidate(sim_tile *t, uint32_t mask)
{
    for (uint32_t i = 0; i < t->chip->config.n_harts; i++) {
        hart *h = &t->strict->harts[i];
        if (!(mask >> cache_bit(t->chip->config.harts[i].name, i) & 1)) continue;
        h->generation++;
        h->window = below(&h->random, WINDOW + 1);
    }
}

/* ---- Fetch ----------------------------------------------------------------------------------------- */

static void fetch_word(sim_tile *t, hart *h, uint32_t pc)
{
    const sim_bank *b = sim_tile_bank(t, pc, 4);
    uint32_t word;
    if (!b) return;
    memcpy(&word, b->bytes + (pc - b->base), sizeof word);
    uint32_t at = pc / 4 % CACHED;
    h->code[at].pc = pc;
    h->code[at].generation = h->generation;
    h->code[at].op = sim_decode(word, pc);
}

static bool is_cached(const hart *h, uint32_t pc)
{
    uint32_t at = pc / 4 % CACHED;
    if (h->code[at].pc != pc || h->code[at].generation == 0) return false;
    return h->code[at].generation == h->generation ||
           (h->window && h->code[at].generation == h->generation - 1);
}

/* NULL: refused. */
static const sim_op *fetch(sim_tile *t, uint32_t number, uint32_t pc, uint64_t now)
{
    hart *h = &t->strict->harts[number];
    if (pc & 3 || !sim_tile_bank(t, pc, 4)) {
        sim_refuse(t, (uint8_t)number, now,
                   "%s of tile (%u,%u) at pc 0x%08x: fetch of 4 bytes from 0x%08x: %s",
                   sim_hart_name(t, number), t->config->x, t->config->y, pc, pc,
                   pc & 3 ? "the address is not aligned" : "there is no memory for code there");
        return NULL;
    }
    if (!is_cached(h, pc))
        for (uint32_t i = 0; i < PREFETCH; i++)
            if (i == 0 || !is_cached(h, pc + 4 * i)) fetch_word(t, h, pc + 4 * i);
    return &h->code[pc / 4 % CACHED].op;
}

/* ---- One instruction ------------------------------------------------------------------------------- */

static bool waits(const hart *h, uint8_t reg)
{
    return reg < SIM_REGS && h->waits_for[reg] != 0;
}

/* Whether the retire-order queue is full of what is behind a load. */
static bool is_full(const hart *h)
{
    for (uint32_t i = 0; i < h->n_way; i++)
        if (!h->way[i].store && h->number - h->way[i].number >= BEHIND) return true;
    return false;
}

static uint32_t places_taken(const hart *h)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n_queue; i++)
        n += !h->queue[i].follows;
    return n;
}

/* Whether a store that is still queued keeps a load from going: on Wormhole one to exactly its address, on Blackhole one to any of
 * its bytes. */
static bool conflicts(const sim_config *c, const hart *h, const request *r)
{
    for (uint32_t i = 0; i < h->n_queue; i++) {
        const request *q = &h->queue[i];
        if (c->data_cache ? q->addr < r->addr + r->size && r->addr < q->addr + q->size : q->addr == r->addr)
            return true;
    }
    return false;
}

static bool loads_on_way(const hart *h)
{
    for (uint32_t i = 0; i < h->n_way; i++)
        if (!h->way[i].store) return true;
    return false;
}

/* False: it has to wait. */
static bool begin_load(sim_tile *t, hart *h, sim_hart_core *core, request r, uint64_t now)
{
    const sim_config *c = &t->chip->config;
    if (conflicts(c, h, &r) || h->n_way == IN_FLIGHT) return false;
    if (!c->data_cache && places_taken(h) == STORES) return false;
    if (r.region == 0 && c->data_cache && hit(h, &r, &r.value)) {
        h->waits_for[r.rd] = 0;
        core->x[r.rd] = extended(r.code, r.value);
        return true;
    }
    h->waits_for[r.rd] = r.number + 1;
    emit(h, r, now);
    return true;
}

static bool begin_store(sim_tile *t, hart *h, request r, uint64_t now)
{
    const sim_config *c = &t->chip->config;
    const request *last = h->n_queue ? &h->queue[h->n_queue - 1] : NULL;
    uint32_t apart = last ? r.addr - last->addr + NEAR : 0;
    r.follows = last && c->data_cache && r.region == 0 && last->region == 0 &&
                r.addr / LINE == last->addr / LINE && apart <= 2 * NEAR;
    if (h->n_queue == IN_FLIGHT || (!r.follows && places_taken(h) == STORES)) return false;
    if (r.region == 0) forget_line(h, r.addr);
    r.at = r.follows ? last->at : now + 1 + delay(h, h->slow_queue);
    if (r.at < h->queue_at) r.at = h->queue_at;
    h->queue_at = r.at;
    h->queue[h->n_queue++] = r;
    return true;
}

static void refuse_instruction(sim_tile *t, uint32_t number, uint64_t now, const char *what, uint32_t detail,
                               const char *why)
{
    sim_refuse(t, (uint8_t)number, now, "%s of tile (%u,%u) at pc 0x%08x: %s0x%x: %s",
               sim_hart_name(t, number), t->config->x, t->config->y, t->harts[number].pc, what, detail, why);
}

/* What is neither memory nor arithmetic. False: the hart waits, or has been stopped. */
static bool rare(sim_tile *t, uint32_t number, const sim_op *op, uint64_t now)
{
    hart *h = &t->strict->harts[number];
    sim_hart_core *core = &t->harts[number];
    const char *why;
    sim_by by = {.now = now, .pc = core->pc, .hart = (uint8_t)number};
    switch (op->code) {
    case SIM_OP_FENCE:
        if (!t->chip->config.data_cache) return true; /* Wormhole: "treated as a no-op" */
        if (h->n_queue || loads_on_way(h)) return false;
        forget_lines(h);
        return true;
    case SIM_OP_CSR_READ:
        h->waits_for[op->rd] = 0;
        why = sim_csr_read(t, by, op->imm, &core->x[op->rd]);
        if (why) refuse_instruction(t, number, now, "read of CSR ", op->imm, why);
        return !why;
    case SIM_OP_CSR_WRITE:
        refuse_instruction(t, number, now, "write of CSR ", op->imm, "writes of CSRs are not modelled");
        return false;
    case SIM_OP_EBREAK:
        if (core->debugged) {
            sim_hart_pause(t, number, true, now);
            return false;
        }
        refuse_instruction(t, number, now, "ebreak ", 0, "no debugger is attached");
        return false;
    case SIM_OP_ECALL: refuse_instruction(t, number, now, "ecall ", 0, "not modelled"); return false;
    default:
        refuse_instruction(t, number, now, "instruction ", op->imm, "it is not an RV32IM instruction");
        return false;
    }
}

static void step(sim_tile *t, uint32_t number, uint64_t now)
{
    hart *h = &t->strict->harts[number];
    sim_hart_core *core = &t->harts[number];
    if (is_full(h)) return;
    const sim_op *op = fetch(t, number, core->pc, now);
    if (!op || waits(h, op->rs1) || waits(h, op->rs2)) return;
    uint32_t next = core->pc + 4, a = core->x[op->rs1], b = core->x[op->rs2];
    uint32_t size = sim_op_bytes(op->code);
    if (size) {
        request r = {.store = op->code >= SIM_OP_SB && op->code <= SIM_OP_SW,
                     .code = op->code,
                     .rd = op->rd,
                     .size = (uint8_t)size,
                     .addr = a + op->imm,
                     .value = size == 4 ? b : b & ((1u << 8 * size) - 1),
                     .pc = core->pc,
                     .number = h->number};
        if (r.addr & (size - 1)) {
            refuse_access(t, number, &r, now, "the address is not aligned");
            return;
        }
        r.region = region_of(t, core, r.addr);
        if (!(r.store ? begin_store(t, h, r, now) : begin_load(t, h, core, r, now))) return;
        core->stores += r.store;
        core->loads += !r.store;
    } else if (sim_op_jumps(op, core->pc, a, b, &next)) {
        if (op->rd != SIM_SINK) h->waits_for[op->rd] = 0;
        if (op->rd != SIM_SINK) core->x[op->rd] = core->pc + 4;
    } else if (sim_op_computes(op, a, b, &core->x[op->rd])) {
        h->waits_for[op->rd] = 0;
    } else if (!rare(t, number, op, now)) {
        return;
    }
    h->number++;
    if (h->window) h->window--;
    core->retired++;
    core->pc = next;
    core->ready = now + 1 + (below(&h->random, 32) ? 0 : below(&h->random, 12));
}

void sim_strict_run(sim_tile *t, uint64_t from, uint64_t to)
{
    const uint32_t n = t->chip->config.n_harts;
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= t->harts[i].started != SIM_NEVER;
    if (!any) return;
    for (uint64_t now = from; now < to && !t->frozen; now++) {
        for (uint32_t i = 0; i < n && !t->frozen; i++) {
            sim_hart_core *core = &t->harts[i];
            if (core->started == SIM_NEVER) continue;
            const hart *h = &t->strict->harts[i];
            if (h->n_queue || h->n_way) proceed(t, i, now);
            if (core->started != SIM_NEVER && core->ready <= now && !t->frozen) step(t, i, now);
        }
    }
}
