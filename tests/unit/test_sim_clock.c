/* The wall clock of a tile: latch, wrap of 32 bits, offsets between tiles.
 * WormholeB0/TensixTile/DebugTimestamper.md, "The 64-bit counter". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

enum { LOW = 0, HIGH = 4, LATCHED = 8 };

static sim *at_clock(uint64_t start)
{
    sim_config c = rig_config();
    c.clock_start = start;
    return rig_create(&c);
}

static void counts_cycles(void **state)
{
    (void)state;
    sim *s = at_clock(UINT64_C(0x300000000));
    assert_int_equal(sim_chip_clock(s), UINT64_C(0x300000000));
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 0);
    assert_true(sim_clock(s, 1000));
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 1000);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + HIGH), 3);
    sim_destroy(s);
}

static void reading_low_latches_high(void **state)
{
    (void)state;
    sim *s = at_clock(UINT64_C(0x1FFFFFFF0));
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 0);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 0xFFFFFFF0);
    assert_true(sim_clock(s, 0x20)); /* over the wrap */
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 1);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + HIGH), 2);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 1); /* reading high does not latch */
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 0x10);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 2);
    sim_destroy(s);
}

static void writing_low_latches_and_nothing_else(void **state)
{
    (void)state;
    sim *s = at_clock(UINT64_C(0x500000000));
    rig_put(s, 0, RIG_CLOCK + HIGH, 77);
    rig_put(s, 0, RIG_CLOCK + LATCHED, 77);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 0);
    rig_put(s, 0, RIG_CLOCK + LOW, 77);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 5);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 0);
    sim_destroy(s);
}

/* The latch belongs to the tile: a read by a second hart between low and latched high of the first, over a
 * wrap, gives the first a torn value. High, low, high is safe. */
static void the_latch_is_shared_by_the_harts(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.functional = true; /* one instruction per cycle: instruction i runs in cycle start + i */
    c.clock_start = UINT64_C(0x1FFFFFFFC);
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, 0xFFB12), RV_LW(A0, T0, 0x1F0), RV_NOP, RV_NOP, RV_NOP, RV_NOP,
             RV_LW(A1, T0, 0x1F8), RV_HERE);
    RIG_LOAD(s, 0, NCRISC, RV_LUI(T0, 0xFFB12), RV_NOP, RV_NOP, RV_NOP, RV_LW(A0, T0, 0x1F0),
             RV_LW(A1, T0, 0x1F8), RV_HERE);
    rig_release(s, 0, 1 << BRISC | 1 << NCRISC);
    assert_true(sim_clock(s, 20));
    assert_int_equal(rig_x(s, 0, BRISC, A0), 0xFFFFFFFD); /* cycle 1 */
    assert_int_equal(rig_x(s, 0, BRISC, A1), 2);          /* latched by NCRISC in cycle 4: torn */
    assert_int_equal(rig_x(s, 0, NCRISC, A0), 0);
    assert_int_equal(rig_x(s, 0, NCRISC, A1), 2);
    sim_destroy(s);
}

static void tiles_have_offsets(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.tiles[3].clock_offset = UINT64_C(0xFFFFFFFF0);
    c.clock_start = 100;
    sim *s = rig_create(&c);
    assert_true(sim_clock(s, 50));
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LOW), 150);
    assert_int_equal(rig_word(s, 3, RIG_CLOCK + LOW), 134);
    assert_int_equal(rig_word(s, 3, RIG_CLOCK + HIGH), 16);
    assert_int_equal(rig_word(s, 0, RIG_CLOCK + LATCHED), 0); /* each tile has its own latch */
    assert_int_equal(rig_word(s, 3, RIG_CLOCK + LATCHED), 16);
    assert_int_equal(sim_chip_clock(s), 150);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_cycles),
        cmocka_unit_test(reading_low_latches_high),
        cmocka_unit_test(writing_low_latches_and_nothing_else),
        cmocka_unit_test(the_latch_is_shared_by_the_harts),
        cmocka_unit_test(tiles_have_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
