/* A compute tile: memories, registers, reset. What it is not: execution (run.c). */
#include "sim/tile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/ahead.h"
#include "sim/arc.h"
#include "sim/counted.h"
#include "sim/noc.h"
#include "sim/stamper.h"
#include "sim/strict.h"

enum { ICACHE_MASK_MAX = 31 };

static void *reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t tags_size(const sim_bank *b)
{
    return ((size_t)(b->size >> SIM_TAG_BITS) + 1) * sizeof *b->tags;
}

static bool init_bank(sim_bank *b, const sim_ram *ram, const sim_config *c)
{
    *b = (sim_bank){.base = ram->base, .size = ram->size};
    b->bytes = reserve(ram->size);
    b->ops = reserve((size_t)ram->size / 4 * sizeof *b->ops);
    b->tags = reserve(tags_size(b));
    b->pages = calloc((ram->size >> SIM_PAGE_BITS) + 1, 1);
    if (!b->bytes || !b->ops || !b->tags || !b->pages) return false;
    uint64_t first = c->truth_base, end = first + c->truth_size;
    for (uint64_t page = 0; page << SIM_PAGE_BITS < ram->size; page++) {
        uint64_t addr = ram->base + (page << SIM_PAGE_BITS);
        if (addr < end && addr + (1u << SIM_PAGE_BITS) > first) b->pages[page] = SIM_PAGE_TRUTH;
    }
    return true;
}

bool sim_tile_init(sim_tile *t, sim *chip, uint32_t index)
{
    const sim_config *c = &chip->config;
    t->chip = chip;
    t->index = index;
    t->config = &c->tiles[index];
    t->clock_offset = t->config->clock_offset;
    if (t->config->kind == SIM_TILE_DRAM) {
        t->dram = reserve(c->dram_size);
        return t->dram != NULL;
    }
    if (t->config->kind == SIM_TILE_ARC) return true;
    for (uint32_t i = 0; i < c->n_rams; i++)
        if (!init_bank(&t->banks[i], &c->rams[i], c)) return false;
    for (uint32_t i = 0; i < c->n_harts; i++) {
        sim_hart_core *h = &t->harts[i];
        h->held = true;
        h->ready = h->started = SIM_NEVER;
        h->pc = c->harts[i].reset_pc;
        h->code = &t->banks[0];
        h->local_base = c->local_base;
        h->local_size = c->harts[i].local_size;
        if (h->local_size && !(h->local = calloc(1, h->local_size))) return false;
        if (c->count_cycles && !c->strict && !(h->counter = sim_counter_new())) return false;
    }
    t->soft_reset = c->soft_reset_init;
    sim_stamper_init(&t->stamper);
    return sim_ahead_init(t) && (!c->strict || sim_strict_init(t));
}

void sim_tile_free(sim_tile *t)
{
    const sim_config *c = &t->chip->config;
    if (t->dram) munmap(t->dram, c->dram_size);
    for (uint32_t i = 0; i < c->n_rams; i++) {
        sim_bank *b = &t->banks[i];
        if (b->bytes) munmap(b->bytes, b->size);
        if (b->ops) munmap(b->ops, (size_t)b->size / 4 * sizeof *b->ops);
        if (b->tags) munmap(b->tags, tags_size(b));
        free(b->pages);
    }
    for (uint32_t i = 0; i < c->n_harts; i++) {
        free(t->harts[i].local);
        sim_counter_free(t->harts[i].counter);
    }
    sim_ahead_free(t);
    sim_strict_free(t);
}

const char *sim_tile_why(sim_tile *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t->why, sizeof t->why, format, args);
    va_end(args);
    return t->why;
}

/* ---- Memory ---------------------------------------------------------------------------------------- */

sim_bank *sim_tile_bank(sim_tile *t, uint32_t addr, uint32_t size)
{
    for (uint32_t i = 0; i < t->chip->config.n_rams; i++) {
        sim_bank *b = &t->banks[i];
        uint32_t offset = addr - b->base;
        if (offset < b->size && size <= b->size - offset) return b;
    }
    return NULL;
}

static void forget_decoded(const sim_bank *b, uint32_t offset, uint32_t size)
{
    for (uint32_t word = offset / 4; word <= (offset + size - 1) / 4; word++)
        b->ops[word].code = SIM_OP_UNDECODED;
}

