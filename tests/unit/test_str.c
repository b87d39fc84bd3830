/* Texts as terminals may show them: nothing that a name holds reaches the terminal as a command. */
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_shown_not_obeyed),
        cmocka_unit_test(errors_hold_nothing_that_a_terminal_obeys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
