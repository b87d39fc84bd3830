/* The same bits always: two runs, and any division of time, give the same log, memory and states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

enum { CYCLES = 3000, ROUNDS = 40 };

/* A small generator of numbers, so that programs are the same everywhere. */
static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* An endless loop of random instructions: arithmetic, loads and stores in a shared page of L1 that is partly
 * watched, local RAM, branches over one instruction, clock reads, and now and then a reset of the TRISCs or a
 * NoC request. Registers: t0 watched page, t1 local RAM, t2 debug registers, t3 NIU. */
static void random_program(sim *s, uint32_t tile, enum rig_hart hart, uint32_t seed, uint32_t kind)
{
    uint32_t code[256], n = 0, target = (tile * 5 + seed) % 6 * 3;
    const bool apart = kind % 3 != 0;
    const uint32_t words = apart ? 64 : 512, mine = RIG_TRUTH + (apart ? hart * 0x100 : 0);
    const uint32_t prologue[] = {RV_LI(T0, mine), RV_LUI(T1, RIG_LOCAL >> 12), RV_LI(T2, RIG_CLOCK),
                                 RV_LUI(T3, RIG_NOC0 >> 12), RV_ADDI(A0, ZERO, 17 + (int32_t)hart)};
    memcpy(code, prologue, sizeof prologue);
    n = sizeof prologue / 4;
    uint32_t start = n;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t rd = A0 + next(&seed) % 6, rs1 = A0 + next(&seed) % 6, rs2 = A0 + next(&seed) % 6;
        int32_t word = (int32_t)(next(&seed) % words * 4);
        switch (next(&seed) % 16) {
        case 0: code[n++] = RV_ADD(rd, rs1, rs2); break;
        case 1: code[n++] = RV_XOR(rd, rs1, rs2); break;
        case 2: code[n++] = RV_MUL(rd, rs1, rs2); break;
        case 3: code[n++] = RV_DIVU(rd, rs1, rs2); break;
        case 4: code[n++] = RV_ADDI(rd, rs1, word - 1024); break;
        case 5: code[n++] = RV_LW(rd, T0, word); break;
        case 6:
        case 7: code[n++] = RV_SW(rs1, T0, word); break;
        case 8: code[n++] = RV_SB(rs1, T0, word + 1); break;
        case 9: code[n++] = RV_LHU(rd, T0, word + 2); break;
        case 10: code[n++] = RV_SW(rs1, T1, word / 2 & ~3); break;
        case 11: code[n++] = RV_LW(rd, T1, word / 2 & ~3); break;
        case 12: code[n++] = RV_LW(rd, T2, (int32_t)(next(&seed) % 3 * 4)); break;
        case 13:
        case 14: code[n++] = RV_BLTU(rs1, rs2, 8); break;
        default: code[n++] = RV_SLTU(rd, rs1, rs2); break;
        }
    }
    code[n++] = RV_NOP;                  /* where the last branch may go */
    if (hart == BRISC && kind % 5 < 4) { /* a NoC request to another tile, once the initiator is not busy */
        enum { READ = 0, INCREMENT = 1, WRITE = 2, MARKED = 16 };
        const uint32_t far = (1 + target % 4) << 4 | (1 + target / 4) << 10;
        const uint32_t here = (1 + tile % 4) << 4 | (1 + tile / 4) << 10;
        /* To or from where nobody looks, or where the harts of both tiles work. */
        const uint32_t there = next(&seed) % 4 == 0 ? 0x5000 : RIG_TRUTH + next(&seed) % 20 * 64;
        const uint32_t what = next(&seed) % 3, pause = 1 + next(&seed) % 300;
        const bool reads = what != WRITE;
        const uint32_t noc[] = {RV_LI(A6, pause),
                                RV_ADDI(A6, A6, -1),
                                RV_BNE(A6, ZERO, -4),
                                RV_LW(A6, T3, 0x28),
                                RV_BNE(A6, ZERO, -4),
                                RV_LI(A6, reads ? there : RIG_TRUTH),
                                RV_SW(A6, T3, 0),
                                RV_LI(A6, reads ? far : here),
                                RV_SW(A6, T3, 4),
                                RV_LI(A6, reads ? RIG_TRUTH + 0x400 : there),
                                RV_SW(A6, T3, 0xC),
                                RV_LI(A6, reads ? here : far),
                                RV_SW(A6, T3, 0x10),
                                RV_LI(A6, what == INCREMENT ? 1 << 12 | 31 << 2 : 64),
                                RV_SW(A6, T3, 0x20),
                                RV_SW(A5, T3, 0x24),
                                RV_ADDI(A6, ZERO, (int32_t)what | MARKED),
                                RV_SW(A6, T3, 0x1C),
                                RV_ADDI(A6, ZERO, 1),
                                RV_SW(A6, T3, 0x28)};
        memcpy(&code[n], noc, sizeof noc);
        n += sizeof noc / 4;
    }
    if (hart == NCRISC && kind % 4 == 1) { /* resets TRISC1 and lets it go again */
        const uint32_t reset[] = {RV_LI(A6, 1 << 13), RV_SW(A6, T2, -0x40), RV_SW(ZERO, T2, -0x40)};
        memcpy(&code[n], reset, sizeof reset);
        n += sizeof reset / 4;
    }
    if ((hart == TRISC0 || hart == NCRISC) &&
        kind % 7 == 2) { /* changes an instruction in the loop of TRISC2, back and forth */
        const uint32_t change[] = {
            RV_LI(A6, RV_ADDI(A1, A1, 3)), RV_LI(A7, 0x400000), RV_XOR(S2, S2, A7), RV_XOR(A6, A6, S2),
            RV_LI(A7, 0xE000 + 4 * 40),    RV_SW(A6, A7, 0)};
        memcpy(&code[n], change, sizeof change);
        n += sizeof change / 4;
    }
    code[n] = RV_JAL(ZERO, -4 * (int32_t)(n - start));
    rig_load(s, tile, hart, code, n + 1);
}

