/* The configuration of the built-in simulator for a board, and its options. */
#include "device/board_sim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "devlog/record.h"

void board_to_sim(const board *b, sim_config *out, sim_world_options *world)
{
    memset(out, 0, sizeof *out);
    memset(world, 0, sizeof *world);
    world->mhz = b->mhz;
    world->link_out = b->mailbox.base + (uint32_t)offsetof(devlog_mailbox, link_out);
    world->link_in = b->mailbox.base + (uint32_t)offsetof(devlog_mailbox, link_in);
    snprintf(out->name, sizeof out->name, "%s", b->name);
    out->pci_id = b->pci_vendor | b->pci_device << 16;
    out->noc_width = b->noc_width;
    out->noc_height = b->noc_height;
    for (uint32_t y = 0; y < b->n_rows; y++)
        for (uint32_t x = 0; x < b->n_columns && out->n_tiles < SIM_MAX_TILES; x++)
            out->tiles[out->n_tiles++] =
                (sim_tile_config){.kind = SIM_TILE_TENSIX, .x = b->columns[x], .y = b->rows[y]};
    for (uint32_t i = 0; i < b->n_dram && out->n_tiles < SIM_MAX_TILES; i++)
        out->tiles[out->n_tiles++] =
            (sim_tile_config){.kind = SIM_TILE_DRAM, .x = b->dram[i].x, .y = b->dram[i].y};
    out->dram_size = b->dram_size;
    if (b->arc.table && out->n_tiles < SIM_MAX_TILES) {
        out->tiles[out->n_tiles++] = (sim_tile_config){.kind = SIM_TILE_ARC, .x = b->arc.x, .y = b->arc.y};
        out->arc = (sim_arc_config){.space = b->arc.space,
                                    .table = b->arc.table,
                                    .data = b->arc.data,
                                    .messages = b->arc.messages,
                                    .version = 1};
    }

    out->n_harts = b->n_riscs;
    out->local_base = b->riscs[0].local.base;
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        sim_hart_config *hart = &out->harts[i];
        snprintf(hart->name, sizeof hart->name, "%s", b->riscs[i].name);
        hart->reset_pc = b->riscs[i].reset_pc;
        hart->reset_bit = (int8_t)b->riscs[i].reset_bit;
        /* What lies in the RAM of the tile is not a memory of its own. */
        hart->local_size = board_in_ram(b, b->riscs[i].local) ? 0 : b->riscs[i].local.size;
        hart->backend_config = b->riscs[i].backend_config;
        hart->local_window = b->riscs[i].local_window;
    }
    out->n_rams = b->n_rams;
    for (uint32_t i = 0; i < b->n_rams; i++)
        out->rams[i] = (sim_ram){b->rams[i].base, b->rams[i].size};

    out->soft_reset_addr = b->soft_reset;
    out->soft_reset_init = b->soft_reset_init;
    out->soft_reset_mask = b->soft_reset_mask;
    if (b->clock_kind == BOARD_CLOCK_MMIO) {
        out->clock_low_addr = b->clock_low;
        out->clock_high_addr = b->clock_high;
        out->clock_latched_addr = b->clock_latched;
    }
    out->data_cache = b->data_cache;
    out->csr_cycle = b->clock_kind == BOARD_CLOCK_CSR;
    out->timestamp_addr = b->timestamp;
    out->icache_addr = b->icache_invalidate;
    out->mtime_addr = b->mtime;
    for (int i = 0; i < 2; i++)
        out->noc_regs_addr[i] = b->noc_regs[i];
    out->noc_wide = b->window_format == BOARD_WINDOWS_BLACKHOLE;
    out->cores = out->noc_wide ? SIM_CORES_BLACKHOLE : SIM_CORES_WORMHOLE;

    if (b->window_format == BOARD_WINDOWS_NONE) goto done;
    out->window_format =
        b->window_format == BOARD_WINDOWS_BLACKHOLE ? SIM_WINDOW_BLACKHOLE : SIM_WINDOW_WORMHOLE;
    out->n_window_classes = b->n_classes;
    for (uint32_t i = 0; i < b->n_classes; i++)
        out->windows[i] = (sim_window_class){b->classes[i].count, b->classes[i].bits};
    out->bar0_base = b->bar0_base;
    out->bar0_size = b->bar0_size;
    out->window_config_offset = b->window_config_offset;

done:
    out->truth_base = b->profiler.base;
    out->truth_size = b->profiler.size;
}

/* ---- Options ---- */

