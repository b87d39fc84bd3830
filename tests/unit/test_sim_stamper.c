/* The event streams of the debug timestamper: WormholeB0/TensixTile/DebugTimestamper.md, "Functional
 * specification". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

#define CMD    (RIG_TIMESTAMP + 0x00)
#define CNTL   (RIG_TIMESTAMP + 0x04)
#define STATUS (RIG_TIMESTAMP + 0x08)
#define START0 (RIG_TIMESTAMP + 0x0C)
#define END0   (RIG_TIMESTAMP + 0x10)
#define START1 (RIG_TIMESTAMP + 0x14)
#define END1   (RIG_TIMESTAMP + 0x18)

enum { BUF = 0x8000, BUF1 = 0x9000 };

/* Two buffers of `units` times 16 bytes, at BUF and BUF1; the clock stands at 0x7_12345678. */
static sim *make(uint32_t units)
{
    sim_config c = rig_config();
    c.clock_start = UINT64_C(0x712345678);
    sim *s = rig_create(&c);
    rig_put(s, 0, START0, BUF / 16);
    rig_put(s, 0, END0, BUF / 16 + units - 1);
    rig_put(s, 0, START1, BUF1 / 16);
    rig_put(s, 0, END1, BUF1 / 16 + units - 1);
    return s;
}

static void expect(sim *s, uint32_t addr, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t words[] = {a, b, c, d};
    for (uint32_t i = 0; i < 4; i++)
        if (rig_word(s, 0, addr + 4 * i) != words[i])
            fail_msg("word %u at 0x%x is 0x%x, not 0x%x", i, addr, rig_word(s, 0, addr + 4 * i), words[i]);
}

static void power_on_values(void **state)
{
    (void)state;
    sim *s = make(4);
    assert_int_equal(rig_word(s, 0, CMD), 0);
    assert_int_equal(rig_word(s, 0, CNTL), 3);
    assert_int_equal(rig_word(s, 0, STATUS), 0);
    assert_int_equal(rig_word(s, 0, START0), BUF / 16);
    assert_int_equal(rig_word(s, 0, END1), BUF1 / 16 + 3);
    sim_destroy(s);
}

static void event_of_128_bits(void **state)
{
    (void)state;
    sim *s = make(4);
    rig_put(s, 0, CMD, 0xABCDE0);
    expect(s, BUF, 0xABCDE0, 0x12345678, 7, 0);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14);
    sim_destroy(s);
}

static void events_of_64_bits_go_out_in_pairs(void **state)
{
    (void)state;
    sim *s = make(4);
    rig_put(s, 0, CMD, 0x81);
    expect(s, BUF, 0, 0, 0, 0);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 8);
    assert_true(sim_clock(s, 8));
    rig_put(s, 0, CMD, 0x91);
    expect(s, BUF, 0x81, 0x12345678, 0x91, 0x12345680);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14);
    sim_destroy(s);
}

static void events_of_32_bits_go_out_in_fours(void **state)
{
    (void)state;
    sim *s = make(4);
    uint32_t stamp = (0x12345678u & 0x1FFFE0u) << 11;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(rig_word(s, 0, STATUS) >> 9 & 3, i);
        rig_put(s, 0, CMD, 0xFFFF0002 + 8 * i);
    }
    expect(s, BUF, stamp + 2, stamp + 10, stamp + 18, stamp + 26);
    sim_destroy(s);
}

static void events_of_96_bits_straddle(void **state)
{
    (void)state;
    sim *s = make(4);
    for (uint32_t i = 0; i < 4; i++) {
        rig_put(s, 0, CMD, 0x104 + 0x100 * i);
        if (i == 0) assert_int_equal(rig_word(s, 0, STATUS) >> 11 & 3, 1);
    }
    uint32_t low = 0x12345678;
    expect(s, BUF, 0x104, low, 7, 0x204);
    expect(s, BUF + 16, low, 7, 0x304, low);
    expect(s, BUF + 32, 7, 0x404, low, 7);
    assert_int_equal(rig_word(s, 0, STATUS), 3u << 14);
    sim_destroy(s);
}

