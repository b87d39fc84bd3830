/* String literals of C: every escape, raw and adjacent ones; what is none is left as it is; and no text,
 * however damaged, is read or written beyond its end. */
#include <stdlib.h>
#include <string.h>

#include "base/cliteral.h"
#include "support/cmocka_all.h"

static const struct {
    const char *literal, *text; /* NULL: is no literal */
} cases[] = {
    {"\"abc\"", "abc"},
    {"\"\"", ""},
    {"\"a\" \"b\"  \"c\"", "abc"},
    {"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\"", "\a\b\f\n\r\t\v\\'\"?"},
    {"\"\\x41\\x042\\101\\60a\\7\"", "AB"
                                     "A0a\a"},
    {"\"\\u00e9\\u20ac\\U0001F600\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"u8\"x\"", "x"},
    {"R\"(a\\n\"b)\"", "a\\n\"b"},
    {"R\"xy(a)\" )x\" )xy\" \"\\x2e\"", "a)\" )x\" ."},
    {"u8R\"()\"", ""},
    {"name", NULL},
    {"", NULL},
    {"12", NULL},
    {"L\"wide\"", NULL},
    {"u\"x\"", NULL},
    {"\"a\"_suffix", NULL},
    {"\"open", NULL},
    {"\"a\" name", NULL},
    {"\"\\q\"", NULL},
    {"\"\\u12\"", NULL},
    {"\"\\ud800\"", NULL},
    {"\"\\U00110000\"", NULL},
    {"R\"12345678901234567()\"", NULL},
    {"R\"(open\"", NULL},
};

static void literals_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = strdup(cases[i].literal);
        size_t length = 0;
        bool literal = dl_c_literal(text, &length);
        assert_int_equal(literal, cases[i].text != NULL);
        assert_string_equal(text, cases[i].text ? cases[i].text : cases[i].literal);
        if (literal) assert_int_equal(length, strlen(cases[i].text));
        free(text);
    }
    char zero[] = "\"a\\0b\"";
    size_t length = 0;
    assert_true(dl_c_literal(zero, &length));
    assert_int_equal(length, 3);
    assert_memory_equal(zero, "a\0b", 4);
}

static void damaged_literals_stay_inside(void **state)
{
    (void)state;
    static const char from[] = "\"\\xuURR8()ab01 \"\\\"\n)";
    uint32_t x = 1;
    for (int i = 0; i < 200000; i++) {
        size_t n = x % 24;
        char *text = malloc(n + 1), *before;
        assert_non_null(text);
        for (size_t k = 0; k < n; k++) {
            x = x * 1664525u + 1013904223u;
            text[k] = from[(x >> 16) % (sizeof from - 1)];
        }
        text[n] = 0;
        x = x * 1664525u + 1013904223u;
        before = strdup(text);
        size_t length = 0;
        if (dl_c_literal(text, &length))
            assert_true(length <= n);
        else
            assert_string_equal(text, before);
        free(before);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_read),
        cmocka_unit_test(damaged_literals_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
