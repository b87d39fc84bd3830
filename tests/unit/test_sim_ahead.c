/* Harts that run ahead of each other (host/sim/ahead.h) must not be noticed. Each test sets up a meeting of
 * two harts within one quantum and compares with clocking one cycle at a time, which cannot run ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_niu.h"
#include "support/sim_rig.h"

enum { FLAG = 0x8000, PATCH = 0x200, MOST = 64 };

typedef struct program {
    uint32_t words[MOST];
    uint32_t n;
} program;

static void add(program *p, uint32_t word)
{
    p->words[p->n++] = word;
}

static void nops(program *p, uint32_t n)
{
    while (n-- > 0)
        add(p, RV_NOP);
}

/* Loads `value` in two instructions. */
static void set(program *p, uint32_t reg, uint32_t value)
{
    const uint32_t li[] = {RV_LI(reg, value)};
    add(p, li[0]);
    add(p, li[1]);
}

/* Runs the two programs on BRISC and on `other`, in functional mode, with `addi a0, a0, 1; endless loop` at
 * PATCH. Returns a0 of `reader`, which must be the same however time is divided. */
static uint32_t meet(const program *brisc, const program *trisc, enum rig_hart reader)
{
    uint32_t result[2];
    for (int chunked = 0; chunked < 2; chunked++) {
        sim_config c = rig_config();
        c.functional = true;
        sim *s = rig_create(&c);
        rig_load(s, 0, BRISC, brisc->words, brisc->n);
        rig_load(s, 0, TRISC0, trisc->words, trisc->n);
        rig_put(s, 0, PATCH, RV_ADDI(A0, A0, 1));
        rig_put(s, 0, PATCH + 4, RV_HERE);
        rig_release(s, 0, 1 << BRISC | 1 << TRISC0);
        for (uint32_t i = 0; i < 96; i += chunked ? 1 : 96)
            if (!sim_clock(s, chunked ? 1 : 96)) fail_msg("%s", sim_fault(s));
        result[chunked] = rig_x(s, 0, reader, A0);
        sim_destroy(s);
    }
    assert_int_equal(result[0], result[1]);
    return result[0];
}

static void jump_to_patch(program *p, uint32_t base)
{
    add(p, RV_JAL(ZERO, (int32_t)PATCH - (int32_t)(base + 4 * p->n)));
}

/* TRISC0 stores a flag before BRISC, which comes first in the order of harts, reads it. */
static void store_before_load(void **state)
{
    (void)state;
    for (uint32_t early = 0; early < 20; early++) {
        program b = {{0}, 0}, t = {{0}, 0};
        set(&b, T0, FLAG);
        nops(&b, 10);
        add(&b, RV_LW(A0, T0, 0)); /* cycle 12 */
        add(&b, RV_HERE);
        set(&t, T0, FLAG);
        add(&t, RV_ADDI(A1, ZERO, 7));
        nops(&t, early);
        add(&t, RV_SW(A1, T0, 0)); /* cycle 3 + early; in cycle 12 BRISC comes first */
        add(&t, RV_HERE);
        assert_int_equal(meet(&b, &t, BRISC), 3 + early < 12 ? 7 : 0);
    }
}

static void load_before_store(void **state)
{
    (void)state;
    for (uint32_t early = 0; early < 20; early++) {
        program b = {{0}, 0}, t = {{0}, 0};
        set(&b, T0, FLAG);
        add(&b, RV_ADDI(A1, ZERO, 7));
        nops(&b, 10);
        add(&b, RV_SW(A1, T0, 0)); /* cycle 13 */
        add(&b, RV_HERE);
        set(&t, T0, FLAG);
        nops(&t, early);
        add(&t, RV_LW(A0, T0, 0)); /* cycle 2 + early */
        add(&t, RV_HERE);
        assert_int_equal(meet(&b, &t, TRISC0), 2 + early < 13 ? 0 : 7);
    }
}