void sim_bank_write(sim_bank *b, uint32_t offset, const void *src, uint32_t size)
{
    if (size == 0) return;
    memcpy(b->bytes + offset, src, size);
    /* Page by page, so that filling data memory does not touch the decoded words of it. */
    const uint32_t page_size = 1u << SIM_PAGE_BITS;
    for (uint32_t at = offset, left = size, n; left > 0; at += n, left -= n) {
        n = page_size - at % page_size;
        if (n > left) n = left;
        if (b->pages[at >> SIM_PAGE_BITS] & SIM_PAGE_CODE) forget_decoded(b, at, n);
    }
}

void sim_bank_stored(sim_tile *t, const sim_bank *b, sim_by by, uint32_t offset, uint32_t value,
                     uint32_t size)
{
    const sim_config *c = &t->chip->config;
    uint8_t flags = b->pages[offset >> SIM_PAGE_BITS];
    if (flags & SIM_PAGE_CODE) b->ops[offset / 4].code = SIM_OP_UNDECODED;
    uint32_t addr = b->base + offset;
    if (addr - c->truth_base < c->truth_size) sim_truth_add(t, by, addr, value, size);
}

/* ---- Registers ------------------------------------------------------------------------------------- */

static const char nothing_there[] = "nothing is mapped there";

/* Offset in a block of registers that a tile may lack (base 0), or UINT32_MAX. */
static uint32_t offset_in(uint32_t addr, uint32_t base, uint32_t size)
{
    return base && addr - base < size ? addr - base : UINT32_MAX;
}

static bool is(uint32_t addr, uint32_t reg)
{
    return reg && addr == reg;
}

/* Registers of the wall clock, DebugTimestamper.md, "Memory map". */
static bool clock_read(sim_tile *t, uint64_t clock, uint32_t addr, uint32_t *value)
{
    const sim_config *c = &t->chip->config;
    if (is(addr, c->clock_low_addr)) {
        t->clock_latched = (uint32_t)(clock >> 32);
        *value = (uint32_t)clock;
        return true;
    }
    if (is(addr, c->clock_high_addr)) {
        *value = (uint32_t)(clock >> 32);
        return true;
    }
    if (is(addr, c->clock_latched_addr)) {
        *value = t->clock_latched;
        return true;
    }
    return false;
}

const char *sim_reg_read(sim_tile *t, sim_by by, uint32_t addr, uint32_t *value)
{
    const sim_config *c = &t->chip->config;
    uint64_t clock = sim_tile_clock(t, by.now);
    uint32_t offset;
    if (clock_read(t, clock, addr, value)) return NULL;
    if (is(addr, c->soft_reset_addr)) {
        *value = t->soft_reset;
        return NULL;
    }
    if ((offset = offset_in(addr, c->timestamp_addr, SIM_STAMPER_SIZE)) != UINT32_MAX) {
        *value = sim_stamper_read(&t->stamper, offset);
        return NULL;
    }
    for (uint32_t noc = 0; noc < 2; noc++)
        if ((offset = offset_in(addr, c->noc_regs_addr[noc], SIM_NIU_SIZE)) != UINT32_MAX)
            return sim_niu_read(t, noc, by, offset, value);
    if ((offset = offset_in(addr, c->mtime_addr, 8)) != UINT32_MAX) {
        *value = (uint32_t)(offset ? clock >> 32 : clock);
        return NULL;
    }
    if (is(addr, c->icache_addr)) return "this register is not modelled for reading";
    /* A word of the backend configuration that can be read: the compute units are not there, so it has its value of power-on. */
    if (c->icache_addr && addr == c->icache_addr >> 16 << 16 && by.hart != SIM_NO_HART &&
        c->harts[by.hart].backend_config) {
        *value = 0;
        return NULL;
    }
    return nothing_there;
}

static const char *write_soft_reset(sim_tile *t, sim_by by, uint32_t value)
{
    const sim_config *c = &t->chip->config;
    if (value & ~c->soft_reset_mask)
        return sim_tile_why(t, "soft-reset bits 0x%08x are not modelled", value & ~c->soft_reset_mask);
    t->soft_reset = value;
    for (uint32_t i = 0; i < c->n_harts; i++)
        if (c->harts[i].reset_bit >= 0) sim_hart_hold(t, i, value >> c->harts[i].reset_bit & 1, by);
    return NULL;
}

static const char *write_icache(sim_tile *t, sim_by by, uint32_t value)
{
    /* Tensix backend configuration is neither mapped into every hart nor reachable from outside. Decoded
     * words are always forgotten when memory changes, so there is nothing to invalidate. */
    if (by.hart == SIM_NO_HART || !t->chip->config.harts[by.hart].backend_config) return nothing_there;
    if (value == 0 || value > ICACHE_MASK_MAX) return "a mask of caches must be 1 to 31";
    if (t->strict) sim_strict_invalidate(t, value);
    return NULL;
}

