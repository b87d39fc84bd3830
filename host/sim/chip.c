/* A chip: the grid of tiles, its clock, refusals, and the log of stores. What it is not: the PCIe window
 * (window.c) and what tiles do (tile.c, run.c, noc.c). */
#include "sim/chip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ahead.h"
#include "sim/arc.h"
#include "sim/noc.h"
#include "sim/tile.h"
#include "sim/window.h"

/* ---- Making ---------------------------------------------------------------------------------------- */

/* NULL, or what is wrong with a configuration. */
static const char *check_tiles(const sim_config *c)
{
    bool taken[64][64] = {{false}};
    if (c->n_tiles == 0 || c->n_tiles > SIM_MAX_TILES) return "n_tiles is out of range";
    if (c->arc.n_tags > SIM_MAX_TAGS) return "n_tags is out of range";
    if (c->noc_width == 0 || c->noc_height == 0 || c->noc_width > 64 || c->noc_height > 64)
        return "the grid is not 1 to 64 tiles wide and high";
    for (uint32_t i = 0; i < c->n_tiles; i++) {
        const sim_tile_config *t = &c->tiles[i];
        if (t->kind != SIM_TILE_TENSIX && t->kind != SIM_TILE_DRAM && t->kind != SIM_TILE_ARC)
            return "a tile is of no known kind";
        if (t->x >= c->noc_width || t->y >= c->noc_height) return "a tile is outside of the grid";
        if (taken[t->y][t->x]) return "two tiles have the same coordinates";
        if (t->kind == SIM_TILE_DRAM && c->dram_size == 0) return "there is a DRAM tile, but dram_size is 0";
        taken[t->y][t->x] = true;
    }
    return NULL;
}

static const char *check_memories(const sim_config *c)
{
    if (c->n_rams == 0 || c->n_rams > SIM_MAX_RAMS) return "n_rams is out of range";
    for (uint32_t i = 0; i < c->n_rams; i++) {
        const sim_ram *r = &c->rams[i];
        if (r->size < 4 || r->size & 3 || r->base & 3)
            return "a RAM is empty or not a multiple of four bytes";
        if ((uint64_t)r->base + r->size > UINT64_C(1) << 32) return "a RAM goes beyond 4 GiB";
        for (uint32_t j = 0; j < i; j++) {
            uint64_t end = (uint64_t)r->base + r->size,
                     other_end = (uint64_t)c->rams[j].base + c->rams[j].size;
            if (r->base < other_end && c->rams[j].base < end) return "two RAMs overlap";
        }
    }
    return NULL;
}

static const char *check_harts(const sim_config *c)
{
    if (c->n_harts == 0 || c->n_harts > SIM_MAX_HARTS) return "n_harts is out of range";
    for (uint32_t i = 0; i < c->n_harts; i++) {
        const sim_hart_config *h = &c->harts[i];
        if (!memchr(h->name, 0, sizeof h->name)) return "the name of a hart is not terminated";
        if (h->reset_pc & 3) return "the reset pc of a hart is not a multiple of four";
        if (h->local_size & 3) return "a local RAM is not a multiple of four bytes";
        if (h->reset_bit < 0) continue;
        if (h->reset_bit > 31) return "the reset bit of a hart is not in 0 to 31";
        if (!c->soft_reset_addr) return "a hart has a reset bit, but there is no soft-reset register";
        if (!(c->soft_reset_init >> h->reset_bit & 1))
            return "soft_reset_init does not hold every hart in reset";
        if (!(c->soft_reset_mask >> h->reset_bit & 1))
            return "soft_reset_mask does not cover the bit of every hart";
    }
    if (c->soft_reset_init & ~c->soft_reset_mask)
        return "soft_reset_init has bits outside of soft_reset_mask";
    return NULL;
}

static const char *check_config(const sim_config *c)
{
    if (!memchr(c->name, 0, sizeof c->name)) return "the name is not terminated";
    const char *why = check_tiles(c);
    if (!why) why = check_memories(c);
    if (!why) why = check_harts(c);
    if (!why) why = sim_window_check(c);
    return why;
}

static sim *refuse_creation(sim *s, char *why, size_t why_size, const char *reason)
{
    if (why) snprintf(why, why_size, "simulator: %s", reason);
    sim_destroy(s);
    return NULL;
}

sim *sim_create(const sim_config *config, char *why, size_t why_size)
{
    const char *wrong = check_config(config);
    if (wrong) return refuse_creation(NULL, why, why_size, wrong);
    sim *s = calloc(1, sizeof *s);
    if (!s) return refuse_creation(NULL, why, why_size, "out of memory");
    s->config = *config;
    s->clock = config->clock_start;
    s->fault_cycle = s->stop_at = SIM_NEVER;
    s->tiles = calloc(config->n_tiles, sizeof *s->tiles);
    if (!s->tiles || !sim_window_init(s)) return refuse_creation(s, why, why_size, "out of memory");
    sim_arc_init(s);
    for (uint32_t i = 0; i < config->n_tiles; i++) {
        s->n_tiles = i + 1;
        s->by_place[config->tiles[i].y][config->tiles[i].x] = (uint16_t)(i + 1);
        if (!sim_tile_init(&s->tiles[i], s, i)) return refuse_creation(s, why, why_size, "out of memory");
    }
    return s;
}