/* BRISC puts an instruction at PATCH and runs it, unless TRISC0 has said in time that it shall not. */
static void own_code_is_undone(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        program b = {{0}, 0}, t = {{0}, 0};
        set(&b, T0, FLAG);
        set(&b, A1, RV_ADDI(A0, A0, 100));
        nops(&b, 8);
        add(&b, RV_LW(A2, T0, 0)); /* cycle 12 */
        add(&b, RV_BNE(A2, ZERO, 8));
        add(&b, RV_SW(A1, ZERO, PATCH));
        jump_to_patch(&b, 0);
        set(&t, T0, FLAG);
        add(&t, RV_ADDI(A1, ZERO, told));
        nops(&t, 4);
        add(&t, RV_SW(A1, T0, 0));
        add(&t, RV_HERE);
        assert_int_equal(meet(&b, &t, BRISC), told ? 1 : 100);
    }
}

/* BRISC changes PATCH before or after TRISC0, for the first time, runs it. */
static void fresh_code_is_fetched_in_time(void **state)
{
    (void)state;
    for (uint32_t late = 0; late < 20; late++) {
        program b = {{0}, 0}, t = {{0}, 0};
        set(&b, A1, RV_ADDI(A0, A0, 100));
        nops(&b, late);
        add(&b, RV_SW(A1, ZERO, PATCH)); /* cycle 2 + late */
        add(&b, RV_HERE);
        nops(&t, 10);
        jump_to_patch(&t, 0x6000); /* PATCH in cycle 11, after BRISC's turn */
        assert_int_equal(meet(&b, &t, TRISC0), 2 + late <= 11 ? 100 : 1);
    }
}

/* TRISC0 changes code that BRISC has run in an earlier quantum and runs again. */
static void known_code_is_fetched_in_time(void **state)
{
    (void)state;
    for (uint32_t late = 0; late < 10; late++) {
        program b = {{0}, 0}, t = {{0}, 0};
        add(&b, RV_ADDI(A0, A0, 1));    /* cycles 0 and 43; this is changed */
        add(&b, RV_BNE(A1, ZERO, 168)); /* the second time, out of the loop */
        add(&b, RV_ADDI(A1, ZERO, 1));
        nops(&b, 39);
        add(&b, RV_JAL(ZERO, -168));
        add(&b, RV_HERE);
        b.words[1] = RV_BNE(A1, ZERO, 4 * ((int32_t)b.n - 2));
        set(&t, A1, RV_ADDI(A0, A0, 100));
        nops(&t, 36 + late);
        add(&t, RV_SW(A1, ZERO, 0)); /* cycle 38 + late; in cycle 43 BRISC comes first */
        add(&t, RV_HERE);
        assert_int_equal(meet(&b, &t, BRISC), 38 + late < 43 ? 101 : 2);
    }
}

/* The clock wraps in the quantum: TRISC0 latches before and BRISC after it. */
static void latches_around_a_wrap(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        sim_config c = rig_config();
        c.functional = true;
        c.clock_start = UINT64_C(0x100000000) - 32;
        c.tiles[0].clock_offset = 16; /* so that the wrap is in the middle of a quantum */
        sim *s = rig_create(&c);
        const uint32_t trisc[] = {RV_LUI(T0, RIG_CLOCK >> 12), RV_LW(A0, T0, 0x1F0), RV_HERE};
        program b = {{0}, 0};
        add(&b, RV_LUI(T0, RIG_CLOCK >> 12));
        nops(&b, 24);
        add(&b, RV_LW(A0, T0, 0x1F0));
        add(&b, RV_HERE);
        rig_load(s, 0, BRISC, b.words, b.n);
        rig_load(s, 0, TRISC0, trisc, 3);
        rig_release(s, 0, 1 << BRISC | 1 << TRISC0);
        for (uint32_t i = 0; i < 32; i += chunked ? 1 : 32)
            assert_true(sim_clock(s, chunked ? 1 : 32));
        assert_int_equal(rig_x(s, 0, TRISC0, A0), 0xFFFFFFF1);
        assert_int_equal(rig_x(s, 0, BRISC, A0), 9);
        assert_int_equal(rig_word(s, 0, RIG_CLOCK + 8), 1);
        sim_destroy(s);
    }
}

