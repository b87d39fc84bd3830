/* Where the cycles of a hart go (host/sim/counted.h): short sequences whose waits are known from the cost tables
 * of both chips, pc by pc and cause by cause. That the sum is the hart's time in any program is in
 * test_sim_determinism.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

enum { MOST = 64, SETUP = 7 };

typedef struct waits {
    uint32_t at; /* which instruction of the sequence */
    uint64_t cycles;
    sim_stall cause;
} waits;

/* Runs t0 = L1, t1 = local RAM, t2 = registers, a0 = 100, 40 further instructions, then `code`, once. */
static void check(const char *what, sim_cores cores, const uint32_t *code, uint32_t n, const waits *expected,
                  size_t n_expected)
{
    enum { GAP = 40 };
    sim_config c = rig_config();
    c.n_tiles = 1;
    c.cores = cores;
    c.count_cycles = true;
    sim *s = rig_create(&c);
    uint32_t image[SETUP + GAP + MOST] = {RV_LUI(T0, 0x20),     RV_LUI(T1, RIG_LOCAL >> 12),
                                          RV_LI(T2, RIG_CLOCK), RV_ADDI(A0, ZERO, 100),
                                          RV_ADDI(A1, ZERO, 7), RV_ADDI(A2, ZERO, 0)};
    for (uint32_t i = 0; i < GAP; i++)
        image[SETUP + i] = RV_NOP;
    memcpy(&image[SETUP + GAP], code, 4 * n);
    image[SETUP + GAP + n] = RV_HERE;
    rig_load(s, 0, BRISC, image, SETUP + GAP + n + 1);
    rig_release(s, 0, 1 << BRISC);
    assert_true(sim_clock(s, 400));
    sim_cycles *at;
    size_t got;
    assert_true(sim_cycles_take(s, 0, BRISC, &at, &got));
    uint64_t waited[MOST + 1][SIM_STALLS] = {{0}}, wanted[MOST + 1][SIM_STALLS] = {{0}};
    const uint32_t from = rig_pc(BRISC) + 4 * (SETUP + GAP);
    for (size_t i = 0; i < got; i++) {
        if (at[i].pc < from || at[i].pc > from + 4 * n) continue;
        memcpy(waited[(at[i].pc - from) / 4], at[i].stalled, sizeof at[i].stalled);
        uint64_t stalled = 0;
        for (int k = 0; k < SIM_STALLS; k++)
            stalled += at[i].stalled[k];
        if (at[i].cycles != at[i].count + stalled)
            fail_msg("%s: instruction %u has %d cycles, of which %d are its own", what, (at[i].pc - from) / 4,
                     (int)at[i].cycles, (int)at[i].count);
    }
    for (size_t i = 0; i < n_expected; i++)
        wanted[expected[i].at][expected[i].cause] = expected[i].cycles;
    for (uint32_t i = 0; i <= n; i++)
        for (int k = 0; k < SIM_STALLS; k++)
            if (waited[i][k] != wanted[i][k])
                fail_msg("%s, %s: instruction %u waited %d cycles for %s, not %d", what,
                         cores == SIM_CORES_BLACKHOLE ? "Blackhole" : "Wormhole", i, (int)waited[i][k],
                         sim_stall_names[k], (int)wanted[i][k]);
    free(at);
    sim_destroy(s);
}

#define CODE(...)  (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define WAITS(...) (const waits[]){__VA_ARGS__}, sizeof((waits[]){__VA_ARGS__}) / sizeof(waits)
#define BOTH(what, code, expected)                                                                           \
    do {                                                                                                     \
        check(what, SIM_CORES_WORMHOLE, code, expected);                                                     \
        check(what, SIM_CORES_BLACKHOLE, code, expected);                                                    \
    } while (0)
#define WORMHOLE(what, code, expected)  check(what, SIM_CORES_WORMHOLE, code, expected)
#define BLACKHOLE(what, code, expected) check(what, SIM_CORES_BLACKHOLE, code, expected)