void sim_destroy(sim *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->n_tiles; i++)
        sim_tile_free(&s->tiles[i]);
    sim_packets_free(s);
    free(s->tiles);
    free(s->windows);
    free(s->free_code);
    free(s->truth);
    free(s);
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

const char *sim_hart_name(const sim_tile *t, uint32_t hart)
{
    return hart < t->chip->config.n_harts ? t->chip->config.harts[hart].name : "host";
}

void sim_refuse(sim_tile *t, uint8_t hart, uint64_t cycle, const char *format, ...)
{
    sim *s = t->chip;
    if (t->frozen) return;
    t->frozen = true;
    s->stale = true;
    for (uint32_t i = 0; i < s->config.n_harts; i++)
        sim_hart_stop(&t->harts[i], cycle + (hart != SIM_NO_HART && i < hart));
    s->stop_at = (cycle / SIM_QUANTUM + 1) * SIM_QUANTUM;
    if (s->faulted && (s->fault_cycle < cycle || (s->fault_cycle == cycle && s->fault_tile < t->index)))
        return;
    s->faulted = true;
    s->fault_cycle = cycle;
    s->fault_tile = t->index;
    s->fault_hart = hart;
    va_list args;
    va_start(args, format);
    vsnprintf(s->fault, sizeof s->fault, format, args);
    va_end(args);
}

bool sim_refuse_host(sim *s, const char *format, ...)
{
    if (s->faulted) return false;
    s->faulted = true;
    va_list args;
    va_start(args, format);
    vsnprintf(s->fault, sizeof s->fault, format, args);
    va_end(args);
    return false;
}

const char *sim_fault(const sim *s)
{
    return s->faulted ? s->fault : NULL;
}

bool sim_fault_by(const sim *s, uint32_t *tile, uint32_t *hart)
{
    if (!s->faulted || s->fault_cycle == SIM_NEVER || s->fault_hart == SIM_NO_HART) return false;
    *tile = s->fault_tile;
    *hart = s->fault_hart;
    return true;
}

/* ---- Time ------------------------------------------------------------------------------------------ */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void find_active(sim *s)
{
    s->n_active = 0;
    s->stale = false;
    for (uint32_t i = 0; i < s->n_tiles; i++) {
        bool runs = false;
        for (uint32_t k = 0; k < s->config.n_harts; k++)
            runs |= s->tiles[i].harts[k].ready != SIM_NEVER;
        if (runs && s->tiles[i].config->kind == SIM_TILE_TENSIX) s->active[s->n_active++] = (uint16_t)i;
    }
}

static void run_active(sim *s, uint64_t to, uint64_t end)
{
    for (uint32_t i = 0; i < s->n_active; i++) {
        const uint32_t tile = s->active[i];
        if (s->ran_to[tile] <= s->clock)
            s->ran_to[tile] = sim_tile_run(&s->tiles[tile], s->clock, to, s->faulted ? to : end);
    }
}

/* Quanta end at multiples of SIM_QUANTUM, at the arrival of a packet, and where the caller wants to stop.
 * After a refusal its tile stands still, and the others finish the quantum: so that the state in which
 * everything stops does not depend on how the caller divides time. */
bool sim_clock(sim *s, uint32_t n)
{
    if (s->faulted) return false;
    const uint64_t limit = s->config.limit;
    if (limit && s->clock - s->config.clock_start > limit)
        return sim_refuse_host(s, "the limit of %llu cycles is reached", (unsigned long long)limit);
    uint64_t end = s->clock + n;
    while (s->clock < end || (s->faulted && s->clock < s->stop_at)) {
        sim_packets_deliver(s);
        if (s->faulted) end = s->stop_at;
        if (s->stale) find_active(s);
        const uint64_t until = earlier(end, sim_packets_next(s));
        uint64_t to = s->clock;
        if (s->n_active == 0)
            to = s->faulted ? s->stop_at : until;
        else if (s->n_active == 1 && !s->faulted && s->ran_to[s->active[0]] <= s->clock)
            to = sim_tile_run_far(&s->tiles[s->active[0]], s->clock, until);
        if (to == s->clock) {
            to = earlier(until, (s->clock / SIM_QUANTUM + 1) * SIM_QUANTUM);
            run_active(s, to, end);
        }
        s->clock = s->faulted ? earlier(to, s->stop_at) : to;
        if (s->faulted) end = s->stop_at;
    }
    for (uint32_t i = 0; s->faulted && i < s->n_active; i++)
        sim_tile_settle(&s->tiles[s->active[i]]);
    return !s->faulted;
}

void sim_look(sim *s)
{
    s->looked_at = true;
}

uint64_t sim_chip_clock(const sim *s)
{
    return s->clock;
}

/* ---- What only a simulator can tell ---------------------------------------------------------------- */