const char *sim_reg_write(sim_tile *t, sim_by by, uint32_t addr, uint32_t value)
{
    const sim_config *c = &t->chip->config;
    uint32_t offset, ignored;
    /* Writing the low word latches, like reading it; writes to the others have no effect. */
    if (clock_read(t, sim_tile_clock(t, by.now), addr, &ignored)) return NULL;
    if (is(addr, c->soft_reset_addr)) return write_soft_reset(t, by, value);
    if ((offset = offset_in(addr, c->timestamp_addr, SIM_STAMPER_SIZE)) != UINT32_MAX)
        return sim_stamper_write(t, by, offset, value);
    for (uint32_t noc = 0; noc < 2; noc++)
        if ((offset = offset_in(addr, c->noc_regs_addr[noc], SIM_NIU_SIZE)) != UINT32_MAX)
            return sim_niu_write(t, noc, by, offset, value);
    if (is(addr, c->icache_addr)) return write_icache(t, by, value);
    if (offset_in(addr, c->mtime_addr, 8) != UINT32_MAX) return "this register is not modelled for writing";
    return nothing_there;
}

const char *sim_csr_read(sim_tile *t, sim_by by, uint32_t csr, uint32_t *value)
{
    enum { CYCLE = 0xc00, CYCLEH = 0xc80, MCYCLE = 0xb00, MCYCLEH = 0xb80, MHARTID = 0xf14 };
    uint64_t clock = sim_tile_clock(t, by.now);
    if (t->chip->config.csr_cycle) {
        switch (csr) {
        case CYCLE:
        case MCYCLE: *value = (uint32_t)clock; return NULL;
        case CYCLEH:
        case MCYCLEH: *value = (uint32_t)(clock >> 32); return NULL;
        case MHARTID: *value = by.hart; return NULL;
        }
    }
    return sim_tile_why(t, "CSR 0x%03x is not modelled", csr);
}

/* ---- Local RAM from outside ------------------------------------------------------------------------ */

enum {
    CLEARING = 2048
}; /* cycles behind a reset: BlackholeA0/TensixTile/BabyRISCV/README.md, "Local Data RAM" */

/* The hart whose local RAM [addr, addr + size) is, by the addresses that everybody sees; NULL: no hart's. */
static sim_hart_core *local_at(sim_tile *t, uint64_t addr, uint32_t size)
{
    const sim_config *c = &t->chip->config;
    for (uint32_t i = 0; i < c->n_harts; i++) {
        const sim_hart_config *h = &c->harts[i];
        uint64_t offset = addr - h->local_window;
        if (h->local_window && offset < h->local_size && size <= h->local_size - offset) return &t->harts[i];
    }
    return NULL;
}

/* NULL, or why it does not answer. */
static const char *check_local(sim_tile *t, const sim_hart_core *h, uint64_t now)
{
    const char *name = sim_hart_name(t, (uint32_t)(h - t->harts));
    if (h->held)
        return sim_tile_why(
            t, "%s is in reset, and its local RAM does not answer: the NoC hangs until the chip is reset",
            name);
    if (h->started != SIM_NEVER && now - h->started < CLEARING)
        return sim_tile_why(
            t,
            "%s has left reset %u cycles ago, and its local RAM is being cleared: it can be accessed after %u",
            name, (unsigned)(now - h->started), CLEARING);
    return NULL;
}

static uint8_t *local_byte(const sim_tile *t, const sim_hart_core *h, uint64_t addr)
{
    return h->local + (addr - t->chip->config.harts[h - t->harts].local_window);
}

/* ---- Access from outside --------------------------------------------------------------------------- */

/* NULL if [addr, addr + size) can only be one register. */
static const char *check_register(uint64_t addr, uint32_t size)
{
    if (addr > UINT32_MAX) return nothing_there;
    if (size != 4 || addr & 3) return "only memory, or one aligned register of 4 bytes, can be accessed";
    return NULL;
}

/* Such a tile has no clock: the request is never answered, and everything behind it in the NoC waits. */
static const char switched_off[] = "this tile is switched off: the NoC hangs until the chip is reset";

static uint8_t *dram_at(sim_tile *t, uint64_t addr, uint32_t size)
{
    uint64_t room = t->chip->config.dram_size;
    return addr < room && size <= room - addr ? t->dram + addr : NULL;
}

