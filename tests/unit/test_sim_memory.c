/* Loads and stores of every size; local RAM; several RAMs; code that is changed while it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

static void loads_extend(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        sim_config c = rig_config();
        c.functional = functional;
        sim *s = rig_create(&c);
        rig_put(s, 0, 0x1000, 0x8182F384);
        RIG_RUN(s, 200, RV_LUI(T0, 1), RV_LB(A0, T0, 0), RV_LB(A1, T0, 3), RV_LBU(A2, T0, 0),
                RV_LBU(A3, T0, 3), RV_LH(A4, T0, 0), RV_LHU(A5, T0, 2), RV_LH(A6, T0, 2), RV_LW(A7, T0, 0),
                RV_HERE);
        const uint32_t expected[] = {0xFFFFFF84, 0xFFFFFF81, 0x84,       0x81,
                                     0xFFFFF384, 0x8182,     0xFFFF8182, 0x8182F384};
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(rig_x(s, 0, BRISC, A0 + i), expected[i]);
        sim_destroy(s);
    }
}

static void stores_touch_only_their_bytes(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    for (uint32_t i = 0; i < 4; i++)
        rig_put(s, 0, 0x1000 + 4 * i, 0xAAAAAAAA);
    RIG_RUN(s, 200, RV_LUI(T0, 1), RV_LI(A0, 0x12345678), RV_SB(A0, T0, 1), RV_SH(A0, T0, 6),
            RV_SW(A0, T0, 8), RV_HERE);
    assert_int_equal(rig_word(s, 0, 0x1000), 0xAAAA78AA);
    assert_int_equal(rig_word(s, 0, 0x1004), 0x5678AAAA);
    assert_int_equal(rig_word(s, 0, 0x1008), 0x12345678);
    assert_int_equal(rig_word(s, 0, 0x100C), 0xAAAAAAAA);
    sim_destroy(s);
}

/* Two harts write different values to the same local address and read them back. */
static void local_ram_is_private(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
        RIG_LOAD(s, 0, hart, RV_LUI(T0, RIG_LOCAL >> 12), RV_ADDI(A0, ZERO, 0x40 + (int32_t)hart),
                 RV_SW(A0, T0, 16), RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_LW(A1, T0, 16), RV_HERE);
    rig_release(s, 0, 0x1f);
    assert_true(sim_clock(s, 100));
    for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
        assert_int_equal(rig_x(s, 0, hart, A1), 0x40 + hart);
    uint32_t word;
    assert_false(sim_tile_read(s, 0, RIG_LOCAL, &word, 4)); /* nobody else can see it */
    sim_destroy(s);
}

/* A hart sees what another has stored, from the next access on. */
static void harts_share_l1(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, 1), RV_ADDI(A0, ZERO, 77), RV_SW(A0, T0, 4), RV_SW(A0, T0, 0), RV_HERE);
    RIG_LOAD(s, 0, TRISC1, RV_LUI(T0, 1), RV_LW(A0, T0, 0), RV_BEQ(A0, ZERO, -4), RV_LW(A1, T0, 4), RV_HERE);
    rig_release(s, 0, 1 << BRISC | 1 << TRISC1);
    assert_true(sim_clock(s, 200));
    assert_int_equal(rig_x(s, 0, TRISC1, A1), 77);
    sim_destroy(s);
}

/* There is no stale instruction cache: a store to code, by whomever, is seen by the next fetch. */
static void changed_code_is_executed(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 300, RV_LI(A1, RV_ADDI(A0, A0, 100)),                    /* 0, 4 */
            RV_ADDI(A0, A0, 1), RV_SW(A1, ZERO, 8), RV_ADDI(A2, A2, 1), /* 8 is replaced */
            RV_SLTI(A3, A2, 3), RV_BNE(A3, ZERO, -16), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, A0), 201);
    rig_put(s, 0, 28, RV_ADDI(A4, ZERO, 5)); /* was the endless loop */
    rig_put(s, 0, 32, RV_HERE);
    assert_true(sim_clock(s, 10));
    assert_int_equal(rig_x(s, 0, BRISC, A4), 5);
    sim_destroy(s);
}

