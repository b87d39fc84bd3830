/* The cost table: in which cycle each instruction of a cost_sequence starts, against the latencies of
 * WormholeB0/TensixTile/BabyRISCV/README.md. What that document leaves open is tested as docs/simulator.md
 * says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_cost.h"
#include "support/sim_rig.h"

#define CHECK_AB(...)    COST_CHECK_AB(SIM_CORES_WORMHOLE, __VA_ARGS__)
#define CHECK(what, ...) CHECK_AB(what, 100, 7, __VA_ARGS__)

static void integer_operations_take_one_cycle(void **state)
{
    (void)state;
    CHECK("dependent chain",
          WORDS(RV_ADDI(A2, A0, 1), RV_ADD(A2, A2, A2), RV_XOR(A2, A2, A0), RV_SLLI(A2, A2, 3), RV_HERE),
          STARTS(0, 1, 2, 3, 4));
    CHECK("fence is a nop", WORDS(RV_FENCE, RV_FENCE, RV_LUI(A2, 1), RV_HERE), STARTS(0, 1, 2, 3));
}

static void multiply_takes_two(void **state)
{
    (void)state;
    const uint32_t words[] = {RV_MUL(A2, A0, A1), RV_MULH(A2, A0, A1), RV_MULHSU(A2, A0, A1),
                              RV_MULHU(A2, A0, A1)};
    for (size_t i = 0; i < 4; i++) {
        CHECK("then independent", WORDS(words[i], RV_ADDI(A3, A0, 1), RV_HERE), STARTS(0, 2, 3));
        CHECK("then dependent", WORDS(words[i], RV_ADDI(A3, A2, 1), RV_HERE), STARTS(0, 2, 3));
        CHECK("twice", WORDS(words[i], words[i], RV_HERE), STARTS(0, 2, 4));
    }
}

static void divide_depends_on_values(void **state)
{
    (void)state;
    static const struct {
        uint32_t a, b, is_signed, is_unsigned;
    } cases[] = {
        {100, 0, 2, 2},
        {100, 1, 2, 2},
        {0x80000000, 0xFFFFFFFF, 2, 33},
        {0, 7, 6, 6},
        {1, 7, 6, 6},
        {2, 7, 7, 7},
        {100, 7, 12, 12},
        {0xFFFFFFFF, 7, 6, 33},
        {0x7FFFFFFF, 7, 33, 33},
        {0x08000000, 7, 33, 33},
        {0x07FFFFFF, 7, 32, 32},
        {0x80000000, 7, 33, 33},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t s = cases[i].is_signed, u = cases[i].is_unsigned;
        CHECK_AB("div", cases[i].a, cases[i].b, WORDS(RV_DIV(A2, A0, A1), RV_NOP, RV_HERE),
                 STARTS(0, s, s + 1));
        CHECK_AB("rem", cases[i].a, cases[i].b, WORDS(RV_REM(A2, A0, A1), RV_NOP, RV_HERE),
                 STARTS(0, s, s + 1));
        CHECK_AB("divu", cases[i].a, cases[i].b, WORDS(RV_DIVU(A2, A0, A1), RV_NOP, RV_HERE),
                 STARTS(0, u, u + 1));
        CHECK_AB("remu", cases[i].a, cases[i].b, WORDS(RV_REMU(A2, A0, A1), RV_NOP, RV_HERE),
                 STARTS(0, u, u + 1));
    }
}

static void load_to_use(void **state)
{
    (void)state;
    const struct {
        uint32_t base, latency;
    } regions[] = {{T1, 2}, {T2, 7}, {T0, 8}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t base = regions[i].base, n = regions[i].latency;
        CHECK("used at once", WORDS(RV_LW(A2, base, 0), RV_ADDI(A3, A2, 1), RV_HERE), STARTS(0, n, n + 1));
        CHECK("as second operand", WORDS(RV_LW(A2, base, 0), RV_ADD(A3, A0, A2), RV_HERE),
              STARTS(0, n, n + 1));
        CHECK("as data of a store", WORDS(RV_LW(A2, base, 0), RV_SW(A2, T1, 8), RV_HERE),
              STARTS(0, n, n + 1));
        CHECK("not used: no wait", WORDS(RV_LW(A2, base, 0), RV_ADDI(A3, A0, 1), RV_HERE), STARTS(0, 1, 2));
        CHECK("overwritten: no wait for the value",
              WORDS(RV_LW(A2, base, 0), RV_ADDI(A2, A0, 1), RV_ADDI(A3, A2, 1)), STARTS(0, 1, 2));
    }
    CHECK("hidden by seven others",
          WORDS(RV_LW(A2, T0, 0), RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_ADDI(A3, A2, 1),
                RV_HERE),
          STARTS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

/* "operand forwarding is only possible from an instruction as it enters or leaves the Load/Store Unit" */
static void results_queue_behind_a_load(void **state)
{
    (void)state;
    CHECK("the next instruction gets it",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_ADDI(A4, A3, 1), RV_HERE), STARTS(0, 1, 2, 3));
    CHECK("the one after it waits until the load has left",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_NOP, RV_ADDI(A4, A3, 1), RV_HERE),
          STARTS(0, 1, 2, 9, 10));
    CHECK("a chain moves on",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_ADDI(A3, A3, 0), RV_ADDI(A3, A3, 0),
                RV_ADDI(A3, A3, 0), RV_HERE),
          STARTS(0, 1, 2, 3, 4, 5));
    CHECK("a delayed instruction misses it",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_ADD(A4, A3, A2), RV_HERE), STARTS(0, 1, 9, 10));
}

