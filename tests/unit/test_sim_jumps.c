/* Branches and jumps: taken and not, forwards and backwards, link registers, targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

/* Whether the branch `f3` is taken with a and b. */
static bool taken(uint32_t f3, uint32_t a, uint32_t b)
{
    sim_config c = rig_config();
    c.n_tiles = 1;
    c.functional = a & 1;
    sim *s = rig_create(&c);
    RIG_RUN(s, 60, RV_LI(A0, a), RV_LI(A1, b), rv_b(f3, A0, A1, 12), RV_ADDI(A2, ZERO, 1), RV_HERE,
            RV_ADDI(A2, ZERO, 2), RV_HERE);
    uint32_t result = rig_x(s, 0, BRISC, A2);
    sim_destroy(s);
    assert_in_range(result, 1, 2);
    return result == 2;
}

static void every_condition(void **state)
{
    (void)state;
    const uint32_t values[] = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            uint32_t a = values[i], b = values[j];
            assert_int_equal(taken(0, a, b), a == b);
            assert_int_equal(taken(1, a, b), a != b);
            assert_int_equal(taken(4, a, b), (int32_t)a < (int32_t)b);
            assert_int_equal(taken(5, a, b), (int32_t)a >= (int32_t)b);
            assert_int_equal(taken(6, a, b), a < b);
            assert_int_equal(taken(7, a, b), a >= b);
        }
}

static void loop_counts_down(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        sim_config c = rig_config();
        c.functional = functional;
        sim *s = rig_create(&c);
        RIG_RUN(s, 2000, RV_ADDI(A0, ZERO, 300), RV_ADDI(A1, A1, 3), RV_ADDI(A0, A0, -1),
                RV_BNE(A0, ZERO, -8), RV_HERE);
        assert_int_equal(rig_x(s, 0, BRISC, A1), 900);
        sim_destroy(s);
    }
}

static void calls_link_and_return(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 100, RV_JAL(RA, 16),                /* 0: call 16 */
            RV_ADDI(A1, ZERO, 1), RV_HERE, RV_NOP, /* 4, 8, 12 */
            RV_ADDI(A0, RA, 0), RV_JALR(ZERO, RA, 0) /* 16 */);
    assert_int_equal(rig_x(s, 0, BRISC, A0), 4);
    assert_int_equal(rig_x(s, 0, BRISC, A1), 1);
    sim_destroy(s);
}

static void jalr_reads_before_it_links_and_clears_bit_0(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 100, RV_ADDI(T0, ZERO, 17), RV_JALR(T0, T0, 4), RV_HERE, RV_HERE, RV_HERE, /* 0 .. 16 */
            RV_ADDI(A0, T0, 0), RV_HERE /* 20 = (17 + 4) & ~1 */);
    assert_int_equal(rig_x(s, 0, BRISC, A0), 8);
    sim_destroy(s);
}

static void far_targets(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    const uint32_t back[] = {RV_JAL(A1, -(0xFFFFC - 8))};
    assert_true(sim_tile_write(s, 0, 0xFFFFC, back, 4));
    RIG_RUN(s, 100, RV_JAL(A0, 0xFFFFC), RV_HERE, RV_ADDI(A2, ZERO, 9), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, A0), 4);
    assert_int_equal(rig_x(s, 0, BRISC, A1), 0x100000);
    assert_int_equal(rig_x(s, 0, BRISC, A2), 9);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_condition),
        cmocka_unit_test(loop_counts_down),
        cmocka_unit_test(calls_link_and_return),
        cmocka_unit_test(jalr_reads_before_it_links_and_clears_bit_0),
        cmocka_unit_test(far_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