/* A microcontroller: flash and RAM elsewhere, one hart without a reset bit, timers, no windows and no NoC. */
static void rams_can_be_anywhere(void **state)
{
    (void)state;
    sim_config c = {
        .name = "mcu",
        .noc_width = 1,
        .noc_height = 1,
        .n_tiles = 1,
        .n_harts = 1,
        .harts = {{.name = "hart0", .reset_pc = 0x20000000, .reset_bit = -1}},
        .n_rams = 2,
        .rams = {{0x80000000, 0x10000}, {0x20000000, 0x20000}},
        .mtime_addr = 0x0200BFF8,
        .csr_cycle = true,
        .functional = true,
        .clock_start = UINT64_C(0x500000000),
    };
    sim *s = rig_create(&c);
    const uint32_t code[] = {RV_LUI(T0, 0x80000),       RV_ADDI(A0, ZERO, 42),     RV_SW(A0, T0, 64),
                             RV_LW(A1, T0, 64),         RV_CSRRS(A2, 0xC80, ZERO), RV_CSRRS(A3, 0xC00, ZERO),
                             RV_CSRRS(A4, 0xF14, ZERO), RV_LUI(T1, 0x0200C),       RV_LW(A5, T1, -8),
                             RV_LW(A6, T1, -4),         RV_CSRRS(A7, 0xB00, ZERO), RV_AUIPC(S2, 0),
                             RV_JALR(ZERO, T0, 0)};
    const uint32_t there[] = {RV_ADDI(S3, ZERO, 6), RV_HERE};
    assert_true(sim_tile_write(s, 0, 0x20000000, code, sizeof code));
    assert_true(sim_tile_write(s, 0, 0x80000000, there, sizeof there));
    assert_true(sim_clock(s, 100));
    assert_int_equal(sim_retired_total(s), 0); /* it is held until somebody releases it */
    sim_hart_reset(s, 0, 0, false);
    if (!sim_clock(s, 100)) fail_msg("%s", sim_fault(s));
    assert_int_equal(rig_x(s, 0, 0, A1), 42);
    assert_int_equal(rig_x(s, 0, 0, A2), 5);
    assert_int_equal(rig_x(s, 0, 0, A3), 100 + 5);
    assert_int_equal(rig_x(s, 0, 0, A4), 0);
    assert_int_equal(rig_x(s, 0, 0, A5), 100 + 8);
    assert_int_equal(rig_x(s, 0, 0, A6), 5);
    assert_int_equal(rig_x(s, 0, 0, A7), 100 + 10);
    assert_int_equal(rig_x(s, 0, 0, S2), 0x2000002C);
    assert_int_equal(rig_x(s, 0, 0, S3), 6);
    assert_int_equal(sim_ram_bytes(s, 0, 0)[64], 42);
    assert_null(sim_ram_bytes(s, 0, 2));
    assert_null(sim_ram_bytes(s, 1, 0));
    sim_destroy(s);
}

static void counters_of_a_hart(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 100, RV_LW(A0, ZERO, 64), RV_SW(A0, ZERO, 64), RV_SW(A0, ZERO, 68), RV_HERE);
    sim_hart_state h;
    assert_true(sim_hart(s, 0, BRISC, &h));
    assert_int_equal(h.loads, 1);
    assert_int_equal(h.stores, 2);
    assert_int_equal(h.pc, 12);
    assert_false(h.in_reset);
    assert_int_equal(h.retired + h.stalled, 100);
    assert_int_equal(h.stalled, 7); /* the store waits for the load */
    assert_true(sim_hart(s, 0, TRISC0, &h));
    assert_true(h.in_reset);
    assert_int_equal(h.retired + h.stalled, 0);
    assert_false(sim_hart(s, 0, 5, &h));
    assert_false(sim_hart(s, 99, 0, &h));
    assert_false(sim_hart(s, 16, 0, &h)); /* a DRAM tile */
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_extend),
        cmocka_unit_test(stores_touch_only_their_bytes),
        cmocka_unit_test(local_ram_is_private),
        cmocka_unit_test(harts_share_l1),
        cmocka_unit_test(changed_code_is_executed),
        cmocka_unit_test(rams_can_be_anywhere),
        cmocka_unit_test(counters_of_a_hart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
