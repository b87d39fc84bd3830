/* The cost table of Blackhole's cores: in which cycle each instruction of a sequence starts, against
 * BlackholeA0/TensixTile/BabyRISCV/README.md and MemoryOrdering.md. What these leave open is tested as
 * docs/simulator.md says. test_sim_cost.c has Wormhole's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_cost.h"

#define CHECK_AB(...)    COST_CHECK_AB(SIM_CORES_BLACKHOLE, __VA_ARGS__)
#define CHECK(what, ...) CHECK_AB(what, 100, 7, __VA_ARGS__)

static void integer_operations(void **state)
{
    (void)state;
    CHECK("dependent chain",
          WORDS(RV_ADDI(A2, A0, 1), RV_ADD(A2, A2, A2), RV_XOR(A2, A2, A0), RV_SLLI(A2, A2, 3), RV_HERE),
          STARTS(0, 1, 2, 3, 4));
    CHECK("multiply, then what does not need it: EX1 for one cycle",
          WORDS(RV_MUL(A2, A0, A1), RV_ADDI(A3, A0, 1), RV_HERE), STARTS(0, 1, 2));
    CHECK("multiply, then what needs it: EX1 and EX2",
          WORDS(RV_MULHU(A2, A0, A1), RV_ADDI(A3, A2, 1), RV_HERE), STARTS(0, 2, 3));
    CHECK("multiplications follow each other",
          WORDS(RV_MUL(A2, A0, A1), RV_MUL(A3, A0, A1), RV_MUL(A4, A0, A1), RV_HERE), STARTS(0, 1, 2, 3));
    CHECK_AB("divide by one", 100, 1, WORDS(RV_DIVU(A2, A0, A1), RV_NOP, RV_HERE), STARTS(0, 2, 3));
    CHECK_AB("divide", 100, 7, WORDS(RV_DIVU(A2, A0, A1), RV_ADDI(A3, A2, 0), RV_HERE), STARTS(0, 12, 13));
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
        CHECK("as data of a store", WORDS(RV_LW(A2, base, 0), RV_SW(A2, T1, 64), RV_HERE),
              STARTS(0, n, n + 1));
        CHECK("not used: no wait", WORDS(RV_LW(A2, base, 0), RV_ADDI(A3, A0, 1), RV_HERE), STARTS(0, 1, 2));
    }
    CHECK("hidden by seven others",
          WORDS(RV_LW(A2, T0, 0), RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_ADDI(A3, A2, 1),
                RV_HERE),
          STARTS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

/* 4 lines of 16 bytes; a fence empties them, a store its own line. */
static void data_cache(void **state)
{
    (void)state;
    CHECK("a hit takes two",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A2, A2, 0), RV_LW(A3, T0, 12), RV_ADDI(A3, A3, 0), RV_HERE),
          STARTS(0, 8, 9, 11, 12));
    CHECK("the next line is missed",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A2, A2, 0), RV_LW(A3, T0, 16), RV_ADDI(A3, A3, 0), RV_HERE),
          STARTS(0, 8, 9, 17, 18));
    CHECK("the first of five lines is gone",
          WORDS(RV_LW(A2, T0, 0), RV_LW(A3, T0, 16), RV_LW(A4, T0, 32), RV_LW(A5, T0, 48), RV_ADDI(A5, A5, 0),
                RV_LW(A2, T0, 0), RV_ADDI(A2, A2, 0), RV_LW(A3, T0, 64), RV_ADDI(A3, A3, 0), RV_LW(A2, T0, 4),
                RV_ADDI(A2, A2, 0), RV_HERE),
          STARTS(0, 1, 2, 3, 11, 12, 14, 15, 23, 24, 32));
    CHECK("a store empties its line",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A2, A2, 0), RV_SW(A0, T0, 8), RV_LW(A3, T0, 0), RV_ADDI(A3, A3, 0),
                RV_HERE),
          STARTS(0, 8, 9, 10, 18, 19));
    CHECK("a fence empties all: it waits for the load, and the next instruction for it",
          WORDS(RV_LW(A2, T0, 0), RV_FENCE, RV_LW(A3, T0, 0), RV_ADDI(A3, A3, 0), RV_HERE),
          STARTS(0, 1, 9, 17, 18));
}

