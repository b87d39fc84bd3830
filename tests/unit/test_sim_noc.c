/* The NoC: reads, writes, multicast, atomics, counters.
 * WormholeB0/NoC/MemoryMap.md, Counters.md, Atomics.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_niu.h"

static sim *make(void)
{
    sim_config c = rig_config();
    return rig_create(&c);
}

static void fill(sim *s, uint32_t tile, uint32_t addr, uint32_t size, uint8_t seed)
{
    uint8_t bytes[8192];
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(seed + i * 13 + (i >> 8));
    assert_true(sim_tile_write(s, tile, addr, bytes, size));
}

static void expect_same(sim *s, uint32_t tile_a, uint32_t a, uint32_t tile_b, uint32_t b, uint32_t size)
{
    uint8_t first[8192], second[8192];
    assert_true(sim_tile_read(s, tile_a, a, first, size));
    assert_true(sim_tile_read(s, tile_b, b, second, size));
    assert_memory_equal(first, second, size);
}

static void identification(void **state)
{
    (void)state;
    sim *s = make();
    for (uint32_t noc = 0; noc < 2; noc++)
        for (uint32_t tile = 0; tile < 16; tile += 5) {
            uint32_t here = niu_x(noc, tile) | niu_y(noc, tile) << 6;
            for (uint32_t i = 0; i < 4; i++)
                assert_int_equal(rig_word(s, tile, niu_base(noc, i) + 0x2C),
                                 here | 10 << 12 | 12 << 19 | (noc ? 0u : 1u << 28));
            assert_int_equal(rig_word(s, tile, niu_base(noc, 0) + 0x138), here);
        }
    sim_destroy(s);
}

static void initiator_registers_keep_values(void **state)
{
    (void)state;
    sim *s = make();
    for (uint32_t i = 0; i < 4; i++) {
        rig_put(s, 0, niu_base(1, i) + TARG_LO, 0x1111 * i);
        rig_put(s, 0, niu_base(1, i) + DATA, 0x2222 * i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(rig_word(s, 0, niu_base(1, i) + TARG_LO), 0x1111 * i);
        assert_int_equal(rig_word(s, 0, niu_base(1, i) + DATA), 0x2222 * i);
        assert_int_equal(rig_word(s, 0, niu_base(0, i) + TARG_LO), 0);
    }
    sim_destroy(s);
}

static void writes_to_another_tile(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 4, 15, 16, 33, 1024, 8191, 8192};
    for (uint32_t noc = 0; noc < 2; noc++)
        for (size_t i = 0; i < 8; i++) {
            sim *s = make();
            fill(s, 2, 0x10000, sizes[i], (uint8_t)i);
            assert_true(niu_issue(s, 2,
                                  (request){.noc = noc,
                                            .initiator = i % 4,
                                            .targ = 0x10000,
                                            .targ_mid = niu_mid(noc, 2),
                                            .ret = 0x20000,
                                            .ret_mid = niu_mid(noc, 13),
                                            .ctrl = WRITE | MARKED,
                                            .len = sizes[i]}));
            fill(s, 2, 0x10000, sizes[i], 99); /* too late to change what is sent */
            assert_int_equal(niu_counter(s, 2, noc, 10), 1);
            assert_int_equal(niu_counter(s, 2, noc, 16), 1);
            assert_true(sim_clock(s, 32));
            assert_int_equal(rig_word(s, 13, 0x20000), 0); /* nothing travels faster than a quantum */
            assert_true(sim_clock(s, 1000));
            fill(s, 2, 0x10000, sizes[i], (uint8_t)i);
            expect_same(s, 2, 0x10000, 13, 0x20000, sizes[i]);
            assert_int_equal(rig_word(s, 13, 0x20000 + ((sizes[i] + 3) & ~3u)), 0);
            assert_int_equal(niu_counter(s, 2, noc, 1), 1);
            assert_int_equal(niu_counter(s, 2, noc, 16), 0);
            assert_int_equal(niu_counter(s, 2, noc, 8), (sizes[i] + 31) / 32);
            assert_int_equal(niu_counter(s, 13, noc, 58), 1);
            assert_int_equal(niu_counter(s, 13, noc, 49), 1);
            assert_int_equal(niu_counter(s, 2, !noc, 1), 0);
            sim_destroy(s);
        }
}

