/* Texts as terminals may show them: nothing that a name holds reaches the terminal as a command. And numbers
 * as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "base/str.h"
#include "support/cmocka_all.h"

static void control_characters_are_shown_not_obeyed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"Matmul", "Matmul"},
        {"", ""},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"two\nlines\r\tand a bell\a", "two\\nlines\\r\\tand a bell\\x07"},
        {"\x7f", "\\x7f"},
        {"\xC2\x9b"
         "31m",
         "\\x9b31m"}, /* the one-character CSI of Latin-1 */
        {"\xC3\xA4\xF0\x9F\x98\x80", "\xC3\xA4\xF0\x9F\x98\x80"},
        {"half \xC3", "half \\xc3"},
        {"\x9b"
         "31m",
         "\\x9b31m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dl_str s = {0};
        dl_str_add(&s, "");
        dl_str_shown(&s, cases[i].text, strlen(cases[i].text));
        assert_string_equal(s.text ? s.text : "", cases[i].shown);
        dl_str_free(&s);
    }
    dl_str s = {0};
    dl_str_shown(&s, "a\0b", 3);
    assert_string_equal(s.text, "a\\x00b");
    dl_str_free(&s);
}

static void errors_hold_nothing_that_a_terminal_obeys(void **state)
{
    (void)state;
    devlog_error err;
    dl_fail(&err, DEVLOG_ERR_FORMAT, "op '%s' of\n%s", "\x1b]0;title\a", "\xC2\x9bz \xC3\xA4 \xff");
    assert_string_equal(err.text, "op '?]0;title?' of\n??z \xC3\xA4 ?");
    dl_fail_in(&err, "in %s", "\x1b");
    assert_string_equal(err.text, "in ?: op '?]0;title?' of\n??z \xC3\xA4 ?");
}

static void expect_digits(uint64_t value)
{
    char expected[32], got[DL_NEAR_BYTES + 2];
    int n = snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
    memset(got, '#', sizeof got);
    char *end = dl_digits(got, value);
    assert_int_equal(end - got, n);
    assert_memory_equal(got, expected, (size_t)n);
    assert_memory_equal(got + DL_U64_DIGITS, "##", 2); /* no more than that many bytes are written to */
    memset(got, '#', sizeof got);
    assert_int_equal(dl_digits_short(got, value) - got, n);
    assert_memory_equal(got, expected, (size_t)n);
    assert_memory_equal(got + DL_U64_DIGITS, "##", 2);
    static dl_near near; /* of the value before, near or far */
    for (int i = 0; i < 2; i++) {
        memset(got, '#', sizeof got);
        assert_int_equal(dl_digits_near(&near, got, value) - got, n);
        assert_memory_equal(got, expected, (size_t)n);
        assert_memory_equal(got + DL_NEAR_BYTES, "##", 2);
    }
}

static void digits_are_those_of_printf(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 1200000; value++) /* every three digits, and every half of eight */
        expect_digits(value);
    uint64_t value = 1;
    for (int i = 0; i < 20000; i++) {
        const uint64_t values[] = {value, value - 1, value >> (i % 64), UINT64_MAX - value, value * 10000};
        for (size_t k = 0; k < 5; k++)
            expect_digits(values[k]);
        value = i < 20 ? value * 10 : value * 6364136223846793005u + 1442695040888963407u;
    }
    /* Across what is kept: up, down, and from the greatest to what it would be if numbers went on behind it. */
    for (int i = -3; i < 3; i++)
        expect_digits(UINT64_C(123400000000) + (uint64_t)i);
    for (int i = 3; i-- > -3;)
        expect_digits(UINT64_C(100000000) + (uint64_t)i);
    expect_digits(UINT64_MAX);
    expect_digits(5);
    char got[16];
    *dl_digits_fixed(got, 42, 3) = 0;
    assert_string_equal(got, "042");
    *dl_digits_fixed(got, 123456789, 9) = 0;
    assert_string_equal(got, "123456789");
    dl_str s = {0};
    for (int i = 0; i < 1000; i++) /* over many ends of its memory */
        dl_str_u64(&s, UINT64_MAX);
    assert_int_equal(s.len, 20000);
    assert_string_equal(s.text + 19980, "18446744073709551615");
    dl_str_free(&s);
}

/* As printf and strtod say it: no shorter text of 15 digits or more is read as the same double. */
static void expect_real(double value)
{
    char expected[64];
    dl_str got = {0};
    int digits = 15;
    do
        snprintf(expected, sizeof expected, "%.*g", digits, value);
    while (strtod(expected, NULL) != value && digits++ < 17);
    if (!strpbrk(expected, ".e")) strcat(expected, ".0");
    dl_str_real(&got, value);
    assert_string_equal(got.text, expected);
    assert_int_equal(got.len, strlen(expected));
    dl_str_free(&got);
}

static void real_numbers_are_as_short_as_they_can_be_read(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    0.1,
                                    0.5,
                                    1,
                                    1.5,
                                    1.0000000000000002,
                                    9.999999999999998,
                                    0.9999999999999999,
                                    1e15,
                                    1e15 + 0.5,
                                    999999999999999.9,
                                    999999999999999.5,
                                    99999999999999.98,
                                    1e14 + 0.5,
                                    123456789012345.6,
                                    1.05,
                                    2.5,
                                    1e300,
                                    4.35,
                                    8192.125,
                                    562949953421311.9,
                                    562949953421312.1,
                                    1e-7,
                                    1.0 / 3,
                                    10.0 / 3,
                                    1e14 / 3,
                                    9e14 / 7};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect_real(values[i]);
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) { /* averages, and doubles of any bits between 1 and 10^15 */
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        expect_real((double)(random >> (11 + i % 50)) / (double)(1 + i % 3000));
        double any;
        const uint64_t bits = (UINT64_C(1023) + (uint64_t)i % 50) << 52 | random >> 12;
        memcpy(&any, &bits, sizeof any);
        expect_real(any);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_shown_not_obeyed),
        cmocka_unit_test(real_numbers_are_as_short_as_they_can_be_read),
        cmocka_unit_test(errors_hold_nothing_that_a_terminal_obeys),
        cmocka_unit_test(digits_are_those_of_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