static sim *make_one(uint32_t seed, bool functional, bool counted)
{
    sim_config c = rig_config();
    c.functional = functional;
    c.count_cycles = counted;
    c.cores = seed % 2 ? SIM_CORES_BLACKHOLE : SIM_CORES_WORMHOLE;
    c.truth_size = 0x800;
    c.clock_start = UINT64_C(0xFFFFF000) + seed;
    for (uint32_t i = 0; i < c.n_tiles; i++)
        c.tiles[i].clock_offset = i * 1000003u;
    sim *s = rig_create(&c);
    for (uint32_t tile = 0; tile < 16; tile += 3)
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
            random_program(s, tile, hart, seed * 97 + tile * 5 + hart, seed + tile);
    for (uint32_t tile = 0; tile < 16; tile += 3)
        rig_release(s, tile, 0x1f);
    return s;
}

static sim *make(uint32_t seed, bool functional)
{
    return make_one(seed, functional, false);
}

static void expect_equal(sim *a, sim *b)
{
    assert_int_equal(sim_chip_clock(a), sim_chip_clock(b));
    assert_int_equal(sim_retired_total(a), sim_retired_total(b));
    assert_int_equal(sim_fault(a) == NULL, sim_fault(b) == NULL);
    if (sim_fault(a)) assert_string_equal(sim_fault(a), sim_fault(b));
    size_t n_a, n_b;
    const sim_store *truth_a = sim_truth(a, &n_a), *truth_b = sim_truth(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(truth_a, truth_b, n_a * sizeof *truth_a);
    for (uint32_t tile = 0; tile < 16; tile++) {
        assert_memory_equal(sim_ram_bytes(a, tile, 0), sim_ram_bytes(b, tile, 0), 0x20000);
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++) {
            sim_hart_state x, y;
            memset(&x, 0, sizeof x);
            memset(&y, 0, sizeof y);
            assert_true(sim_hart(a, tile, hart, &x));
            assert_true(sim_hart(b, tile, hart, &y));
            assert_int_equal(x.pc, y.pc);
            assert_memory_equal(x.x, y.x, sizeof x.x);
            assert_int_equal(x.retired, y.retired);
            assert_int_equal(x.loads, y.loads);
            assert_int_equal(x.stores, y.stores);
            assert_int_equal(x.stalled, y.stalled);
            assert_int_equal(x.in_reset, y.in_reset);
        }
    }
}

static void clock_in_chunks(sim *s, uint32_t seed)
{
    for (uint32_t done = 0; done < CYCLES;) {
        uint32_t n = 1 + next(&seed) % (seed & 1 ? 3 : 100);
        if (n > CYCLES - done) n = CYCLES - done;
        if (!sim_clock(s, n)) return;
        done += n;
    }
}

static void any_division_of_time_gives_the_same(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
        sim *a = make(seed, seed % 4 == 0), *b = make(seed, seed % 4 == 0);
        sim_clock(a, CYCLES);
        if (seed % 10 == 0)
            for (uint32_t i = 0; i < CYCLES && sim_clock(b, 1); i++)
                ;
        else
            clock_in_chunks(b, seed);
        expect_equal(a, b);
        size_t n;
        sim_truth(a, &n);
        assert_true(n > 1000); /* the programs do something */
        sim_destroy(a);
        sim_destroy(b);
    }
}

/* A program that comes to an end by a refusal: everything stands in the same state, whatever the chunks. */
static void refusals_come_at_the_same_place(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        sim *chips[2];
        for (int i = 0; i < 2; i++) {
            chips[i] = make(seed, false);
            /* Somewhere in the loops of two tiles: an illegal instruction behind a branch that is taken at
             * last. */
            rig_put(chips[i], 6, 0x6000 + 4 * (20 + seed), 0);
            rig_put(chips[i], 9, 0xA000 + 4 * (25 + seed), 0);
        }
        assert_false(sim_clock(chips[0], CYCLES));
        clock_in_chunks(chips[1], seed);
        expect_equal(chips[0], chips[1]);
        sim_destroy(chips[0]);
        sim_destroy(chips[1]);
    }
}