static sim_tile *compute_tile(const sim *s, uint32_t tile)
{
    return tile < s->n_tiles && s->tiles[tile].config->kind == SIM_TILE_TENSIX ? &s->tiles[tile] : NULL;
}

static sim_hart_core *find_hart(const sim *s, uint32_t tile, uint32_t hart)
{
    sim_tile *t = compute_tile(s, tile);
    return t && hart < s->config.n_harts ? &t->harts[hart] : NULL;
}

void sim_skip(sim *s, uint64_t cycles)
{
    for (uint32_t i = 0; i < s->n_tiles; i++)
        s->tiles[i].clock_offset += cycles;
}

bool sim_free_code(sim *s, uint32_t from, uint32_t to)
{
    const sim_ram *ram = &s->config.rams[0];
    if (to == 0) {
        free(s->free_code);
        s->free_code = NULL;
        return true;
    }
    if (from < ram->base || to < from || to - ram->base > ram->size) return false;
    if (!s->free_code) s->free_code = calloc(ram->size / 4, 1);
    if (!s->free_code) return false;
    memset(s->free_code + (from - ram->base) / 4, 1, (to - from) / 4);
    return true;
}

int sim_tile_at(const sim *s, uint32_t x, uint32_t y)
{
    size_t height = sizeof s->by_place / sizeof s->by_place[0],
           width = sizeof s->by_place[0] / sizeof s->by_place[0][0];
    return x < width && y < height ? (int)s->by_place[y][x] - 1 : -1;
}

void sim_tile_place(const sim *s, uint32_t tile, uint8_t *x, uint8_t *y)
{
    *x = s->config.tiles[tile].x;
    *y = s->config.tiles[tile].y;
}

uint64_t sim_retired_total(const sim *s)
{
    uint64_t total = 0;
    for (uint32_t tile = 0; tile < s->n_tiles; tile++)
        for (uint32_t hart = 0; hart < s->config.n_harts; hart++)
            total += s->tiles[tile].harts[hart].retired;
    return total;
}

bool sim_hart(const sim *s, uint32_t tile, uint32_t hart, sim_hart_state *out)
{
    const sim_hart_core *h = find_hart(s, tile, hart);
    if (!h) return false;
    uint64_t live = h->live + (h->started < s->clock ? s->clock - h->started : 0);
    *out = (sim_hart_state){.pc = h->pc,
                            .in_reset = h->held,
                            .retired = h->retired,
                            .loads = h->loads,
                            .stores = h->stores,
                            .stalled = live > h->retired ? live - h->retired : 0,
                            .waited = h->waited};
    memcpy(out->x, h->x, sizeof out->x);
    return true;
}

uint8_t *sim_ram_bytes(sim *s, uint32_t tile, uint32_t ram)
{
    sim_tile *t = compute_tile(s, tile);
    return t && ram < s->config.n_rams ? t->banks[ram].bytes : NULL;
}

/* ---- What a debug module does ---------------------------------------------------------------------- */

bool sim_tile_read(sim *s, uint32_t tile, uint32_t addr, void *dst, uint32_t size)
{
    if (tile >= s->n_tiles) return false;
    sim_by by = {.now = s->clock, .hart = SIM_NO_HART};
    return !sim_tile_fetch_bytes(&s->tiles[tile], by, addr, dst, size);
}

bool sim_tile_write(sim *s, uint32_t tile, uint32_t addr, const void *src, uint32_t size)
{
    if (tile >= s->n_tiles) return false;
    sim_by by = {.now = s->clock, .hart = SIM_NO_HART};
    return !sim_tile_store_bytes(&s->tiles[tile], by, addr, src, size);
}

void sim_hart_halt(sim *s, uint32_t tile, uint32_t hart, bool halted)
{
    if (find_hart(s, tile, hart)) sim_hart_pause(&s->tiles[tile], hart, halted, s->clock);
}

bool sim_hart_halted(const sim *s, uint32_t tile, uint32_t hart)
{
    const sim_hart_core *h = find_hart(s, tile, hart);
    return h && h->halted;
}

void sim_hart_debugged(sim *s, uint32_t tile, uint32_t hart, bool debugged)
{
    sim_hart_core *h = find_hart(s, tile, hart);
    if (h) h->debugged = debugged;
}

void sim_hart_set(sim *s, uint32_t tile, uint32_t hart, uint32_t reg, uint32_t value)
{
    sim_hart_core *h = find_hart(s, tile, hart);
    if (!h || !(h->halted || h->held)) return;
    if (reg == 32) h->pc = value;
    if (reg >= 1 && reg < 32) h->x[reg] = value;
}

void sim_hart_reset(sim *s, uint32_t tile, uint32_t hart, bool held)
{
    if (!find_hart(s, tile, hart)) return;
    sim_tile *t = &s->tiles[tile];
    int bit = s->config.harts[hart].reset_bit;
    if (bit >= 0) t->soft_reset = held ? t->soft_reset | 1u << bit : t->soft_reset & ~(1u << bit);
    sim_hart_hold(t, hart, held, (sim_by){.now = s->clock, .hart = SIM_NO_HART});
}
