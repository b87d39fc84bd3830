/* The strict model (host/sim/strict.h) by itself: what the documents forbid never happens, what they allow does, for some seed; a
 * program that depends on no order computes what it does otherwise. Documents: WormholeB0 and BlackholeA0,
 * TensixTile/BabyRISCV/MemoryOrdering.md and InstructionCache.md. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/sim_asm.h"
#include "support/sim_niu.h"

enum { X = 0x8000, Y = 0x9000, Z = 0x9100, SEEDS = 150, ENOUGH = 6000, CODE = 0x10000 };
typedef enum { WORMHOLE, BLACKHOLE } chip;

static sim *make(chip which, uint64_t seed)
{
    sim_config c = rig_config();
    c.n_tiles = 1;
    c.strict = true;
    c.strict_seed = seed;
    c.data_cache = which == BLACKHOLE;
    return rig_create(&c);
}

typedef struct litmus {
    uint32_t code[2][48], n[2]; /* of BRISC and of TRISC0 */
} litmus;

#define PUT(l, hart, ...)                                                                                    \
    do {                                                                                                     \
        const uint32_t put_[] = {__VA_ARGS__};                                                               \
        memcpy((l)->code[hart] + (l)->n[hart], put_, sizeof put_);                                           \
        (l)->n[hart] += sizeof put_ / 4;                                                                     \
    } while (0)

/* How many of the seeds end with A0 of TRISC0 (or of BRISC alone) at `value`. */
static uint32_t ends(chip which, const litmus *l, uint32_t value)
{
    uint32_t n = 0;
    bool two = l->n[1] != 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sim *s = make(which, seed);
        rig_load(s, 0, BRISC, l->code[0], l->n[0]);
        if (two) rig_load(s, 0, TRISC0, l->code[1], l->n[1]);
        rig_release(s, 0, 1u << BRISC | (uint32_t)two << TRISC0);
        if (!sim_clock(s, ENOUGH)) fail_msg("seed %u: %s", (unsigned)seed, sim_fault(s));
        n += rig_x(s, 0, two ? TRISC0 : BRISC, A0) == value;
        sim_destroy(s);
    }
    return n;
}

/* The reader: waits until `flag` is 1, then reads `data` into A0; before the flag it has read the data once. */
static void reader(litmus *l, bool poll_fence, bool old, uint32_t flag, uint32_t data)
{
    PUT(l, 1, RV_LI(T0, flag), RV_LI(T1, data));
    if (old) PUT(l, 1, RV_LW(A1, T1, 0), RV_ADD(A1, A1, A1));
    uint32_t loop = l->n[1];
    if (poll_fence) PUT(l, 1, RV_FENCE);
    PUT(l, 1, RV_LW(A2, T0, 0));
    PUT(l, 1, RV_BEQ(A2, ZERO, 4 * ((int32_t)loop - (int32_t)l->n[1])));
    PUT(l, 1, RV_LW(A0, T1, 0), RV_HERE);
}

/* Store, store; both to L1: the flag is never in front of the data. */
static void stores_to_one_region_keep_their_order(void **state)
{
    (void)state;
    for (chip c = WORMHOLE; c <= BLACKHOLE; c++) {
        litmus l = {0};
        PUT(&l, 0, RV_LI(T0, X), RV_LI(T1, Y), RV_ADDI(A1, ZERO, 7), RV_ADDI(A2, ZERO, 1), RV_SW(A1, T1, 0),
            RV_SW(A2, T0, 0), RV_HERE);
        reader(&l, true, true, X, Y);
        assert_int_equal(ends(c, &l, 7), SEEDS);
    }
}

/* The same without a fence: Blackhole's reader finds its old copy of the data, or waits for ever. */
static void the_data_cache_keeps_what_is_old(void **state)
{
    (void)state;
    litmus l = {0};
    PUT(&l, 0, RV_LI(T0, X), RV_LI(T1, Y), RV_ADDI(A1, ZERO, 7), RV_ADDI(A2, ZERO, 1), RV_SW(A1, T1, 0),
        RV_SW(A2, T0, 0), RV_HERE);
    reader(&l, false, true, X, Y);
    assert_int_equal(ends(WORMHOLE, &l, 7), SEEDS);
    uint32_t right = ends(BLACKHOLE, &l, 7);
    printf("without a fence %u of %u readers are right\n", right, SEEDS);
    assert_true(right > 0 && right < SEEDS);
}