static void posted_writes_are_not_acknowledged(void **state)
{
    (void)state;
    sim *s = make();
    rig_put(s, 0, 0x1000, 77);
    assert_true(niu_issue(s, 0,
                          (request){.targ = 0x1000,
                                    .targ_mid = niu_mid(0, 0),
                                    .ret = 0x1000,
                                    .ret_mid = niu_mid(0, 1),
                                    .ctrl = WRITE,
                                    .len = 4}));
    assert_true(sim_clock(s, 500));
    assert_int_equal(rig_word(s, 1, 0x1000), 77);
    assert_int_equal(niu_counter(s, 0, 0, 1), 0);
    assert_int_equal(niu_counter(s, 0, 0, 10), 0);
    assert_int_equal(niu_counter(s, 0, 0, 11), 1);
    assert_int_equal(niu_counter(s, 1, 0, 59), 1);
    sim_destroy(s);
}

static void reads_from_tiles_and_dram(void **state)
{
    (void)state;
    const uint32_t from[] = {0, 7, 16, 17};
    for (uint32_t noc = 0; noc < 2; noc++)
        for (size_t i = 0; i < 4; i++) {
            sim *s = make();
            fill(s, from[i], 0x10040, 5000, (uint8_t)i);
            assert_true(niu_issue(s, 5,
                                  (request){.noc = noc,
                                            .initiator = 1,
                                            .targ = 0x10040,
                                            .targ_mid = niu_mid(noc, from[i]),
                                            .ret = 0x30020,
                                            .ret_mid = niu_mid(noc, 5),
                                            .tag = 3 << 10,
                                            .ctrl = READ | MARKED,
                                            .len = 5000}));
            assert_int_equal(niu_counter(s, 5, noc, 5), 1);
            assert_int_equal(niu_counter(s, 5, noc, 16 + 3), 1);
            assert_true(sim_clock(s, 2000));
            expect_same(s, from[i], 0x10040, 5, 0x30020, 5000);
            assert_int_equal(niu_counter(s, 5, noc, 2), 1);
            assert_int_equal(niu_counter(s, 5, noc, 3), 157);
            assert_int_equal(niu_counter(s, 5, noc, 16 + 3), 0);
            sim_destroy(s);
        }
}

static void writes_to_dram(void **state)
{
    (void)state;
    sim *s = make();
    fill(s, 3, 0x10000, 8192, 5);
    for (uint32_t i = 0; i < 4; i++) /* a stream of 8 KiB each, as a flush does */
        assert_true(niu_issue(s, 3,
                              (request){.initiator = i,
                                        .targ = 0x10000,
                                        .targ_mid = niu_mid(0, 3),
                                        .ret = 0x30000000 + i * 8192,
                                        .ret_mid = niu_mid(0, 17),
                                        .ctrl = WRITE | MARKED,
                                        .len = 8192}));
    assert_true(sim_clock(s, 3000));
    for (uint32_t i = 0; i < 4; i++)
        expect_same(s, 3, 0x10000, 17, 0x30000000 + i * 8192, 8192);
    assert_int_equal(niu_counter(s, 3, 0, 1), 4);
    sim_destroy(s);
}