/* "A strong forwarding network allows EX1 to peek at any populated queue entry" */
static void results_behind_a_load(void **state)
{
    (void)state;
    CHECK("are there at once",
          WORDS(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_NOP, RV_ADDI(A4, A3, 1), RV_HERE),
          STARTS(0, 1, 2, 3, 4));
    CHECK("the ninth instruction waits for a place",
          WORDS(RV_LW(A2, T2, 0), RV_LW(A3, T0, 0), RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP,
                RV_NOP, RV_NOP),
          STARTS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    uint32_t n = 12;
    cost_sequence loads = {.n_words = n, .n_expected = n};
    for (uint32_t i = 0; i < n; i++) /* each from a line of its own */
        loads.code[i] = RV_LW(A2 + i % 4, T0, 16 * (int32_t)i);
    memcpy(loads.expected, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, n * 4);
    cost_check(SIM_CORES_BLACKHOLE, "eight loads on their way", &loads, 0, 0);
    CHECK("a fence keeps what follows it back until it has retired", WORDS(RV_FENCE, RV_NOP, RV_HERE),
          STARTS(0, 2, 3));
}

/* The start of the last of n stores, each `apart` bytes behind the one before, of `size` bytes. */
static uint32_t stores(uint32_t n, int32_t apart, uint32_t base, bool bytes)
{
    uint32_t code[COST_MOST], at[COST_MOST];
    for (uint32_t i = 0; i < n; i++)
        code[i] = bytes ? RV_SB(A0, base, apart * (int32_t)i) : RV_SW(A0, base, apart * (int32_t)i);
    cost_trace(SIM_CORES_BLACKHOLE, code, n, 1, 2, false, at, n);
    return at[n - 1];
}

static void store_queue(void **state)
{
    (void)state;
    /* "if it can [form entire aligned 128-bit blocks], the constituent stores have a throughput of one store every cycle" */
    assert_int_equal(stores(128, 4, T0, false), 127);
    assert_int_equal(stores(128, 1, T0, true), 127);
    assert_int_equal(stores(100, 4, T1, false), 99);
    /* "otherwise the throughput is one coalesced store every five cycles" */
    assert_int_equal(stores(100, 16, T0, false), 7 + 5 * (99 - 6));
    assert_int_equal(stores(100, 8, T0, false), 7 + 5 * (99 - 6));
    /* "starting byte addresses of the two stores are within 4 of each other": not these */
    CHECK("the queue has four places",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_SW(A0, T0, 32), RV_SW(A0, T0, 48), RV_SW(A0, T0, 64),
                RV_SW(A0, T0, 80), RV_SW(A0, T0, 96), RV_NOP, RV_NOP),
          STARTS(0, 1, 2, 3, 4, 5, 7, 12, 13));
    CHECK("others do not wait for room in it",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_SW(A0, T0, 32), RV_SW(A0, T0, 48), RV_SW(A0, T0, 64),
                RV_NOP, RV_NOP, RV_NOP),
          STARTS(0, 1, 2, 3, 4, 5, 6, 7));
    CHECK("a load of a byte that is queued waits until that store has left",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_LB(A2, T0, 17), RV_ADDI(A3, A2, 1), RV_HERE),
          STARTS(0, 1, 2, 14, 15));
    CHECK("another one overtakes it",
          WORDS(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_LW(A2, T0, 20), RV_ADDI(A3, A2, 1), RV_HERE),
          STARTS(0, 1, 2, 10, 11));
}

/* "A mispredicted branch causes a four cycle pipeline bubble" */
static void branches(void **state)
{
    (void)state;
    CHECK("forwards, not taken: right", WORDS(RV_BEQ(A0, A1, 8), RV_NOP, RV_HERE), STARTS(0, 1, 2));
    CHECK("forwards, taken: wrong", WORDS(RV_BNE(A0, A1, 8), RV_NOP, RV_NOP, RV_HERE), STARTS(0, 5, 6));
    CHECK("call and return", WORDS(RV_JAL(RA, 12), RV_NOP, RV_HERE, RV_JALR(ZERO, RA, 0)),
          STARTS(0, 1, 2, 3));
    CHECK("a new target is wrong", WORDS(RV_AUIPC(A2, 0), RV_JALR(ZERO, A2, 12), RV_NOP, RV_NOP, RV_HERE),
          STARTS(0, 1, 6, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operations),    cmocka_unit_test(load_to_use), cmocka_unit_test(data_cache),
        cmocka_unit_test(results_behind_a_load), cmocka_unit_test(store_queue), cmocka_unit_test(branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