const char *sim_tile_fetch_bytes(sim_tile *t, sim_by by, uint64_t addr, void *dst, uint32_t size)
{
    if (t->config->dead) return switched_off;
    if (t->config->kind == SIM_TILE_ARC) return sim_arc_read(t->chip, addr, dst, size);
    if (t->config->kind == SIM_TILE_DRAM) {
        const uint8_t *p = dram_at(t, addr, size);
        if (!p) return "this is outside of the tile's DRAM";
        memcpy(dst, p, size);
        return NULL;
    }
    const sim_bank *b = addr <= UINT32_MAX ? sim_tile_bank(t, (uint32_t)addr, size) : NULL;
    if (b) {
        memcpy(dst, b->bytes + ((uint32_t)addr - b->base), size);
        return NULL;
    }
    const sim_hart_core *local = local_at(t, addr, size);
    if (local) {
        const char *silent = check_local(t, local, by.now);
        if (!silent) memcpy(dst, local_byte(t, local, addr), size);
        return silent;
    }
    const char *why = check_register(addr, size);
    uint32_t value = 0;
    if (!why) why = sim_reg_read(t, by, (uint32_t)addr, &value);
    if (!why) memcpy(dst, &value, sizeof value);
    return why;
}

const char *sim_tile_store_bytes(sim_tile *t, sim_by by, uint64_t addr, const void *src, uint32_t size)
{
    if (t->config->dead) return switched_off;
    if (t->config->kind == SIM_TILE_ARC) return sim_arc_write(t->chip, addr, src, size);
    if (t->config->kind == SIM_TILE_DRAM) {
        uint8_t *p = dram_at(t, addr, size);
        if (!p) return "this is outside of the tile's DRAM";
        memcpy(p, src, size);
        return NULL;
    }
    sim_bank *b = addr <= UINT32_MAX ? sim_tile_bank(t, (uint32_t)addr, size) : NULL;
    if (b) {
        sim_bank_write(b, (uint32_t)addr - b->base, src, size);
        return NULL;
    }
    const sim_hart_core *local = local_at(t, addr, size);
    if (local) {
        const char *silent = check_local(t, local, by.now);
        if (!silent) memcpy(local_byte(t, local, addr), src, size);
        return silent;
    }
    const char *why = check_register(addr, size);
    if (why) return why;
    uint32_t value;
    memcpy(&value, src, sizeof value);
    return sim_reg_write(t, by, (uint32_t)addr, value);
}

/* ---- Reset and halt -------------------------------------------------------------------------------- */

void sim_hart_stop(sim_hart_core *h, uint64_t end)
{
    if (h->started < end) h->live += end - h->started;
    h->started = SIM_NEVER;
    h->ready = SIM_NEVER;
    if (h->counter) sim_counter_stopped(h);
}

static void start(sim_tile *t, sim_hart_core *h, uint64_t at)
{
    if (t->frozen) return;
    h->started = h->ready = at;
    t->rescan = true;
}

/* WormholeB0/TensixTile/SoftReset.md, "RISCV soft reset". What is in flight is dropped at once. A hart that
 * another hart releases starts in the next cycle. */
void sim_hart_hold(sim_tile *t, uint32_t hart, bool held, sim_by by)
{
    sim_hart_core *h = &t->harts[hart];
    if (h->held == held) return;
    h->held = held;
    t->chip->stale = true;
    if (held) {
        /* It has had its turn in this cycle if it comes before the writer, or if it is the writer. */
        bool had_turn = by.hart != SIM_NO_HART && hart <= by.hart;
        sim_hart_stop(h, by.now + had_turn);
        if (t->strict) sim_strict_reset(t, hart);
        return;
    }
    memset(h->x, 0, sizeof h->x);
    memset(&h->pipe, 0, sizeof h->pipe);
    memset(&h->predictor, 0, sizeof h->predictor);
    h->pc = t->chip->config.harts[hart].reset_pc;
    if (!h->halted) start(t, h, by.now + (by.hart != SIM_NO_HART));
}

void sim_hart_pause(sim_tile *t, uint32_t hart, bool halted, uint64_t now)
{
    sim_hart_core *h = &t->harts[hart];
    if (h->halted == halted) return;
    h->halted = halted;
    t->chip->stale = true;
    if (h->held) return;
    if (halted) {
        if (t->strict) sim_strict_settle(t, hart, now);
        sim_hart_stop(h, now);
        memset(&h->pipe, 0, sizeof h->pipe); /* what is in flight comes to its end */
    } else {
        start(t, h, now);
    }
}
