/* What the model of a debug module needs: memory, halt and resume, registers, ebreak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

static sim *make(void)
{
    sim_config c = rig_config();
    return rig_create(&c);
}

static void bus_errors_are_not_faults(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 1;
    assert_false(sim_tile_read(s, 0, 0x16E000, &value, 4));
    assert_false(sim_tile_write(s, 0, 0x16DFFE, &value, 4));
    assert_false(sim_tile_read(s, 0, RIG_SOFT_RESET, &value, 2));
    assert_false(sim_tile_write(s, 0, RIG_SOFT_RESET, &value, 4));
    assert_false(sim_tile_read(s, 99, 0, &value, 4));
    assert_true(sim_tile_read(s, 16, 0x1000, &value, 4)); /* a DRAM tile */
    assert_null(sim_fault(s));
    assert_true(sim_clock(s, 1));
    sim_destroy(s);
}

static void halt_and_resume(void **state)
{
    (void)state;
    sim *s = make();
    RIG_LOAD(s, 0, TRISC2, RV_ADDI(A0, A0, 1), RV_JAL(ZERO, -4));
    rig_release(s, 0, 1 << TRISC2);
    assert_true(sim_clock(s, 10));
    assert_false(sim_hart_halted(s, 0, TRISC2));
    sim_hart_halt(s, 0, TRISC2, true);
    assert_true(sim_hart_halted(s, 0, TRISC2));
    assert_true(sim_clock(s, 100));
    assert_int_equal(rig_x(s, 0, TRISC2, A0), 5);
    sim_hart_halt(s, 0, TRISC2, false);
    assert_true(sim_clock(s, 10));
    assert_int_equal(rig_x(s, 0, TRISC2, A0), 10);
    sim_hart_state h;
    assert_true(sim_hart(s, 0, TRISC2, &h));
    assert_int_equal(h.retired, 20);
    assert_int_equal(h.stalled, 0); /* time spent halted is not waiting */
    sim_destroy(s);
}

static void registers_can_be_set_while_halted(void **state)
{
    (void)state;
    sim *s = make();
    RIG_LOAD(s, 0, BRISC, RV_HERE, RV_NOP, RV_ADD(A2, A0, A1), RV_ADD(A3, ZERO, ZERO), RV_HERE);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 5));
    sim_hart_set(s, 0, BRISC, A0, 1); /* running: no effect */
    assert_int_equal(rig_x(s, 0, BRISC, A0), 0);
    sim_hart_halt(s, 0, BRISC, true);
    sim_hart_set(s, 0, BRISC, A0, 40);
    sim_hart_set(s, 0, BRISC, A1, 2);
    sim_hart_set(s, 0, BRISC, A3, 7);
    sim_hart_set(s, 0, BRISC, ZERO, 9);
    sim_hart_set(s, 0, BRISC, 32, 8);
    sim_hart_set(s, 0, BRISC, 33, 8);
    assert_int_equal(rig_x(s, 0, BRISC, ZERO), 0);
    sim_hart_halt(s, 0, BRISC, false);
    assert_true(sim_clock(s, 5));
    assert_int_equal(rig_x(s, 0, BRISC, A2), 42);
    assert_int_equal(rig_x(s, 0, BRISC, A3), 0);
    sim_destroy(s);
}

static void ebreak_halts_a_debugged_hart(void **state)
{
    (void)state;
    sim *s = make();
    RIG_LOAD(s, 0, BRISC, RV_ADDI(A0, A0, 1), RV_EBREAK, RV_ADDI(A0, A0, 1), RV_HERE);
    sim_hart_debugged(s, 0, BRISC, true);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 50));
    assert_true(sim_hart_halted(s, 0, BRISC));
    sim_hart_state h;
    assert_true(sim_hart(s, 0, BRISC, &h));
    assert_int_equal(h.pc, 4); /* of the ebreak itself */
    assert_int_equal(h.x[A0], 1);
    assert_int_equal(h.retired, 1);
    sim_hart_set(s, 0, BRISC, 32, 8);
    sim_hart_halt(s, 0, BRISC, false);
    assert_true(sim_clock(s, 5));
    assert_int_equal(rig_x(s, 0, BRISC, A0), 2);
    sim_destroy(s);
}

/* A hart that is halted while held in reset stays halted when it is released. */
static void halt_on_reset(void **state)
{
    (void)state;
    sim *s = make();
    RIG_LOAD(s, 0, BRISC, RV_ADDI(A0, A0, 1), RV_HERE);
    sim_hart_halt(s, 0, BRISC, true);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 50));
    assert_int_equal(rig_x(s, 0, BRISC, A0), 0);
    sim_hart_halt(s, 0, BRISC, false);
    assert_true(sim_clock(s, 50));
    assert_int_equal(rig_x(s, 0, BRISC, A0), 1);
    sim_destroy(s);
}

/* sim_hart_reset is the same as the bit of the register. */
static void reset_of_one_hart(void **state)
{
    (void)state;
    sim *s = make();
    RIG_LOAD(s, 0, NCRISC, RV_ADDI(A0, A0, 1), RV_JAL(ZERO, -4));
    sim_hart_reset(s, 0, NCRISC, false);
    assert_int_equal(rig_word(s, 0, RIG_SOFT_RESET), RIG_RESET_ALL & ~(1u << 18));
    assert_true(sim_clock(s, 9));
    assert_int_equal(rig_x(s, 0, NCRISC, A0), 5);
    sim_hart_reset(s, 0, NCRISC, true);
    assert_int_equal(rig_word(s, 0, RIG_SOFT_RESET), RIG_RESET_ALL);
    assert_true(sim_clock(s, 9));
    sim_hart_reset(s, 0, NCRISC, false);
    assert_true(sim_clock(s, 3));
    assert_int_equal(rig_x(s, 0, NCRISC, A0), 2);
    sim_destroy(s);
}

static void nonsense_is_harmless(void **state)
{
    (void)state;
    sim *s = make();
    sim_hart_halt(s, 0, 9, true);
    sim_hart_halt(s, 16, 0, true);
    sim_hart_set(s, 99, 0, 1, 1);
    sim_hart_debugged(s, 99, 0, true);
    sim_hart_reset(s, 99, 0, false);
    assert_false(sim_hart_halted(s, 99, 0));
    assert_true(sim_clock(s, 10));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bus_errors_are_not_faults),
        cmocka_unit_test(halt_and_resume),
        cmocka_unit_test(registers_can_be_set_while_halted),
        cmocka_unit_test(ebreak_halts_a_debugged_hart),
        cmocka_unit_test(halt_on_reset),
        cmocka_unit_test(reset_of_one_hart),
        cmocka_unit_test(nonsense_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