static void flush_fills_with_zeros(void **state)
{
    (void)state;
    sim *s = make(4);
    rig_put(s, 0, CMD, 0x81);
    rig_put(s, 0, CMD, 3);
    expect(s, BUF, 0x81, 0x12345678, 0, 0);
    rig_put(s, 0, CMD, 0x84);
    rig_put(s, 0, CMD, 7);
    expect(s, BUF + 16, 0x84, 0x12345678, 7, 0);
    assert_int_equal(rig_word(s, 0, STATUS), 2u << 14);
    sim_destroy(s);
}

/* First buffer 0, then buffer 1, then neither: full and overflow are sticky. */
static void buffers_fill_and_overflow(void **state)
{
    (void)state;
    sim *s = make(2);
    const uint32_t expected[] = {1u << 14,     2u << 14 | 1,    2u << 14 | 1,
                                 2u << 14 | 3, 2u << 14 | 0x33, 2u << 14 | 0x33};
    for (uint32_t i = 0; i < 6; i++) {
        rig_put(s, 0, CMD, 0x100 * (i + 1));
        assert_int_equal(rig_word(s, 0, STATUS), expected[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        expect(s, BUF + 16 * i, 0x100 * (i + 1), 0x12345678, 7, 0);
        expect(s, BUF1 + 16 * i, 0x100 * (i + 3), 0x12345678, 7, 0);
    }
    expect(s, BUF + 32, 0, 0, 0, 0);
    /* Clearing "full" starts the buffer again; clearing "overflow" only clears it. */
    rig_put(s, 0, STATUS, 1);
    assert_int_equal(rig_word(s, 0, STATUS), 0x32);
    rig_put(s, 0, STATUS, 0x30);
    assert_int_equal(rig_word(s, 0, STATUS), 0x02);
    rig_put(s, 0, CMD, 0x700);
    expect(s, BUF, 0x700, 0x12345678, 7, 0);
    rig_put(s, 0, STATUS, 2);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14);
    sim_destroy(s);
}

static void only_valid_buffers_are_used(void **state)
{
    (void)state;
    sim *s = make(1);
    rig_put(s, 0, CNTL, 2);
    assert_int_equal(rig_word(s, 0, CNTL), 2);
    rig_put(s, 0, CMD, 0x100);
    expect(s, BUF, 0, 0, 0, 0);
    expect(s, BUF1, 0x100, 0x12345678, 7, 0);
    rig_put(s, 0, CMD, 0x200);
    assert_int_equal(rig_word(s, 0, STATUS), 0x22); /* overflow only of the valid one */
    rig_put(s, 0, CNTL, 0);
    rig_put(s, 0, STATUS, 0x20);
    rig_put(s, 0, CMD, 0x300);
    assert_int_equal(rig_word(s, 0, STATUS), 0x02);
    sim_destroy(s);
}

/* Resetting clears what is accumulated and the sticky bits, not the positions. */
static void reset_streams(void **state)
{
    (void)state;
    sim *s = make(1);
    rig_put(s, 0, CMD, 0x100);
    rig_put(s, 0, CMD, 0x200);
    rig_put(s, 0, CMD, 0x300);
    rig_put(s, 0, CMD, 0x81);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14 | 0x133);
    rig_put(s, 0, CNTL, 0x80000003);
    assert_int_equal(rig_word(s, 0, CNTL), 0x80000003);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14);
    rig_put(s, 0, CNTL, 3);
    assert_int_equal(rig_word(s, 0, STATUS), 1u << 14);
    sim_destroy(s);
}

static void sizes_cannot_be_mixed_and_codes_5_and_6_do_not_exist(void **state)
{
    (void)state;
    const uint32_t bad[][2] = {{0x81, 0x84}, {0x81, 0x80}, {0x82, 0x81}, {0x84, 3},
                               {0x81, 7},    {5, 5},       {6, 6}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sim *s = make(4);
        uint32_t value = bad[i][0];
        bool first = sim_tile_write(s, 0, CMD, &value, 4);
        value = bad[i][1];
        assert_false(first && sim_tile_write(s, 0, CMD, &value, 4));
        sim_destroy(s);
    }
}