/* Latencies of 8, 7 and 2 cycles, of which one is the load's own. */
static void waiting_for_a_load_says_where_it_loads_from(void **state)
{
    (void)state;
    BOTH("L1", CODE(RV_LW(A2, T0, 0), RV_ADDI(A3, A2, 1)), WAITS({1, 7, SIM_STALL_L1}));
    BOTH("register", CODE(RV_LW(A2, T2, 0), RV_ADDI(A3, A2, 1)), WAITS({1, 6, SIM_STALL_REGISTER}));
    BOTH("local", CODE(RV_LW(A2, T1, 0), RV_ADDI(A3, A2, 1)), WAITS({1, 1, SIM_STALL_LOCAL}));
    BOTH("the later one of two", CODE(RV_LW(A3, T1, 0), RV_LW(A2, T0, 0), RV_ADD(A3, A2, A3)),
         WAITS({2, 7, SIM_STALL_L1}));
    BOTH("in between", CODE(RV_LW(A2, T0, 0), RV_NOP, RV_NOP, RV_ADDI(A3, A2, 1)),
         WAITS({3, 5, SIM_STALL_L1}));
}

static void results_behind_a_load(void **state)
{
    (void)state;
    WORMHOLE("an addition behind a load",
             CODE(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_NOP, RV_ADDI(A4, A3, 1)),
             WAITS({3, 6, SIM_STALL_BEHIND}));
}

static void arithmetic_and_jumps(void **state)
{
    (void)state;
    WORMHOLE("mul", CODE(RV_MUL(A2, A0, A1), RV_ADDI(A3, A2, 1)), WAITS({0, 1, SIM_STALL_MULDIV}));
    BLACKHOLE("mul", CODE(RV_MUL(A2, A0, A1), RV_ADDI(A3, A2, 1)), WAITS({1, 1, SIM_STALL_MULDIV}));
    BOTH("divu", CODE(RV_DIVU(A2, A0, A1), RV_NOP), WAITS({0, 11, SIM_STALL_MULDIV}));
    WORMHOLE("branch", CODE(RV_BNE(A0, ZERO, 8), RV_NOP, RV_NOP), WAITS({0, 2, SIM_STALL_JUMP}));
    BLACKHOLE("branch", CODE(RV_BNE(A0, ZERO, 8), RV_NOP, RV_NOP), WAITS({0, 4, SIM_STALL_JUMP}));
    BLACKHOLE("fence", CODE(RV_LW(A2, T0, 0), RV_FENCE, RV_NOP), WAITS({1, 7, SIM_STALL_FENCE}));
}

static void stores_that_find_no_place(void **state)
{
    (void)state;
    /* They leave in the cycles 2, 7, 12, 17, ...; the sixth enters when the second has left. */
    WORMHOLE("7 words",
             CODE(RV_SW(A0, T0, 0), RV_SW(A0, T0, 4), RV_SW(A0, T0, 8), RV_SW(A0, T0, 12), RV_SW(A0, T0, 16),
                  RV_SW(A0, T0, 20), RV_SW(A0, T0, 24)),
             WAITS({5, 1, SIM_STALL_STORES}, {6, 4, SIM_STALL_STORES}, {7, 4, SIM_STALL_STORES}));
    BLACKHOLE("6 words that share nothing",
              CODE(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_SW(A0, T0, 32), RV_SW(A0, T0, 48),
                   RV_SW(A0, T0, 64), RV_SW(A0, T0, 80)),
              WAITS({5, 1, SIM_STALL_STORES}));
    BOTH("load of what is queued",
         CODE(RV_SW(A0, T0, 0), RV_SW(A0, T0, 32), RV_SW(A0, T0, 64), RV_LW(A2, T0, 64), RV_NOP),
         WAITS({3, 8, SIM_STALL_ORDER}));
}

static void nothing_is_kept_unless_asked(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    sim_cycles *at;
    size_t n;
    assert_false(sim_cycles_take(s, 0, BRISC, &at, &n));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_load_says_where_it_loads_from),
        cmocka_unit_test(results_behind_a_load),
        cmocka_unit_test(arithmetic_and_jumps),
        cmocka_unit_test(stores_that_find_no_place),
        cmocka_unit_test(nothing_is_kept_unless_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
