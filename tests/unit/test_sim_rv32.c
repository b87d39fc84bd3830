/* Every RV32IM instruction that computes: results, edge cases, x0. Loads, stores and jumps:
 * test_sim_memory.c, test_sim_jumps.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

#define MIN 0x80000000u
#define MAX 0x7FFFFFFFu
#define ALL 0xFFFFFFFFu

/* Runs `word` with a0 and a1 as given; the result is in a2. */
static uint32_t compute(uint32_t word, uint32_t a, uint32_t b, bool functional)
{
    sim_config c = rig_config();
    c.functional = functional;
    c.n_tiles = 1;
    sim *s = rig_create(&c);
    RIG_RUN(s, 100, RV_LI(A0, a), RV_LI(A1, b), word, RV_HERE);
    uint32_t result = rig_x(s, 0, BRISC, A2);
    assert_int_equal(rig_x(s, 0, BRISC, ZERO), 0);
    sim_destroy(s);
    return result;
}

typedef struct two {
    uint32_t a, b, expected;
} two;

static void check_two(const char *name, uint32_t word, const two *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int functional = 0; functional < 2; functional++) {
            uint32_t got = compute(word, cases[i].a, cases[i].b, functional);
            if (got != cases[i].expected)
                fail_msg("%s 0x%x, 0x%x: got 0x%x, not 0x%x", name, cases[i].a, cases[i].b, got,
                         cases[i].expected);
        }
}

#define CHECK(instruction, ...)                                                                              \
    do {                                                                                                     \
        const two cases_[] = {__VA_ARGS__};                                                                  \
        check_two(#instruction, RV_##instruction(A2, A0, A1), cases_, sizeof cases_ / sizeof *cases_);       \
    } while (0)

#define CHECK_IMM(instruction, imm, ...)                                                                     \
    do {                                                                                                     \
        const two cases_[] = {__VA_ARGS__};                                                                  \
        check_two(#instruction, RV_##instruction(A2, A0, imm), cases_, sizeof cases_ / sizeof *cases_);      \
    } while (0)

static void add_and_subtract_wrap(void **state)
{
    (void)state;
    CHECK(ADD, {2, 3, 5}, {ALL, 1, 0}, {MAX, 1, MIN}, {MIN, MIN, 0});
    CHECK(SUB, {2, 3, ALL}, {MIN, 1, MAX}, {0, MIN, MIN}, {7, 7, 0});
    CHECK_IMM(ADDI, 2047, {1, 0, 2048}, {ALL, 0, 2046});
    CHECK_IMM(ADDI, -2048, {0, 0, 0xFFFFF800}, {2048, 0, 0});
}

static void logic(void **state)
{
    (void)state;
    CHECK(AND, {0xF0F0F0F0, 0xFF00FF00, 0xF000F000}, {ALL, 0, 0});
    CHECK(OR, {0xF0F0F0F0, 0xFF00FF00, 0xFFF0FFF0}, {0, 0, 0});
    CHECK(XOR, {0xF0F0F0F0, 0xFF00FF00, 0x0FF00FF0}, {ALL, ALL, 0});
    CHECK_IMM(ANDI, -16, {0x1234567F, 0, 0x12345670});
    CHECK_IMM(ORI, -16, {3, 0, 0xFFFFFFF3});
    CHECK_IMM(XORI, -1, {0x12345678, 0, 0xEDCBA987});
}

static void compare(void **state)
{
    (void)state;
    CHECK(SLT, {1, 2, 1}, {2, 1, 0}, {MIN, MAX, 1}, {MAX, MIN, 0}, {5, 5, 0});
    CHECK(SLTU, {1, 2, 1}, {ALL, 1, 0}, {1, ALL, 1}, {5, 5, 0});
    CHECK_IMM(SLTI, -1, {0xFFFFFFFE, 0, 1}, {ALL, 0, 0}, {0, 0, 0}, {MIN, 0, 1});
    CHECK_IMM(SLTIU, -1, {0, 0, 1}, {ALL, 0, 0}, {0xFFFFFFFE, 0, 1});
    CHECK_IMM(SLTIU, 1, {0, 0, 1}, {1, 0, 0}); /* seqz */
}

static void shifts_use_five_bits(void **state)
{
    (void)state;
    CHECK(SLL, {1, 31, MIN}, {1, 32, 1}, {1, 33, 2}, {ALL, 0, ALL});
    CHECK(SRL, {MIN, 31, 1}, {MIN, 32, MIN}, {ALL, 4, 0x0FFFFFFF});
    CHECK(SRA, {MIN, 31, ALL}, {MIN, 32, MIN}, {0x40000000, 30, 1}, {0xFFFFFFF0, 4, ALL});
    CHECK_IMM(SLLI, 31, {3, 0, MIN});
    CHECK_IMM(SLLI, 0, {3, 0, 3});
    CHECK_IMM(SRLI, 31, {MIN, 0, 1});
    CHECK_IMM(SRAI, 31, {MIN, 0, ALL}, {MAX, 0, 0});
    CHECK_IMM(SRAI, 0, {MIN, 0, MIN});
}

static void multiply_gives_both_halves(void **state)
{
    (void)state;
    CHECK(MUL, {7, 6, 42}, {ALL, ALL, 1}, {MIN, 2, 0}, {0x10001, 0x10001, 0x20001});
    CHECK(MULH, {ALL, ALL, 0}, {MIN, MIN, 0x40000000}, {MIN, 1, ALL}, {MAX, MAX, 0x3FFFFFFF},
          {MIN, MAX, 0xC0000000});
    CHECK(MULHU, {ALL, ALL, 0xFFFFFFFE}, {MIN, MIN, 0x40000000}, {MIN, 1, 0}, {0x10000, 0x10000, 1});
    CHECK(MULHSU, {ALL, ALL, ALL}, {MIN, ALL, MIN}, {1, ALL, 0}, {MAX, ALL, 0x7FFFFFFE}, {ALL, 1, ALL});
}

static void divide_by_zero_and_overflow(void **state)
{
    (void)state;
    CHECK(DIV, {20, 6, 3}, {-20u, 6, -3u}, {20, -6u, -3u}, {-20u, -6u, 3}, {1, 0, ALL}, {0, 0, ALL},
          {MIN, ALL, MIN}, {MIN, 1, MIN}, {MIN, 0, ALL});
    CHECK(DIVU, {20, 6, 3}, {-20u, 6, 0x2AAAAAA7}, {1, 0, ALL}, {MIN, ALL, 0}, {ALL, ALL, 1});
    CHECK(REM, {20, 6, 2}, {-20u, 6, -2u}, {20, -6u, 2}, {-20u, -6u, -2u}, {7, 0, 7}, {MIN, ALL, 0},
          {MIN, 0, MIN});
    CHECK(REMU, {20, 6, 2}, {-20u, 6, 2}, {7, 0, 7}, {MIN, ALL, MIN});
}

static void upper_immediates(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 50, RV_LUI(A0, 0xFFFFF), RV_AUIPC(A1, 0), RV_AUIPC(A2, 0x80000), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, A0), 0xFFFFF000);
    assert_int_equal(rig_x(s, 0, BRISC, A1), 4);
    assert_int_equal(rig_x(s, 0, BRISC, A2), 0x80000008);
    sim_destroy(s);
}