/* A register, then L1: with nothing between, the L1 store may come first; read back and consumed, never. */
static void stores_to_two_regions_pass_each_other(void **state)
{
    (void)state;
    const uint32_t scratch = niu_base(0, 1) + TARG_LO;
    for (chip c = WORMHOLE; c <= BLACKHOLE; c++)
        for (int back = 0; back < 2; back++) {
            litmus l = {0};
            PUT(&l, 0, RV_LI(T0, X), RV_LI(T1, scratch), RV_ADDI(A1, ZERO, 7), RV_ADDI(A2, ZERO, 1),
                RV_SW(A1, T1, 0));
            if (back) PUT(&l, 0, RV_LW(A3, T1, 0), RV_ADDI(ZERO, A3, 0));
            PUT(&l, 0, RV_SW(A2, T0, 0), RV_HERE);
            reader(&l, true, false, X, scratch);
            uint32_t right = ends(c, &l, 7);
            if (back)
                assert_int_equal(right, SEEDS);
            else
                assert_true(right < SEEDS);
        }
}

/* Store, then load from elsewhere in the same region: the load may be first, unless the store has left the queue. */
static void loads_pass_stores(void **state)
{
    (void)state;
    enum { NOTHING, FENCE, STORES, WAYS };
    const uint32_t cmd = niu_base(0, 0) + CMD, counter = 0xFFB20200 + 4 * 12;
    for (chip c = WORMHOLE; c <= BLACKHOLE; c++)
        for (int way = NOTHING; way < WAYS; way++) {
            /* A NoC write of 16 bytes from tile 0 to itself: its counter of writes begun is 1 behind the command. */
            litmus l = {0};
            PUT(&l, 0, RV_LI(T0, niu_base(0, 0)), RV_LI(T1, cmd), RV_LI(T2, counter), RV_LI(A1, X),
                RV_LI(A2, niu_mid(0, 0)));
            PUT(&l, 0, RV_SW(A1, T0, TARG_LO), RV_SW(A2, T0, TARG_MID), RV_SW(A2, T0, RET_MID), RV_LI(A1, Y),
                RV_SW(A1, T0, RET_LO));
            PUT(&l, 0, RV_ADDI(A1, ZERO, WRITE | MARKED), RV_SW(A1, T0, CTRL), RV_ADDI(A1, ZERO, 16),
                RV_SW(A1, T0, LEN));
            PUT(&l, 0, RV_ADDI(A1, ZERO, 1), RV_SW(A1, T1, 0));
            if (way == FENCE) PUT(&l, 0, c == BLACKHOLE ? RV_FENCE : RV_LW(ZERO, T1, 0));
            if (way == STORES)
                PUT(&l, 0, RV_LI(A3, Z), RV_SW(ZERO, A3, 0), RV_SW(ZERO, A3, 64), RV_SW(ZERO, A3, 128),
                    RV_SW(ZERO, A3, 192));
            PUT(&l, 0, RV_LW(A0, T2, 0), RV_HERE);
            uint32_t right = ends(c, &l, 1);
            if (way == NOTHING)
                assert_true(right < SEEDS);
            else
                assert_int_equal(right, SEEDS);
        }
}

/* A halfword behind a store of its word: Wormhole compares only where they begin. */
static void part_of_a_store(void **state)
{
    (void)state;
    for (chip c = WORMHOLE; c <= BLACKHOLE; c++) {
        litmus l = {0};
        PUT(&l, 0, RV_LI(T0, RIG_LOCAL), RV_LI(A1, 0x00050000), RV_SW(A1, T0, 0), RV_LHU(A0, T0, 2), RV_HERE);
        uint32_t right = ends(c, &l, 5);
        if (c == BLACKHOLE)
            assert_int_equal(right, SEEDS);
        else
            assert_true(right > 0 && right < SEEDS);
        litmus same = {0};
        PUT(&same, 0, RV_LI(T0, RIG_LOCAL), RV_LI(A1, 5), RV_SW(A1, T0, 0), RV_LHU(A0, T0, 0), RV_HERE);
        assert_int_equal(ends(c, &same, 5), SEEDS);
    }
}