/* Takes what the harts of all tiles have done; adds what it took, and looks that every line is sound. */
static void take_cycles(sim *s, uint64_t taken[16][5], uint64_t counts[16][5])
{
    for (uint32_t tile = 0; tile < 16; tile++) {
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++) {
            sim_cycles *at;
            size_t n;
            assert_true(sim_cycles_take(s, tile, hart, &at, &n));
            for (size_t i = 0; i < n; i++) {
                uint64_t stalled = 0;
                for (int k = 0; k < SIM_STALLS; k++)
                    stalled += at[i].stalled[k];
                assert_true(i == 0 || at[i].pc > at[i - 1].pc);
                assert_true(stalled <= at[i].cycles);
                taken[tile][hart] += at[i].cycles;
                counts[tile][hart] += at[i].count;
            }
            free(at);
        }
    }
}

/* Asking where the cycles go changes none of them, whatever happens to the harts and whenever it is asked; and
 * the answer adds up to the time that each hart has run, and to its instructions. */
static void counting_cycles_is_not_noticed_and_adds_up(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
        sim *a = make(seed, seed % 4 == 0), *b = make_one(seed, seed % 4 == 0, true);
        if (seed % 8 == 3) { /* a refusal in the middle */
            rig_put(a, 6, 0x6000 + 4 * 25, 0);
            rig_put(b, 6, 0x6000 + 4 * 25, 0);
        }
        uint64_t taken[16][5] = {{0}}, counts[16][5] = {{0}};
        sim_clock(a, CYCLES);
        for (uint32_t done = 0, random = seed; done < CYCLES;) {
            uint32_t n = 1 + next(&random) % 400;
            if (n > CYCLES - done) n = CYCLES - done;
            if (!sim_clock(b, n)) break;
            done += n;
            take_cycles(b, taken, counts);
        }
        take_cycles(b, taken, counts);
        expect_equal(a, b);
        for (uint32_t tile = 0; tile < 16; tile++) {
            for (uint32_t hart = BRISC; hart <= NCRISC; hart++) {
                sim_hart_state h;
                assert_true(sim_hart(a, tile, hart, &h));
                assert_int_equal(counts[tile][hart], h.retired);
                assert_int_equal(taken[tile][hart], h.retired + h.stalled);
            }
        }
        sim_destroy(a);
        sim_destroy(b);
    }
}

/* In order of time; within a cycle in order of tiles and then of harts. */
static void truth_is_in_order(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.functional = true;
    sim *s = rig_create(&c);
    for (uint32_t tile = 0; tile < 16; tile++) {
        for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
            RIG_LOAD(s, tile, hart, RV_LI(T0, RIG_TRUTH), RV_ADDI(A0, ZERO, (int32_t)(tile * 8 + hart)),
                     RV_SW(A0, T0, (int32_t)hart * 4), RV_SB(A0, T0, 100), RV_SH(A0, T0, 200), RV_HERE);
        rig_release(s, tile, 0x1f);
    }
    assert_true(sim_clock(s, 50));
    size_t n;
    const sim_store *t = sim_truth(s, &n);
    assert_int_equal(n, 16 * 5 * 3);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tile = i / 5 % 16, hart = i % 5, step = i / 80;
        assert_int_equal(t[i].cycle, 3 + step);
        assert_int_equal(t[i].tile, tile);
        assert_int_equal(t[i].hart, hart);
        assert_int_equal(t[i].pc, rig_pc(hart) + 12 + 4 * step);
        assert_int_equal(t[i].size, step == 0 ? 4 : step == 1 ? 1 : 2);
        assert_int_equal(t[i].value, tile * 8 + hart);
        assert_int_equal(t[i].addr, RIG_TRUTH + (step == 0 ? hart * 4 : step * 100));
    }
    sim_truth_clear(s);
    sim_truth(s, &n);
    assert_int_equal(n, 0);
    sim_destroy(s);
}

/* Only stores of harts count, and only those that begin in the range. */
static void truth_watches_exactly_its_range(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.truth_base = 0x4010;
    c.truth_size = 0x20;
    sim *s = rig_create(&c);
    rig_put(s, 0, 0x4010, 1); /* the host's write is not the program's */
    RIG_RUN(s, 300, RV_LI(T0, 0x4000), RV_ADDI(A0, ZERO, -1), RV_SB(A0, T0, 0x0F), RV_SB(A0, T0, 0x10),
            RV_SW(A0, T0, 0x10), RV_SB(A0, T0, 0x2F), RV_SW(A0, T0, 0x30), RV_SB(A0, T0, 0x30),
            RV_SH(A0, T0, 0x20), RV_HERE);
    size_t n;
    const sim_store *t = sim_truth(s, &n);
    assert_int_equal(n, 4);
    const uint32_t addr[] = {0x4010, 0x4010, 0x402F, 0x4020}, value[] = {0xFF, 0xFFFFFFFF, 0xFF, 0xFFFF};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(t[i].addr, addr[i]);
        assert_int_equal(t[i].value, value[i]);
    }
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_division_of_time_gives_the_same),
        cmocka_unit_test(refusals_come_at_the_same_place),
        cmocka_unit_test(counting_cycles_is_not_noticed_and_adds_up),
        cmocka_unit_test(truth_is_in_order),
        cmocka_unit_test(truth_watches_exactly_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
