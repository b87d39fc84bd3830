/* Configurations: what sim_create refuses, and that the largest works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_rig.h"

static void expect(const sim_config *c, const char *reason)
{
    char why[128] = "";
    sim *s = sim_create(c, why, sizeof why);
    if (s) fail_msg("accepted, but: %s", reason);
    assert_non_null(strstr(why, reason));
    assert_null(sim_create(c, NULL, 0));
}

#define EXPECT(reason, change)                                                                               \
    do {                                                                                                     \
        sim_config c = rig_config();                                                                         \
        change;                                                                                              \
        expect(&c, reason);                                                                                  \
    } while (0)

static void bad_configurations(void **state)
{
    (void)state;
    EXPECT("n_tiles", c.n_tiles = 0);
    EXPECT("n_tiles", c.n_tiles = SIM_MAX_TILES + 1);
    EXPECT("grid", c.noc_width = 0);
    EXPECT("grid", c.noc_height = 65);
    EXPECT("outside of the grid", c.tiles[3].x = 10);
    EXPECT("same coordinates", c.tiles[3] = c.tiles[2]);
    EXPECT("no known kind", c.tiles[3].kind = 7);
    EXPECT("dram_size", c.dram_size = 0);
    EXPECT("n_rams", c.n_rams = 0);
    EXPECT("n_rams", c.n_rams = SIM_MAX_RAMS + 1);
    EXPECT("multiple of four", c.rams[0].size = 1001);
    EXPECT("beyond 4 GiB", c.rams[0].base = 0xFFFFF000);
    EXPECT("overlap", (c.n_rams = 2, c.rams[1] = (sim_ram){0x1000, 4}));
    EXPECT("n_harts", c.n_harts = 0);
    EXPECT("n_harts", c.n_harts = SIM_MAX_HARTS + 1);
    EXPECT("reset pc", c.harts[1].reset_pc = 2);
    EXPECT("local RAM", c.harts[1].local_size = 3);
    EXPECT("not in 0 to 31", c.harts[1].reset_bit = 32);
    EXPECT("no soft-reset register", c.soft_reset_addr = 0);
    EXPECT("does not hold every hart", c.soft_reset_init = 0x47000);
    EXPECT("does not cover", c.soft_reset_mask = 0x47000);
    EXPECT("outside of soft_reset_mask", c.soft_reset_init |= 1);
    EXPECT("is not terminated", memset(c.name, 'x', sizeof c.name));
    EXPECT("is not terminated", memset(c.harts[0].name, 'x', sizeof c.harts[0].name));
    EXPECT("n_window_classes", c.n_window_classes = SIM_MAX_WINDOW_CLASSES + 1);
    EXPECT("window format", c.window_format = 9);
    EXPECT("size of a window", c.windows[0].bits = 33);
    EXPECT("size of a window", c.windows[0].bits = 3);
    EXPECT("too many windows", c.windows[0].count = 1000000);
    EXPECT("do not fit", c.windows[0].count = 200);
    EXPECT("do not fit", c.bar0_size = RIG_WINDOW_CONFIG + 8);
    EXPECT("aligned to 8", c.window_config_offset += 4);
}

/* As many tiles, harts and RAMs as there can be: made, clocked, destroyed. */
static void the_largest(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.noc_width = c.noc_height = 64;
    for (c.n_tiles = 0; c.n_tiles < SIM_MAX_TILES; c.n_tiles++)
        c.tiles[c.n_tiles] = (sim_tile_config){.kind = c.n_tiles % 8 == 7 ? SIM_TILE_DRAM : SIM_TILE_TENSIX,
                                               .x = (uint8_t)(c.n_tiles % 16),
                                               .y = (uint8_t)(c.n_tiles / 16)};
    for (c.n_harts = 5; c.n_harts < SIM_MAX_HARTS; c.n_harts++)
        c.harts[c.n_harts] = (sim_hart_config){.name = "extra", .reset_bit = -1};
    for (c.n_rams = 1; c.n_rams < SIM_MAX_RAMS; c.n_rams++)
        c.rams[c.n_rams] = (sim_ram){0x80000000 + c.n_rams * 0x100000, 0x100000};
    sim *s = rig_create(&c);
    rig_put(s, 254, 0x80300000, 5);
    assert_true(sim_clock(s, 100));
    assert_int_equal(sim_ram_bytes(s, 254, 3)[0], 5);
    assert_null(sim_ram_bytes(s, 255, 0));
    sim_destroy(s);
    sim_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_configurations),
        cmocka_unit_test(the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
