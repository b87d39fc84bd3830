/* Which loops make the frontend guess branches of markers wrong (decode/price/price_guess.c says why), on code that
 * is written here word by word. What that costs is compared with the simulator by test_stated_cost. */
#include <stdlib.h>
#include <string.h>

#include "decode/price/price_code.h"
#include "support/cmocka_all.h"

enum {
    BASE = 0x10000,
    WORDS = 512,
    NOP = 0x13,
    RET = 0x8067,
    MARKER_WORDS = 9,
    ZERO = 0,
    RA = 1,
    T0 = 5,
    T1 = 6
};

/* ---- Code ---- */

static uint32_t code[WORDS];
static dl_elf_patch patches[8];
static uint32_t n_patches;

static void begin(void)
{
    for (uint32_t i = 0; i < WORDS; i++)
        code[i] = NOP;
    code[WORDS - 1] = RET;
    n_patches = 0;
}

/* A branch (bltz rs1) or jump at a word. */
static void put_branch(uint32_t at, uint32_t to, uint32_t rs1)
{
    uint32_t o = (to - at) * 4;
    code[at] = 0x63u | 4u << 12 | rs1 << 15 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | (o >> 5 & 63) << 25 |
               (o >> 12 & 1) << 31;
}

static void put_jump(uint32_t at, uint32_t to, uint32_t link)
{
    uint32_t o = (to - at) * 4;
    code[at] = 0x6Fu | link << 7 | (o >> 12 & 255) << 12 | (o >> 11 & 1) << 20 | (o >> 1 & 1023) << 21 |
               (o >> 20 & 1) << 31;
}

/* A marker whose branch is at a word: slli t1,tp,20; bltz t1,`full`; stores to tp. A long one jumps over a jump there. */
static void put_marker(uint32_t branch, uint32_t full, bool is_long)
{
    const uint32_t at = branch - 1;
    code[at] = 0x01421313;
    put_branch(branch, is_long ? branch + 2 : full, T1);
    if (is_long) put_jump(branch + 1, full, ZERO);
    code[at + MARKER_WORDS - 2] = 0x00c22023; /* sw a2,0(tp) */
    code[at + MARKER_WORDS - 1] = 0x00820213; /* addi tp,tp,8 */
    patches[n_patches++] = (dl_elf_patch){.start = BASE + 4 * at, .end = BASE + 4 * (at + MARKER_WORDS)};
}

/* What is out of line: jal t0 to where drops are counted. */
static void put_full(uint32_t at, uint32_t counts)
{
    put_jump(at, counts, T0);
    patches[n_patches++] = (dl_elf_patch){.start = BASE + 4 * at, .end = BASE + 4 * (at + 1)};
}

static price_code read_code(void)
{
    dl_elf_segment segment = {.address = BASE, .size = sizeof code, .data = (uint8_t *)code};
    const dl_elf elf = {.n_segments = 1, .segments = &segment, .n_patches = n_patches, .patches = patches};
    price_code c;
    assert_true(price_code_read(&elf, &c));
    return c;
}

/* The only rival there is. */
static void only_rival(uint32_t at, uint32_t first, uint32_t last, bool taken, bool near, bool around)
{
    price_code c = read_code();
    assert_int_equal(c.n_rivals, 1);
    const price_rival r = c.rivals[0];
    assert_int_equal(r.at, at);
    assert_int_equal(r.first, first);
    assert_int_equal(r.last, last);
    assert_int_equal(r.taken, taken);
    assert_int_equal(r.near, near);
    assert_int_equal(r.around, around);
    price_code_free(&c);
}

static void no_rival(void)
{
    price_code c = read_code();
    assert_int_equal(c.n_rivals, 0);
    price_code_free(&c);
}

/* ---- Loops whose test is at their end ---- */

static void a_marker_in_a_loop(void **state)
{
    (void)state;
    begin();
    put_marker(20, 300, false);
    put_branch(84, 10, T0);
    only_rival(20, 10, 84, true, true, true);
    put_branch(84, 85, ZERO); /* is forward: no loop */
    no_rival();
    code[84] = NOP;
    put_branch(85, 10, T0); /* another counter */
    no_rival();
}

static void a_marker_beside_a_loop(void **state)
{
    (void)state;
    begin();
    put_marker(20, 300, false);
    put_branch(84, 80, T0); /* a loop that nothing goes around with the marker */
    no_rival();
    put_branch(100, 10, T0);
    only_rival(20, 80, 84, true, true, false);
    code[100] = NOP;
    code[84] = NOP;
    put_branch(148, 140, T0); /* far away: who knows how often it comes */
    put_branch(160, 10, T0);
    only_rival(20, 140, 148, true, false, false);
}

static void a_loop_in_a_function(void **state)
{
    (void)state;
    begin();
    put_marker(20, 300, false);
    put_jump(40, 200, RA); /* a call, in a loop with the marker, of a function with a loop */
    put_branch(60, 10, T0);
    put_branch(212, 204, T0); /* 212 % 64 == 20 */
    code[220] = RET;
    code[199] = RET;
    only_rival(20, 204, 212, true, true, false);
    code[40] = NOP; /* not called: in no loop with it */
    no_rival();
}

/* ---- Loops whose test is in front ---- */

static void a_test_that_leaves(void **state)
{
    (void)state;
    begin();
    put_marker(128, 300, false);
    put_branch(64, 90, T0);
    put_jump(80, 64, ZERO);
    put_branch(140, 10, T0);
    price_code c = read_code();
    assert_int_equal(c.goes_on[64], PRICE_NOT_TAKEN);
    assert_int_equal(c.goes_on[140], PRICE_TAKEN);
    price_code_free(&c);
    only_rival(128, 64, 80, false, true, false);
}

static void a_body_elsewhere(void **state)
{
    (void)state;
    begin();
    put_marker(128, 300, false);
    put_branch(64, 110, T0);
    put_jump(109, 118, ZERO);
    put_jump(115, 64, ZERO);
    put_branch(140, 10, T0);
    price_code c = read_code();
    assert_int_equal(c.goes_on[64], PRICE_TAKEN);
    price_code_free(&c);
    only_rival(128, 110, 115, true, true, false);
    put_branch(112, 118, T0); /* it is no straight way back: what it asks for is not known */
    c = read_code();
    assert_int_equal(c.goes_on[64], 0);
    price_code_free(&c);
    no_rival();
}

/* ---- Markers that are long, and drops ---- */

static void what_counts_a_drop(void **state)
{
    (void)state;
    for (uint32_t branch = 20; branch < 23; branch++) {
        begin();
        put_marker(branch, 300, true);
        put_full(300, 340);
        put_branch(341, 360, T1); /* 341 % 64 == 21 */
        if (branch == 21)
            only_rival(21, 341, 341, true, true, true);
        else
            no_rival();
        begin();
        put_marker(branch, 300, false); /* is taken then too */
        put_full(300, 340);
        put_branch(341, 360, T1);
        no_rival();
    }
}

/* What is out of line has no price of its own. */
static void not_of_markers(void **state)
{
    (void)state;
    begin();
    put_marker(20, 300, false);
    put_full(30, 340);
    put_branch(30, 31, T0);
    put_branch(94, 10, T0); /* 94 % 64 == 30 */
    no_rival();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_in_a_loop),   cmocka_unit_test(a_marker_beside_a_loop),
        cmocka_unit_test(a_loop_in_a_function), cmocka_unit_test(a_test_that_leaves),
        cmocka_unit_test(a_body_elsewhere),     cmocka_unit_test(what_counts_a_drop),
        cmocka_unit_test(not_of_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