/* From software: one store per event, with the clock of the cycle in which the store starts. */
static void a_hart_writes_events(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.truth_base = BUF;
    c.truth_size = 0x100;
    sim *s = rig_create(&c);
    rig_put(s, 0, START0, BUF / 16);
    rig_put(s, 0, END0, BUF / 16 + 3);
    RIG_RUN(s, 50, RV_LUI(T0, 0xFFB12), RV_ADDI(A0, ZERO, 0x11), RV_ADDI(A1, ZERO, 0x21),
            RV_SW(A0, T0, 0x1FC), RV_NOP, RV_SW(A1, T0, 0x1FC), RV_HERE);
    expect(s, BUF, 0x11, 3, 0x21, 5);
    size_t n;
    const sim_store *stores = sim_truth(s, &n);
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(stores[i].addr, BUF + 4 * i);
        assert_int_equal(stores[i].value, rig_word(s, 0, BUF + 4 * i));
        assert_int_equal(stores[i].hart, 0xFF); /* the tile's own store */
        assert_int_equal(stores[i].cycle, 5);
        assert_int_equal(stores[i].pc, 20);
    }
    sim_destroy(s);
}

/* Two harts store an event each, of so many bits; whether both are whole. */
static bool both_are_whole(bool strict, uint32_t bits)
{
    const uint32_t form = bits == 128 ? 0 : 1, a = 0x110 | form, b = 0x220 | form, step = bits / 8;
    uint32_t found = 0;
    sim_config c = rig_config();
    c.strict = strict;
    c.strict_seed = 1;
    sim *s = rig_create(&c);
    rig_put(s, 0, START0, BUF / 16);
    rig_put(s, 0, END0, BUF / 16 + 3);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, 0xFFB12), RV_ADDI(A0, ZERO, a), RV_SW(A0, T0, 0x1FC), RV_HERE);
    RIG_LOAD(s, 0, NCRISC, RV_LUI(T0, 0xFFB12), RV_ADDI(A0, ZERO, b), RV_SW(A0, T0, 0x1FC), RV_HERE);
    rig_release(s, 0, 1 << BRISC | 1 << NCRISC);
    assert_true(sim_clock(s, 20000));
    for (uint32_t at = BUF; at < BUF + 2 * step; at += step) {
        const uint32_t stored = rig_word(s, 0, at);
        found |= (uint32_t)(stored == a) | (uint32_t)(stored == b) << 1;
    }
    sim_destroy(s);
    return found == 3;
}

/* Events that fill the accumulator have it to themselves. Two that share it are garbled by the strict model. */
static void writers_that_meet(void **state)
{
    (void)state;
    assert_true(both_are_whole(false, 64));
    assert_true(both_are_whole(false, 128));
    assert_false(both_are_whole(true, 64));
    assert_true(both_are_whole(true, 128));
}

static void a_stream_cannot_leave_l1(void **state)
{
    (void)state;
    sim *s = make(1);
    rig_put(s, 0, START0, RIG_L1_SIZE / 16);
    rig_put(s, 0, END0, RIG_L1_SIZE / 16 + 5);
    RIG_LOAD(s, 0, BRISC, RV_LUI(T0, 0xFFB12), RV_SW(ZERO, T0, 0x1FC), RV_HERE);
    rig_release(s, 0, 1 << BRISC);
    assert_false(sim_clock(s, 50));
    assert_non_null(strstr(sim_fault(s), "the event stream would write at 0x16e000, outside of L1"));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_on_values),
        cmocka_unit_test(event_of_128_bits),
        cmocka_unit_test(events_of_64_bits_go_out_in_pairs),
        cmocka_unit_test(events_of_32_bits_go_out_in_fours),
        cmocka_unit_test(events_of_96_bits_straddle),
        cmocka_unit_test(flush_fills_with_zeros),
        cmocka_unit_test(buffers_fill_and_overflow),
        cmocka_unit_test(only_valid_buffers_are_used),
        cmocka_unit_test(reset_streams),
        cmocka_unit_test(sizes_cannot_be_mixed_and_codes_5_and_6_do_not_exist),
        cmocka_unit_test(a_hart_writes_events),
        cmocka_unit_test(writers_that_meet),
        cmocka_unit_test(a_stream_cannot_leave_l1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
