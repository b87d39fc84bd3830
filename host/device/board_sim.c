/* The configuration of the built-in simulator for a board, and its options. */
#include "device/board_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void board_to_sim(const board *b, sim_config *out)
{
    memset(out, 0, sizeof *out);
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

    out->n_harts = b->n_riscs;
    out->local_base = b->riscs[0].local.base;
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        sim_hart_config *hart = &out->harts[i];
        snprintf(hart->name, sizeof hart->name, "%s", b->riscs[i].name);
        hart->reset_pc = b->riscs[i].reset_pc;
        hart->reset_bit = (int8_t)b->riscs[i].reset_bit;
        hart->local_size = b->riscs[i].local.size;
        hart->backend_config = b->riscs[i].backend_config;
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
    out->csr_cycle = b->clock_kind == BOARD_CLOCK_CSR;
    out->timestamp_addr = b->timestamp;
    out->icache_addr = b->icache_invalidate;
    out->mtime_addr = b->mtime;
    for (int i = 0; i < 2; i++)
        out->noc_regs_addr[i] = b->noc_regs[i];

    out->window_format =
        b->window_format == BOARD_WINDOWS_BLACKHOLE ? SIM_WINDOW_BLACKHOLE : SIM_WINDOW_WORMHOLE;
    out->n_window_classes = b->n_classes;
    for (uint32_t i = 0; i < b->n_classes; i++)
        out->windows[i] = (sim_window_class){b->classes[i].count, b->classes[i].bits};
    out->bar0_base = b->bar0_base;
    out->bar0_size = b->bar0_size;
    out->window_config_offset = b->window_config_offset;

    out->truth_base = b->profiler.base;
    out->truth_size = b->profiler.size;
}

devlog_status board_sim_options(const char *text, sim_config *out, devlog_error *err)
{
    char copy[512];
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the options of the simulator are too long");
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        if (!*item) continue;
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        char *end = NULL;
        errno = 0;
        unsigned long long number = value ? strtoull(value, &end, 0) : 1;
        if (errno || (value && (!*value || *end)))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "simulator option %s=%s: not a number", item, value);
        if (strcmp(item, "clock") == 0)
            out->clock_start = number;
        else if (strcmp(item, "functional") == 0)
            out->functional = number != 0;
        else
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "unknown simulator option '%s'; there are: clock, functional", item);
    }
    return DEVLOG_OK;
}