/* A RISC's own stores are seen by its own loads, whatever is in the data cache. */
static void own_stores_are_seen(void **state)
{
    (void)state;
    for (chip c = WORMHOLE; c <= BLACKHOLE; c++) {
        litmus l = {0};
        PUT(&l, 0, RV_LI(T0, X), RV_ADDI(A0, ZERO, 0), RV_ADDI(A1, ZERO, 200));
        uint32_t loop =
            l.n[0]; /* A0 += 1 by way of memory, beside loads and stores to the rest of the line */
        PUT(&l, 0, RV_SW(A0, T0, 0), RV_LW(A3, T0, 4), RV_LW(A0, T0, 0), RV_ADDI(A0, A0, 1), RV_SW(A1, T0, 8),
            RV_LW(A4, T0, 12));
        PUT(&l, 0, RV_ADDI(A1, A1, -1));
        PUT(&l, 0, RV_BNE(A1, ZERO, 4 * ((int32_t)loop - (int32_t)l.n[0])));
        PUT(&l, 0, RV_HERE);
        uint32_t n = 0;
        for (uint64_t seed = 0; seed < 60; seed++) {
            sim *s = make(c, seed);
            rig_load(s, 0, BRISC, l.code[0], l.n[0]);
            rig_release(s, 0, 1u << BRISC);
            assert_true(sim_clock(s, 400000));
            n += rig_x(s, 0, BRISC, A0) == 200;
            sim_destroy(s);
        }
        assert_int_equal(n, 60);
    }
}

/* A program that stores over code that it has run: the old may run until its cache is told, and a little longer. */
static void old_code_runs(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++)
        for (chip c = WORMHOLE; c <= BLACKHOLE; c++) {
            litmus l = {0};
            /* CODE: A0 = 1, return. It is called, changed to A0 = 2, and called again. */
            PUT(&l, 0, RV_LI(T0, CODE), RV_LI(A1, RV_ADDI(A0, ZERO, 1)), RV_SW(A1, T0, 0),
                RV_LI(A1, RV_JALR(ZERO, RA, 0)), RV_SW(A1, T0, 4));
            PUT(&l, 0, RV_LW(A2, T0, 4), RV_ADDI(ZERO, A2, 0), RV_JALR(RA, T0, 0));
            PUT(&l, 0, RV_LI(A1, RV_ADDI(A0, ZERO, 2)), RV_SW(A1, T0, 0), RV_LW(A2, T0, 0),
                RV_ADDI(ZERO, A2, 0));
            if (told) {
                PUT(&l, 0, RV_LI(T1, RIG_ICACHE), RV_LI(T2, RIG_ICACHE & 0xFFFF0000), RV_ADDI(A1, ZERO, 31),
                    RV_SW(A1, T1, 0));
                if (c == BLACKHOLE)
                    PUT(&l, 0, RV_FENCE);
                else
                    PUT(&l, 0, RV_SW(ZERO, T0, 64), RV_SW(ZERO, T0, 128), RV_SW(ZERO, T0, 192));
                PUT(&l, 0, RV_LW(A2, T2, 0), RV_ADDI(ZERO, A2, 0));
                for (int i = 0; i < 10; i++)
                    PUT(&l, 0, RV_NOP, RV_NOP);
            }
            PUT(&l, 0, RV_JALR(RA, T0, 0), RV_HERE);
            uint32_t right = ends(c, &l, 2);
            if (told)
                assert_int_equal(right, SEEDS);
            else
                assert_int_equal(right, 0);
        }
}

static uint32_t next_random(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*x >> 33);
}