/* TRISC0 of two tiles counts at FLAG, by one and what is behind it, while BRISC of the first sends a request to the second. What each has counted after 1,000
 * cycles, or when a refusal has stopped them, is the same however time is divided. */
static void count_and_send(uint32_t ctrl, uint32_t len, uint32_t data, uint32_t to, bool refused)
{
    for (int cores = 0; cores < 2; cores++) {
        uint32_t counts[2][2];
        uint64_t clocks[2];
        for (int chunked = 0; chunked < 2; chunked++) {
            sim_config c = rig_config();
            c.cores = cores ? SIM_CORES_BLACKHOLE : SIM_CORES_WORMHOLE;
            sim *s = rig_create(&c);
            const uint32_t here = niu_mid(0, 0), far = niu_mid(0, 1);
            const bool writes = ctrl == WRITE;
            RIG_LOAD(s, 0, BRISC, RV_LUI(T3, RIG_NOC0 >> 12), RV_LI(A6, writes ? 0 : to),
                     RV_SW(A6, T3, TARG_LO), RV_LI(A6, writes ? here : far), RV_SW(A6, T3, TARG_MID),
                     RV_LI(A6, writes ? to : 0), RV_SW(A6, T3, RET_LO), RV_LI(A6, writes ? far : here),
                     RV_SW(A6, T3, RET_MID), RV_LI(A6, len), RV_SW(A6, T3, LEN), RV_LI(A6, data),
                     RV_SW(A6, T3, DATA), RV_ADDI(A6, ZERO, (int32_t)ctrl), RV_SW(A6, T3, CTRL),
                     RV_ADDI(A6, ZERO, 1), RV_SW(A6, T3, CMD), RV_HERE);
            for (uint32_t tile = 0; tile < 2; tile++) {
                RIG_LOAD(s, tile, TRISC0, RV_LI(T0, FLAG), RV_LW(A1, T0, 4), RV_ADD(A0, A0, A1),
                         RV_ADDI(A0, A0, 1), RV_SW(A0, T0, 0), RV_JAL(ZERO, -16));
                rig_release(s, tile, tile == 0 ? 1 << BRISC | 1 << TRISC0 : 1 << TRISC0);
            }
            bool runs = true;
            for (uint32_t i = 0; runs && i < 1000; i += chunked ? 1 : 1000)
                runs = sim_clock(s, chunked ? 1 : 1000);
            assert_int_equal(runs, !refused);
            clocks[chunked] = sim_chip_clock(s);
            for (uint32_t tile = 0; tile < 2; tile++)
                memcpy(&counts[chunked][tile], sim_ram_bytes(s, tile, 0) + FLAG, 4);
            sim_destroy(s);
        }
        assert_int_equal(clocks[0], clocks[1]);
        assert_in_range(counts[0][0], 1, 200);
        if (!refused) assert_true(counts[0][1] > counts[0][0]); /* the request was seen */
        assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
    }
}

/* To a register that is not there: which only shows when it arrives. */
static void a_refusal_stops_what_has_run_ahead(void **state)
{
    (void)state;
    count_and_send(WRITE, 4, 0, 0xFFB11000, true);
}

static void an_atomic_finds_what_was_there(void **state)
{
    (void)state;
    count_and_send(ATOMIC, 1 << 12 | 31 << 2 | 1, 3, FLAG + 4, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_before_load),
        cmocka_unit_test(load_before_store),
        cmocka_unit_test(own_code_is_undone),
        cmocka_unit_test(fresh_code_is_fetched_in_time),
        cmocka_unit_test(known_code_is_fetched_in_time),
        cmocka_unit_test(latches_around_a_wrap),
        cmocka_unit_test(a_refusal_stops_what_has_run_ahead),
        cmocka_unit_test(an_atomic_finds_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
