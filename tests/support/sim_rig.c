/* A simulated chip for tests. */
#include "support/sim_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    uint32_t pc;
    int8_t bit;
    uint32_t local;
} harts[] = {
    [BRISC] = {"BRISC", 0, 11, 4096},         [TRISC0] = {"TRISC0", 0x6000, 12, 2048},
    [TRISC1] = {"TRISC1", 0xA000, 13, 2048},  [TRISC2] = {"TRISC2", 0xE000, 14, 2048},
    [NCRISC] = {"NCRISC", 0x12000, 18, 4096},
};

sim_config rig_config(void)
{
    sim_config c = {
        .name = "rig",
        .pci_id = 0x401E1E52,
        .noc_width = 10,
        .noc_height = 12,
        .n_harts = 5,
        .n_rams = 1,
        .rams = {{0, RIG_L1_SIZE}},
        .local_base = RIG_LOCAL,
        .dram_size = UINT64_C(1) << 30,
        .soft_reset_addr = RIG_SOFT_RESET,
        .soft_reset_init = RIG_RESET_ALL,
        .soft_reset_mask = RIG_RESET_ALL,
        .clock_low_addr = RIG_CLOCK,
        .clock_high_addr = RIG_CLOCK + 4,
        .clock_latched_addr = RIG_CLOCK + 8,
        .timestamp_addr = RIG_TIMESTAMP,
        .icache_addr = RIG_ICACHE,
        .noc_regs_addr = {RIG_NOC0, RIG_NOC1},
        .window_format = SIM_WINDOW_WORMHOLE,
        .n_window_classes = 3,
        .windows = {{156, 20}, {10, 21}, {20, 24}},
        .bar0_base = RIG_BAR0,
        .bar0_size = UINT64_C(1) << 29,
        .window_config_offset = (uint32_t)RIG_WINDOW_CONFIG,
        .truth_base = RIG_TRUTH,
        .truth_size = RIG_TRUTH_SIZE,
    };
    for (uint32_t i = 0; i < c.n_harts; i++) {
        c.harts[i] = (sim_hart_config){.reset_pc = harts[i].pc,
                                       .reset_bit = harts[i].bit,
                                       .local_size = harts[i].local,
                                       .backend_config = i != NCRISC};
        snprintf(c.harts[i].name, sizeof c.harts[i].name, "%s", harts[i].name);
    }
    for (uint32_t i = 0; i < 16; i++)
        c.tiles[c.n_tiles++] =
            (sim_tile_config){.kind = SIM_TILE_TENSIX, .x = (uint8_t)(1 + i % 4), .y = (uint8_t)(1 + i / 4)};
    c.tiles[c.n_tiles++] = (sim_tile_config){.kind = SIM_TILE_DRAM, .x = 0, .y = 0};
    c.tiles[c.n_tiles++] = (sim_tile_config){.kind = SIM_TILE_DRAM, .x = 5, .y = 0};
    return c;
}

sim *rig_create(const sim_config *config)
{
    char why[128] = "";
    sim *s = sim_create(config, why, sizeof why);
    if (!s) fail_msg("%s", why);
    return s;
}

uint32_t rig_pc(enum rig_hart hart)
{
    return harts[hart].pc;
}

void rig_load(sim *s, uint32_t tile, enum rig_hart hart, const uint32_t *code, uint32_t n_words)
{
    assert_true(sim_tile_write(s, tile, harts[hart].pc, code, n_words * 4));
}

void rig_release(sim *s, uint32_t tile, uint32_t mask)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < sizeof harts / sizeof *harts; i++)
        if (!(mask >> i & 1)) held |= 1u << harts[i].bit;
    rig_put(s, tile, RIG_SOFT_RESET, held);
}

uint32_t rig_word(sim *s, uint32_t tile, uint32_t addr)
{
    uint32_t value = 0;
    assert_true(sim_tile_read(s, tile, addr, &value, 4));
    return value;
}

void rig_put(sim *s, uint32_t tile, uint32_t addr, uint32_t value)
{
    assert_true(sim_tile_write(s, tile, addr, &value, 4));
}

uint32_t rig_x(sim *s, uint32_t tile, enum rig_hart hart, uint32_t reg)
{
    sim_hart_state state;
    assert_true(sim_hart(s, tile, hart, &state));
    return state.x[reg];
}

void rig_run(sim *s, const uint32_t *code, uint32_t n_words, uint32_t cycles)
{
    rig_load(s, 0, BRISC, code, n_words);
    rig_release(s, 0, 0);
    rig_release(s, 0, 1u << BRISC);
    if (!sim_clock(s, cycles)) fail_msg("%s", sim_fault(s));
}