/* Random arithmetic on random words, alone in its tile: the same registers and memory as without strictness. */
static void computes_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t code[400], n = 0;
        uint64_t x = seed;
        const uint32_t li[] = {RV_LI(T0, X)};
        code[n++] = li[0];
        code[n++] = li[1];
        while (n < 390) {
            uint32_t rd = 10 + next_random(&x) % 8, a = 10 + next_random(&x) % 8,
                     b = 10 + next_random(&x) % 8;
            int32_t at = (int32_t)(next_random(&x) % 32) * 4;
            switch (next_random(&x) % 6) {
            case 0: code[n++] = RV_LW(rd, T0, at); break;
            case 1: code[n++] = RV_SW(a, T0, at); break;
            case 2: code[n++] = rv_r(0x01, next_random(&x) % 8, rd, a, b); break;
            case 3: code[n++] = rv_r(0x00, next_random(&x) % 8, rd, a, b); break;
            case 4: code[n++] = RV_ADDI(rd, a, (int32_t)(next_random(&x) % 4096) - 2048); break;
            default: code[n++] = RV_BLTU(a, b, 8); break;
            }
        }
        code[n++] = RV_HERE, code[n++] = RV_HERE;
        uint32_t result[3][40];
        for (int k = 0; k < 3; k++) {
            sim_config c = rig_config();
            c.strict = k > 0;
            c.data_cache = k == 2;
            c.strict_seed = seed;
            sim *s = rig_create(&c);
            rig_load(s, 0, BRISC, code, n);
            rig_release(s, 0, 1u << BRISC);
            if (!sim_clock(s, 200000)) fail_msg("%s", sim_fault(s));
            for (uint32_t i = 0; i < 32; i++)
                result[k][i] = rig_word(s, 0, X + 4 * i);
            for (uint32_t i = 0; i < 8; i++)
                result[k][32 + i] = rig_x(s, 0, BRISC, 10 + i);
            sim_destroy(s);
        }
        assert_memory_equal(result[0], result[1], sizeof result[0]);
        assert_memory_equal(result[0], result[2], sizeof result[0]);
    }
}

/* However time is divided. */
static void one_seed_is_one_run(void **state)
{
    (void)state;
    uint32_t first[2] = {0};
    static const uint32_t steps[] = {1, 48, 97};
    for (int i = 0; i < 3; i++) {
        const uint32_t step = steps[i];
        litmus l = {0};
        PUT(&l, 0, RV_LI(T0, X), RV_LI(T1, Y), RV_ADDI(A1, ZERO, 7), RV_SW(A1, T1, 0), RV_SW(A1, T0, 0),
            RV_HERE);
        reader(&l, false, true, X, Y);
        sim *s = make(BLACKHOLE, 5);
        rig_load(s, 0, BRISC, l.code[0], l.n[0]);
        rig_load(s, 0, TRISC0, l.code[1], l.n[1]);
        rig_release(s, 0, 1u << BRISC | 1u << TRISC0);
        for (uint32_t at = 0; at < 4656; at += step)
            assert_true(sim_clock(s, step));
        sim_hart_state hs;
        assert_true(sim_hart(s, 0, TRISC0, &hs));
        const uint32_t now[2] = {hs.x[A0], (uint32_t)hs.retired};
        if (step == 1) memcpy(first, now, sizeof now);
        assert_memory_equal(first, now, sizeof now);
        sim_destroy(s);
    }
}

/* ---- Local RAM over the NoC; DRAM ---- */

static void local_ram_of_a_hart_in_reset_hangs_the_chip(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.harts[TRISC0].local_window = 0xFFB18000;
    sim *s = rig_create(&c);
    uint32_t word = 0x1234, got = 0;
    assert_false(sim_tile_read(s, 0, 0xFFB18000, &got, 4));
    assert_false(sim_tile_write(s, 0, 0xFFB18000, &word, 4));
    RIG_LOAD(s, 0, TRISC0, RV_LI(T0, RIG_LOCAL), RV_ADDI(A0, ZERO, 77), RV_SW(A0, T0, 8), RV_HERE);
    rig_release(s, 0, 1u << TRISC0);
    assert_true(sim_clock(s, 100));
    assert_false(sim_tile_read(s, 0, 0xFFB18008, &got, 4)); /* it is still being cleared */
    assert_true(sim_clock(s, 2100));
    assert_true(sim_tile_read(s, 0, 0xFFB18008, &got, 4));
    assert_int_equal(got, 77);
    assert_true(sim_tile_write(s, 0, 0xFFB1800C, &word, 4));
    assert_true(sim_tile_read(s, 0, 0xFFB1800C, &got, 4));
    assert_int_equal(got, word);
    rig_release(s, 0, 0);
    assert_false(sim_tile_read(s, 0, 0xFFB18008, &got, 4));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_to_one_region_keep_their_order),
        cmocka_unit_test(the_data_cache_keeps_what_is_old),
        cmocka_unit_test(stores_to_two_regions_pass_each_other),
        cmocka_unit_test(loads_pass_stores),
        cmocka_unit_test(part_of_a_store),
        cmocka_unit_test(own_stores_are_seen),
        cmocka_unit_test(old_code_runs),
        cmocka_unit_test(computes_the_same),
        cmocka_unit_test(one_seed_is_one_run),
        cmocka_unit_test(local_ram_of_a_hart_in_reset_hangs_the_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