/* A NIU sends one flit per cycle: a short packet cannot overtake a long one before it. */
static void packets_of_one_niu_stay_in_order(void **state)
{
    (void)state;
    sim *s = make();
    fill(s, 0, 0x10000, 8192, 1);
    assert_true(niu_issue(s, 0,
                          (request){.targ = 0x10000,
                                    .targ_mid = niu_mid(0, 0),
                                    .ret = 0x10000,
                                    .ret_mid = niu_mid(0, 9),
                                    .ctrl = WRITE,
                                    .len = 8192}));
    assert_true(niu_issue(s, 0,
                          (request){.initiator = 1,
                                    .targ = 0x8000,
                                    .targ_mid = niu_mid(0, 9),
                                    .ctrl = WRITE | INLINE,
                                    .len = 0xF,
                                    .data = 1}));
    for (uint32_t i = 0; i < 1000 && rig_word(s, 9, 0x8000) == 0; i++) {
        assert_true(sim_clock(s, 1));
        if (rig_word(s, 9, 0x8000)) assert_true(rig_word(s, 9, 0x11FFC) != 0);
    }
    assert_int_equal(rig_word(s, 9, 0x8000), 1);
    sim_destroy(s);
}

/* base 32, 9 per hop, one per flit: from (1,1) to (3,2) are three hops on NoC 0. */
static void latency_is_as_documented(void **state)
{
    (void)state;
    sim *s = make();
    rig_put(s, 0, 0x1000, 5);
    assert_true(niu_issue(s, 0,
                          (request){.targ = 0x1000,
                                    .targ_mid = niu_mid(0, 0),
                                    .ret = 0x1000,
                                    .ret_mid = niu_mid(0, 6),
                                    .ctrl = WRITE | MARKED,
                                    .len = 4}));
    uint32_t there = 2 + 32 + 3 * 9, back = 32 + (8 + 11) * 9;
    assert_true(sim_clock(s, there));
    assert_int_equal(rig_word(s, 6, 0x1000), 0); /* arrives at the start of the next cycle */
    assert_true(sim_clock(s, 1));
    assert_int_equal(rig_word(s, 6, 0x1000), 5);
    assert_true(sim_clock(s, back - 1));
    assert_int_equal(niu_counter(s, 0, 0, 1), 0);
    assert_true(sim_clock(s, 1));
    assert_int_equal(niu_counter(s, 0, 0, 1), 1);
    sim_destroy(s);
}

static void multicast(void **state)
{
    (void)state;
    for (int include = 0; include < 2; include++) {
        sim *s = make();
        rig_put(s, 5, 0x1000, 0xABCD); /* (2,2) sends to (1,1)..(3,2) */
        uint32_t rect = 3 << 4 | 2 << 10 | 1 << 16 | 1 << 22;
        assert_true(niu_issue(s, 5,
                              (request){.targ = 0x1000,
                                        .targ_mid = niu_mid(0, 5),
                                        .ret = 0x2000,
                                        .ret_mid = rect,
                                        .ctrl = WRITE | MARKED | MCAST | (include ? INCLUDE : 0u),
                                        .len = 4}));
        assert_true(sim_clock(s, 1000));
        for (uint32_t tile = 0; tile < 16; tile++) {
            bool inside = tile % 4 < 3 && tile / 4 < 2 && (tile != 5 || include);
            assert_int_equal(rig_word(s, tile, 0x2000), inside ? 0xABCD : 0);
        }
        assert_int_equal(niu_counter(s, 5, 0, 10), 1);
        assert_int_equal(niu_counter(s, 5, 0, 1), 5 + (uint32_t)include); /* one acknowledgement from each */
        assert_int_equal(niu_counter(s, 5, 0, 16), (1u - 5u - (uint32_t)include) & 0xFF);
        rig_put(s, 5, RIG_NOC0 + 0x50, 1);
        assert_int_equal(niu_counter(s, 5, 0, 16), 0);
        sim_destroy(s);
    }
}

static void multicast_of_a_register(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t rect = 4 << 4 | 4 << 10 | 1 << 16 | 1 << 22;
    rig_put(s, 0, 0x1000, RIG_RESET_ALL & ~0x1000u);
    for (uint32_t tile = 0; tile < 16; tile++)
        RIG_LOAD(s, tile, TRISC0, RV_ADDI(A0, ZERO, 3), RV_HERE);
    assert_true(niu_issue(s, 0,
                          (request){.targ = 0x1000,
                                    .targ_mid = niu_mid(0, 0),
                                    .ret = RIG_SOFT_RESET,
                                    .ret_mid = rect,
                                    .ctrl = WRITE | MCAST,
                                    .len = 4}));
    assert_true(sim_clock(s, 500));
    for (uint32_t tile = 0; tile < 16; tile++)
        assert_int_equal(rig_x(s, tile, TRISC0, A0), tile ? 3 : 0);
    sim_destroy(s);
}