/* "the throughput of sustained loads is four such loads every N - 1 cycles"; one per cycle from local RAM. */
static void loads_in_flight(void **state)
{
    (void)state;
    uint32_t n = 12;
    cost_sequence l1 = {.n_words = n, .n_expected = n}, reg = l1, local = l1;
    for (uint32_t i = 0; i < n; i++) {
        l1.code[i] = RV_LW(A2 + i % 4, T0, 4 * (int32_t)i);
        reg.code[i] = RV_LW(A2 + i % 4, T2, 0);
        local.code[i] = RV_LW(A2 + i % 4, T1, 4 * (int32_t)i);
        local.expected[i] = i;
    }
    memcpy(l1.expected, (uint32_t[]){0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 17}, n * 4);
    memcpy(reg.expected, (uint32_t[]){0, 1, 2, 3, 4, 7, 8, 9, 10, 13, 14, 15}, n * 4);
    cost_check(SIM_CORES_WORMHOLE, "L1", &l1, 0, 0);
    cost_check(SIM_CORES_WORMHOLE, "registers", &reg, 0, 0);
    cost_check(SIM_CORES_WORMHOLE, "local RAM", &local, 0, 0);
}

/* Four entries; "at most one store every five cycles" to L1, one every cycle elsewhere. */
static void store_queue(void **state)
{
    (void)state;
    uint32_t n = 12;
    cost_sequence l1 = {.n_words = n, .n_expected = n}, local = l1;
    for (uint32_t i = 0; i < n; i++) {
        l1.code[i] = RV_SW(A0, T0, 4 * (int32_t)i);
        local.code[i] = RV_SW(A0, T1, 4 * (int32_t)i);
        local.expected[i] = i;
    }
    memcpy(l1.expected, (uint32_t[]){0, 1, 2, 3, 4, 5, 7, 12, 17, 22, 27, 32}, n * 4);
    cost_check(SIM_CORES_WORMHOLE, "L1", &l1, 0, 0);
    cost_check(SIM_CORES_WORMHOLE, "local RAM", &local, 0, 0);
    CHECK("others wait for room in the queue too",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 4), RV_SW(A0, T0, 8), RV_SW(A0, T0, 12), RV_SW(A0, T0, 16),
                RV_NOP, RV_NOP, RV_NOP),
          STARTS(0, 1, 2, 3, 4, 5, 7, 8));
}

static void load_waits_for_a_queued_store_to_its_address(void **state)
{
    (void)state;
    CHECK("same address",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 4), RV_LW(A2, T0, 4), RV_ADDI(A3, A2, 1), RV_HERE),
          STARTS(0, 1, 2, 14, 15)); /* the second store leaves at 7, the value comes 7 later */
    CHECK("other address",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 4), RV_LW(A2, T0, 8), RV_ADDI(A3, A2, 1), RV_HERE),
          STARTS(0, 1, 2, 10, 11));
}