/* Every tile's counter starts somewhere else, in 44 bits. */
static void offsets(sim_config *c, uint64_t seed)
{
    for (uint32_t i = 0; i < c->n_tiles; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        c->tiles[i].clock_offset = seed >> 20;
    }
}

typedef struct option_target {
    sim_config *c;
    sim_world_options *w;
} option_target;

static bool set_clock(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->c->clock_start = whole;
    return true;
}
static bool set_functional(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->c->functional = whole != 0;
    return whole <= 1;
}
static bool set_offsets(option_target *t, double n, uint64_t whole)
{
    (void)n;
    offsets(t->c, whole);
    return true;
}
static bool set_ppm(option_target *t, double n, uint64_t whole)
{
    (void)whole;
    t->w->ppm = n;
    return n > -100000 && n < 100000;
}
static bool set_change(option_target *t, double n, uint64_t whole)
{
    (void)n;
    if (t->w->n_changes == SIM_WORLD_MAX_CHANGES) return false;
    t->w->changes[t->w->n_changes].cycle = whole;
    t->w->changes[t->w->n_changes++].mhz = 0;
    return true;
}
static bool set_to(option_target *t, double n, uint64_t whole)
{
    (void)whole;
    if (t->w->n_changes == 0 || n < 1 || n > 100000) return false;
    t->w->changes[t->w->n_changes - 1].mhz = n;
    return true;
}
static bool set_latency(option_target *t, double n, uint64_t whole)
{
    t->w->latency_ns = whole;
    return n >= 0 && n < 1e10;
}
static bool set_jitter(option_target *t, double n, uint64_t whole)
{
    t->w->jitter_ns = whole;
    return n >= 0 && n < 1e10;
}
static bool set_seed(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->w->seed = whole;
    return true;
}
static bool set_strict(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->c->strict = true;
    t->c->strict_seed = whole;
    /* Rules of the order of accesses are published for Tenstorrent's chips only. */
    return t->c->noc_regs_addr[0] != 0;
}
static bool set_limit(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->c->limit = whole;
    return whole > 0;
}
static bool set_annotate(option_target *t, double n, uint64_t whole)
{
    (void)n;
    t->c->count_cycles = whole != 0;
    return whole <= 1;
}
static bool set_link(option_target *t, double n, uint64_t whole)
{
    t->w->link_ns = whole;
    return n >= 0 && n < 1e9;
}

static const struct {
    const char *name;
    bool (*set)(option_target *t, double n, uint64_t whole);
    bool real; /* takes fractions and signs; the others are whole numbers, and keep all of their bits */
} options[] = {
    {"clock", set_clock, false},       {"functional", set_functional, false},
    {"offsets", set_offsets, false},   {"ppm", set_ppm, true},
    {"change", set_change, false},     {"to", set_to, true},
    {"latency", set_latency, false},   {"jitter", set_jitter, false},
    {"seed", set_seed, false},         {"link", set_link, false},
    {"strict", set_strict, false},     {"limit", set_limit, false},
    {"annotate", set_annotate, false},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

static devlog_status set_option(option_target *t, const char *item, const char *value, devlog_error *err)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strcmp(item, options[i].name) != 0) continue;
        char *end = NULL;
        errno = 0;
        double number = value && options[i].real ? strtod(value, &end) : 1;
        bool digit = value && *value >= '0' && *value <= '9';
        uint64_t whole = !options[i].real && digit ? strtoull(value, &end, 0) : 1;
        if (value && (!end || end == value || *end))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "simulator option %s=%s: not a %snumber", item, value,
                           options[i].real ? "" : "whole ");
        if (!options[i].real) number = (double)whole;
        if (errno == 0 && options[i].set(t, number, whole)) return DEVLOG_OK;
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "simulator option %s=%s: out of range", item,
                       value ? value : "1");
    }
    char names[128] = "";
    for (size_t i = 0, used = 0; i < N_OPTIONS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", options[i].name);
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "unknown simulator option '%s'; there are: %s", item, names);
}

devlog_status board_sim_options(const char *text, sim_config *out, sim_world_options *world,
                                devlog_error *err)
{
    char copy[512];
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the options of the simulator are too long");
    option_target t = {out, world};
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        if (!*item) continue;
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        devlog_status status = set_option(&t, item, value, err);
        if (status != DEVLOG_OK) return status;
    }
    for (uint32_t i = 0; i < world->n_changes; i++)
        if (world->changes[i].mhz == 0 || (i > 0 && world->changes[i].cycle <= world->changes[i - 1].cycle))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "simulator option change=CYCLE needs to=MHZ behind it, and cycles that ascend");
    return DEVLOG_OK;
}
