/* Soft reset: WormholeB0/TensixTile/SoftReset.md, "RISCV soft reset". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

static void power_on_holds_everything(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    assert_true(sim_clock(s, 100)); /* memory is zero: a running hart would be refused */
    assert_int_equal(sim_retired_total(s), 0);
    assert_int_equal(rig_word(s, 0, RIG_SOFT_RESET), RIG_RESET_ALL);
    sim_destroy(s);
}

static void each_bit_is_one_hart(void **state)
{
    (void)state;
    for (uint32_t released = BRISC; released <= NCRISC; released++) {
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
            RIG_LOAD(s, 0, hart, RV_HERE);
        rig_release(s, 0, 1u << released);
        assert_true(sim_clock(s, 10));
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++) {
            sim_hart_state h;
            assert_true(sim_hart(s, 0, hart, &h));
            assert_int_equal(h.in_reset, hart != released);
            assert_int_equal(h.retired > 0, hart == released);
        }
        sim_destroy(s);
    }
}

static void registers_are_zero_and_pc_is_set_on_leaving(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, TRISC0, RV_ADDI(A0, A0, 5), RV_LW(A1, ZERO, 64), RV_ADDI(A2, A1, 1), RV_HERE);
    rig_put(s, 0, 64, 41);
    for (int i = 0; i < 3; i++) {
        rig_release(s, 0, 1 << TRISC0);
        assert_true(sim_clock(s, 30));
        assert_int_equal(rig_x(s, 0, TRISC0, A0), 5); /* not 10, not 15 */
        assert_int_equal(rig_x(s, 0, TRISC0, A2), 42);
        rig_release(s, 0, 0);
        assert_true(sim_clock(s, 7));
    }
    sim_destroy(s);
}

/* What is in flight is dropped, and the pipeline starts empty. */
static void nothing_in_flight_survives(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_ADDI(A0, A1, 1), RV_LW(A1, ZERO, 64), RV_ADDI(A2, A1, 1), RV_HERE);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 3)); /* the load is on its way */
    rig_release(s, 0, 0);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 1));
    sim_hart_state h;
    assert_true(sim_hart(s, 0, BRISC, &h));
    assert_int_equal(h.retired, 3); /* two before, and the first one again without waiting for a1 */
    sim_destroy(s);
}

static void a_hart_releases_and_holds_others(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, 0xFFB12), RV_LI(A0, RIG_RESET_ALL & ~0x1800u),
             RV_SW(A0, T0, 0x1B0), /* 0 .. 12 */
             RV_LW(A1, ZERO, 0x100), RV_BEQ(A1, ZERO, -4), RV_LI(A0, RIG_RESET_ALL & ~0x0800u),
             RV_SW(A0, T0, 0x1B0), RV_LW(A2, T0, 0x1B0), RV_HERE);
    RIG_LOAD(s, 0, TRISC0, RV_ADDI(A0, A0, 1), RV_SW(A0, ZERO, 0x100), RV_JAL(ZERO, -8));
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 200));
    sim_hart_state h;
    assert_true(sim_hart(s, 0, TRISC0, &h));
    assert_true(h.in_reset);
    uint32_t stored = rig_word(s, 0, 0x100);
    assert_true(stored > 0);
    assert_true(sim_clock(s, 200));
    assert_int_equal(rig_word(s, 0, 0x100), stored);
    assert_int_equal(rig_x(s, 0, BRISC, A2), RIG_RESET_ALL & ~0x0800u);
    sim_destroy(s);
}

/* Whichever of the two comes first within a cycle. */
static void released_harts_start_in_the_next_cycle(void **state)
{
    (void)state;
    for (int first_is_lower = 0; first_is_lower < 2; first_is_lower++) {
        enum rig_hart writer = first_is_lower ? BRISC : NCRISC, other = first_is_lower ? NCRISC : BRISC;
        uint32_t both = RIG_RESET_ALL & ~(1u << 11) & ~(1u << 18);
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        RIG_LOAD(s, 0, writer, RV_LUI(T0, 0xFFB12), RV_LI(A0, both), RV_SW(A0, T0, 0x1B0),
                 RV_HERE); /* cycle 3 */
        RIG_LOAD(s, 0, other, RV_ADDI(A0, A0, 1), RV_ADDI(A0, A0, 1), RV_HERE);
        rig_release(s, 0, 1u << writer);
        assert_true(sim_clock(s, 4));
        assert_int_equal(rig_x(s, 0, other, A0), 0);
        assert_true(sim_clock(s, 1));
        assert_int_equal(rig_x(s, 0, other, A0), 1);
        assert_true(sim_clock(s, 1));
        assert_int_equal(rig_x(s, 0, other, A0), 2);
        sim_destroy(s);
    }
}

static void a_hart_can_reset_itself(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 50, RV_LUI(T0, 0xFFB12), RV_LI(A0, RIG_RESET_ALL), RV_SW(A0, T0, 0x1B0),
            RV_SW(A0, ZERO, 0x100), RV_HERE);
    sim_hart_state h;
    assert_true(sim_hart(s, 0, BRISC, &h));
    assert_true(h.in_reset);
    assert_int_equal(h.retired, 4);
    assert_int_equal(h.stalled, 0);
    assert_int_equal(rig_word(s, 0, 0x100), 0);
    sim_destroy(s);
}

static void memory_survives_reset(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, RIG_LOCAL >> 12), RV_LW(A0, T0, 0), RV_ADDI(A0, A0, 1), RV_SW(A0, T0, 0),
             RV_HERE);
    for (uint32_t i = 1; i < 4; i++) {
        rig_release(s, 0, 1 << BRISC);
        assert_true(sim_clock(s, 30));
        assert_int_equal(rig_x(s, 0, BRISC, A0), i);
        rig_release(s, 0, 0);
    }
    sim_destroy(s);
}

static void cycles_are_counted_only_out_of_reset(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_HERE);
    for (int i = 0; i < 2; i++) {
        rig_release(s, 0, 1 << BRISC);
        assert_true(sim_clock(s, 40));
        rig_release(s, 0, 0);
        assert_true(sim_clock(s, 1000));
    }
    sim_hart_state h;
    assert_true(sim_hart(s, 0, BRISC, &h));
    assert_int_equal(h.retired, 80);
    assert_int_equal(h.stalled, 0);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_on_holds_everything),
        cmocka_unit_test(each_bit_is_one_hart),
        cmocka_unit_test(registers_are_zero_and_pc_is_set_on_leaving),
        cmocka_unit_test(nothing_in_flight_survives),
        cmocka_unit_test(a_hart_releases_and_holds_others),
        cmocka_unit_test(released_harts_start_in_the_next_cycle),
        cmocka_unit_test(a_hart_can_reset_itself),
        cmocka_unit_test(memory_survives_reset),
        cmocka_unit_test(cycles_are_counted_only_out_of_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