static void inline_writes(void **state)
{
    (void)state;
    sim *s = make();
    const struct {
        uint32_t at, be, expected[4];
    } cases[] = {
        {0x1000, 0x000F, {0x44332211, 0, 0, 0}},
        {0x1008, 0x0F00, {0, 0, 0x44332211, 0}},
        {0x1000, 0xF0F00000, {0, 0x44332211, 0, 0x44332211}},
        {0x1004, 0x8001, {0x11, 0, 0, 0x44000000}},
    };
    for (size_t i = 0; i < 4; i++) {
        for (uint32_t w = 0; w < 4; w++)
            rig_put(s, 1, 0x1000 + 4 * w, 0);
        assert_true(niu_issue(s, 0,
                              (request){.targ = cases[i].at,
                                        .targ_mid = niu_mid(0, 1),
                                        .ctrl = WRITE | INLINE | MARKED,
                                        .len = cases[i].be,
                                        .data = 0x44332211}));
        assert_true(sim_clock(s, 500));
        for (uint32_t w = 0; w < 4; w++)
            assert_int_equal(rig_word(s, 1, 0x1000 + 4 * w), cases[i].expected[w]);
        assert_int_equal(niu_counter(s, 0, 0, 1), i + 1);
    }
    assert_true(niu_issue(s, 0,
                          (request){.targ = RIG_TIMESTAMP + 12,
                                    .targ_mid = niu_mid(0, 1),
                                    .ctrl = WRITE | INLINE,
                                    .len = 0,
                                    .data = 0x1234}));
    assert_true(sim_clock(s, 500));
    assert_int_equal(rig_word(s, 1, RIG_TIMESTAMP + 12), 0x1234);
    sim_destroy(s);
}

static void atomics(void **state)
{
    (void)state;
    const struct {
        const char *name;
        uint32_t be, data, before, after;
    } cases[] = {
        {"increment", 1 << 12 | 31 << 2 | 1, 5, 0xFFFFFFFE, 3},
        {"increment of 8 bits", 1 << 12 | 7 << 2 | 1, 5, 0x123456FE, 0x12345603},
        {"swap, index 6", 6 << 12 | 1 << 2 | 1, 0x55, 0xAA, 0x55},
        {"swap, index 7", 7 << 12 | 1 << 2, 0x55, 0xAA, 0x55},
        {"compare and swap: equal", 4 << 12 | 9 << 6 | 3 << 2 | 1, 0, 3, 9},
        {"compare and swap: not equal", 4 << 12 | 9 << 6 | 3 << 2 | 1, 0, 4, 4},
        {"swap by mask", 3 << 12 | 8 << 2, 0x11112222, 0x33334444, 0x11114444},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim *s = make();
        rig_put(s, 9, 0x1004, cases[i].before);
        assert_true(niu_issue(s, 2,
                              (request){.targ = 0x1004,
                                        .targ_mid = niu_mid(0, 9),
                                        .ret = 0x2008,
                                        .ret_mid = niu_mid(0, 2),
                                        .tag = 15 << 10,
                                        .ctrl = ATOMIC | MARKED,
                                        .len = cases[i].be,
                                        .data = cases[i].data}));
        assert_true(sim_clock(s, 1000));
        if (rig_word(s, 9, 0x1004) != cases[i].after)
            fail_msg("%s: 0x%x", cases[i].name, rig_word(s, 9, 0x1004));
        assert_int_equal(rig_word(s, 2, 0x2008), cases[i].before);
        assert_int_equal(rig_word(s, 9, 0x1000), 0);
        assert_int_equal(rig_word(s, 9, 0x1008), 0);
        assert_int_equal(niu_counter(s, 2, 0, 0), 1);
        assert_int_equal(niu_counter(s, 2, 0, 16 + 15), 0);
        sim_destroy(s);
    }
}