/* A wrong guess costs two more cycles. First guess: backwards taken, forwards not; then two-bit counters. */
static void branches(void **state)
{
    (void)state;
    CHECK("forwards, not taken: right", WORDS(RV_BEQ(A0, A1, 8), RV_NOP, RV_HERE), STARTS(0, 1, 2));
    CHECK("forwards, taken: wrong", WORDS(RV_BNE(A0, A1, 8), RV_NOP, RV_NOP, RV_HERE), STARTS(0, 3, 4));
    CHECK("jal is never wrong", WORDS(RV_JAL(ZERO, 8), RV_NOP, RV_JAL(ZERO, 8), RV_NOP, RV_HERE),
          STARTS(0, 1, 2));
    CHECK_AB("a loop of three passes is wrong once, at its end", 3, 0,
             WORDS(RV_ADDI(A0, A0, -1), RV_BNE(A0, ZERO, -4), RV_NOP, RV_HERE),
             STARTS(0, 1, 2, 3, 4, 5, 8, 9));
    CHECK_AB("a forward branch is learnt", 4, 0,
             WORDS(RV_ADDI(A0, A0, -1), RV_BNE(A0, ZERO, 8), RV_HERE, RV_JAL(ZERO, -12)),
             STARTS(0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15));
}

static void jumps_through_registers(void **state)
{
    (void)state;
    CHECK("call and return", WORDS(RV_JAL(RA, 12), RV_NOP, RV_HERE, RV_JALR(ZERO, RA, 0)),
          STARTS(0, 1, 2, 3));
    CHECK("a new target is wrong, the same again is right",
          WORDS(RV_AUIPC(A2, 0), RV_ADDI(A0, A0, 0), RV_JALR(ZERO, A2, 12), RV_NOP, RV_JAL(ZERO, -8)),
          STARTS(0, 1, 2, 5, 6, 7, 8, 9));
}

static void functional_mode_takes_one_cycle_each(void **state)
{
    (void)state;
    const uint32_t code[] = {RV_MUL(A2, A0, A1),
                             RV_DIV(A2, A0, A1),
                             RV_LW(A2, T0, 0),
                             RV_ADDI(A2, A2, 1),
                             RV_SW(A2, T0, 0),
                             RV_SW(A2, T0, 4),
                             RV_SW(A2, T0, 8),
                             RV_SW(A2, T0, 12),
                             RV_SW(A2, T0, 16),
                             RV_SW(A2, T0, 20),
                             RV_LW(A3, T0, 20),
                             RV_BNE(A0, A1, 8),
                             RV_NOP,
                             RV_ADD(A3, A3, A3),
                             RV_HERE};
    uint32_t at[14];
    cost_trace(SIM_CORES_WORMHOLE, code, sizeof code / 4, 100, 7, true, at, 14);
    for (uint32_t i = 0; i < 14; i++)
        assert_int_equal(at[i], i);
}

/* The same seen by software: the wall clock is read in the cycle in which the load starts. */
static void software_measures_the_same(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 200, RV_LI(T2, RIG_CLOCK), RV_LI(A0, 1000), RV_NOP, RV_NOP, RV_LW(S2, T2, 0),
            RV_DIV(A1, A0, A0), RV_LW(S3, T2, 0), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, S3) - rig_x(s, 0, BRISC, S2), 1 + 15);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operations_take_one_cycle),
        cmocka_unit_test(multiply_takes_two),
        cmocka_unit_test(divide_depends_on_values),
        cmocka_unit_test(load_to_use),
        cmocka_unit_test(results_queue_behind_a_load),
        cmocka_unit_test(loads_in_flight),
        cmocka_unit_test(store_queue),
        cmocka_unit_test(load_waits_for_a_queued_store_to_its_address),
        cmocka_unit_test(branches),
        cmocka_unit_test(jumps_through_registers),
        cmocka_unit_test(functional_mode_takes_one_cycle_each),
        cmocka_unit_test(software_measures_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
