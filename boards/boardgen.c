/* Writes the table of simulator configurations that libdevlogsim.so is built with, from the board files.
 * A build tool: boardgen NAME=FILE... > shipped.c */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/board_sim.h"

static void write_config(const sim_config *c)
{
    printf("    {\n        .name = \"%s\",\n        .pci_id = 0x%" PRIx32 ",\n", c->name, c->pci_id);
    printf("        .noc_width = %u,\n        .noc_height = %u,\n", c->noc_width, c->noc_height);
    printf("        .n_tiles = %" PRIu32 ",\n        .tiles = {\n", c->n_tiles);
    for (uint32_t i = 0; i < c->n_tiles; i++)
        printf("            {.kind = %d, .x = %u, .y = %u},\n", (int)c->tiles[i].kind, c->tiles[i].x,
               c->tiles[i].y);
    printf("        },\n        .n_harts = %" PRIu32 ",\n        .harts = {\n", c->n_harts);
    for (uint32_t i = 0; i < c->n_harts; i++) {
        const sim_hart_config *h = &c->harts[i];
        printf("            {.name = \"%s\", .reset_pc = 0x%" PRIx32
               ", .reset_bit = %d, .local_size = %" PRIu32 ", .backend_config = %d},\n",
               h->name, h->reset_pc, h->reset_bit, h->local_size, h->backend_config);
    }
    printf("        },\n        .n_rams = %" PRIu32 ",\n        .rams = {", c->n_rams);
    for (uint32_t i = 0; i < c->n_rams; i++)
        printf("{.base = 0x%" PRIx32 ", .size = 0x%" PRIx32 "}, ", c->rams[i].base, c->rams[i].size);
    printf("},\n        .local_base = 0x%" PRIx32 ",\n        .dram_size = 0x%" PRIx64 ",\n", c->local_base,
           c->dram_size);
    printf("        .soft_reset_addr = 0x%" PRIx32 ",\n        .soft_reset_init = 0x%" PRIx32
           ",\n        .soft_reset_mask = 0x%" PRIx32 ",\n",
           c->soft_reset_addr, c->soft_reset_init, c->soft_reset_mask);
    printf("        .clock_low_addr = 0x%" PRIx32 ",\n        .clock_high_addr = 0x%" PRIx32
           ",\n        .clock_latched_addr = 0x%" PRIx32 ",\n",
           c->clock_low_addr, c->clock_high_addr, c->clock_latched_addr);
    printf("        .timestamp_addr = 0x%" PRIx32 ",\n        .icache_addr = 0x%" PRIx32
           ",\n        .mtime_addr = 0x%" PRIx32 ",\n        .csr_cycle = %d,\n",
           c->timestamp_addr, c->icache_addr, c->mtime_addr, c->csr_cycle);
    printf("        .noc_regs_addr = {0x%" PRIx32 ", 0x%" PRIx32 "},\n        .noc_wide = %d,\n",
           c->noc_regs_addr[0], c->noc_regs_addr[1], c->noc_wide);
    printf("        .window_format = %d,\n        .n_window_classes = %" PRIu32 ",\n        .windows = {",
           (int)c->window_format, c->n_window_classes);
    for (uint32_t i = 0; i < c->n_window_classes; i++)
        printf("{.count = %" PRIu32 ", .bits = %u}, ", c->windows[i].count, c->windows[i].bits);
    printf("},\n        .bar0_base = 0x%" PRIx64 ",\n        .bar0_size = 0x%" PRIx64
           ",\n        .window_config_offset = 0x%" PRIx32 ",\n    },\n",
           c->bar0_base, c->bar0_size, c->window_config_offset);
}

int main(int argc, char **argv)
{
    printf("/* Generated from the board files; edit those. */\n#include <string.h>\n\n#include "
           "\"sim/shipped.h\"\n\n");
    printf("static const sim_config shipped[] = {\n");
    for (int i = 1; i < argc; i++) {
        board b;
        devlog_error err;
        if (board_load(argv[i], &b, &err) != DEVLOG_OK) {
            fprintf(stderr, "boardgen: %s\n", err.text);
            return 1;
        }
        if (b.window_format == BOARD_WINDOWS_NONE) continue;
        static sim_config config;
        sim_world_options world;
        board_to_sim(&b, &config, &world);
        write_config(&config);
    }
    printf("};\n\nconst sim_config *sim_shipped_config(const char *board)\n{\n"
           "    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)\n"
           "        if (strcmp(shipped[i].name, board) == 0) return &shipped[i];\n"
           "    return NULL;\n}\n");
    return 0;
}