static void x0_stays_zero(void **state)
{
    (void)state;
    const uint32_t words[] = {RV_ADDI(ZERO, A0, 5),
                              RV_LUI(ZERO, 7),
                              RV_AUIPC(ZERO, 7),
                              RV_MUL(ZERO, A0, A1),
                              RV_DIV(ZERO, A0, A1),
                              RV_LW(ZERO, ZERO, 0),
                              RV_SLLI(ZERO, A0, 3),
                              RV_SLT(ZERO, A0, A1),
                              RV_FENCE,
                              RV_FENCE_I};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(compute(words[i], 3, 9, i & 1), 0);
}

/* A result is visible to the very next instruction, whatever came before. */
static void results_chain(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    RIG_RUN(s, 100, RV_ADDI(A0, ZERO, 1), RV_ADD(A0, A0, A0), RV_MUL(A0, A0, A0), RV_SLLI(A0, A0, 4),
            RV_DIV(A1, A0, A0), RV_SUB(A2, A0, A1), RV_HERE);
    assert_int_equal(rig_x(s, 0, BRISC, A2), 63);
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_subtract_wrap),
        cmocka_unit_test(logic),
        cmocka_unit_test(compare),
        cmocka_unit_test(shifts_use_five_bits),
        cmocka_unit_test(multiply_gives_both_halves),
        cmocka_unit_test(divide_by_zero_and_overflow),
        cmocka_unit_test(upper_immediates),
        cmocka_unit_test(x0_stays_zero),
        cmocka_unit_test(results_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