/* Sixteen tiles increment one word at the same time: none is lost. */
static void atomics_from_everywhere(void **state)
{
    (void)state;
    sim *s = make();
    for (uint32_t round = 0; round < 4; round++)
        for (uint32_t tile = 0; tile < 16; tile++)
            assert_true(niu_issue(s, tile,
                                  (request){.initiator = round,
                                            .targ = 0x1000,
                                            .targ_mid = niu_mid(0, 4),
                                            .ctrl = ATOMIC,
                                            .len = 1 << 12 | 31 << 2,
                                            .data = 1}));
    assert_true(sim_clock(s, 1000));
    assert_int_equal(rig_word(s, 4, 0x1000), 64);
    assert_int_equal(niu_counter(s, 3, 0, 7), 4);
    sim_destroy(s);
}

static void command_is_busy_for_a_while(void **state)
{
    (void)state;
    sim *s = make();
    request r = {.initiator = 2,
                 .targ = 0x1000,
                 .targ_mid = niu_mid(0, 1),
                 .ret = 0x1000,
                 .ret_mid = niu_mid(0, 0),
                 .ctrl = READ,
                 .len = 4};
    assert_true(niu_issue(s, 0, r));
    assert_int_equal(rig_word(s, 0, niu_base(0, 2) + CMD), 1);
    assert_int_equal(rig_word(s, 0, niu_base(0, 0) + 0x54), 4);
    uint32_t value = 1;
    assert_false(sim_tile_write(s, 0, niu_base(0, 2) + LEN, &value, 4)); /* not while it is busy */
    assert_true(sim_clock(s, 4));
    assert_int_equal(rig_word(s, 0, niu_base(0, 2) + CMD), 0);
    assert_int_equal(rig_word(s, 0, niu_base(0, 0) + 0x54), 0);
    assert_true(niu_issue(s, 0, r));
    sim_destroy(s);
}

/* What firmware does: fill in, go, poll the counter. */
static void a_hart_reads_from_another_tile(void **state)
{
    (void)state;
    sim *s = make();
    rig_put(s, 6, 0x4000, 0x600D);
    RIG_RUN(s, 1000, RV_LUI(T0, RIG_NOC0 >> 12), RV_LI(A0, 0x4000), RV_SW(A0, T0, TARG_LO),
            RV_LI(A1, niu_mid(0, 6)), RV_SW(A1, T0, TARG_MID), RV_LI(A0, 0x5000), RV_SW(A0, T0, RET_LO),
            RV_LI(A1, niu_mid(0, 0)), RV_SW(A1, T0, RET_MID), RV_ADDI(A0, ZERO, 4), RV_SW(A0, T0, LEN),
            RV_ADDI(A0, ZERO, READ | MARKED), RV_SW(A0, T0, CTRL), RV_ADDI(A0, ZERO, 1), RV_SW(A0, T0, CMD),
            RV_LW(A0, T0, CMD), RV_BNE(A0, ZERO, -4), RV_LW(A0, T0, 0x208), RV_BEQ(A0, ZERO, -4),
            RV_LUI(T1, 5), RV_LW(A2, T1, 0), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, A2), 0x600D);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identification),
        cmocka_unit_test(initiator_registers_keep_values),
        cmocka_unit_test(writes_to_another_tile),
        cmocka_unit_test(posted_writes_are_not_acknowledged),
        cmocka_unit_test(reads_from_tiles_and_dram),
        cmocka_unit_test(writes_to_dram),
        cmocka_unit_test(packets_of_one_niu_stay_in_order),
        cmocka_unit_test(latency_is_as_documented),
        cmocka_unit_test(multicast),
        cmocka_unit_test(multicast_of_a_register),
        cmocka_unit_test(inline_writes),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_from_everywhere),
        cmocka_unit_test(command_is_busy_for_a_while),
        cmocka_unit_test(a_hart_reads_from_another_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
