/* Errors: statuses have texts, long texts are cut in the middle, names stay in one line, prefixes keep the status. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "support/cmocka_all.h"

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int s = DEVLOG_OK; s <= DEVLOG_ERR_PARTIAL; s++)
        assert_string_not_equal(devlog_status_text((devlog_status)s), "unknown status");
    assert_string_equal(devlog_status_text((devlog_status)999), "unknown status");
}

static void text_is_cut_not_overrun(void **state)
{
    (void)state;
    devlog_error err;
    char big[5000];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = 0;
    assert_int_equal(dl_fail(&err, DEVLOG_ERR_IO, "%s", big), DEVLOG_ERR_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(dl_fail_in(&err, "%s", big), DEVLOG_ERR_IO);
    /* The beginning and the end are there: what it is about, and why. */
    dl_fail(&err, DEVLOG_ERR_IO, "begin %s: why", big);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strncmp(err.text, "begin xxx", 9), 0);
    assert_non_null(strstr(err.text, "xxx...xxx"));
    assert_string_equal(err.text + strlen(err.text) - 8, "xxx: why");
    dl_fail_errno(&err, ENOENT, "cannot open %s", big);
    assert_non_null(strstr(err.text, "xxx: No such file or directory"));
    dl_fail(&err, DEVLOG_ERR_IO, "why");
    dl_fail_in(&err, "%s", big);
    assert_non_null(strstr(err.text, "xxx: why"));
    /* Letters are not cut. */
    for (size_t i = 0; i + 2 < sizeof big; i += 2)
        memcpy(big + i, "\xC3\xA4", 3);
    dl_fail(&err, DEVLOG_ERR_IO, "%s", big);
    for (const char *c = err.text; *c; c++)
        assert_true((unsigned char)*c >= 0x80 || *c == '.' || *c == '?');
    assert_int_equal(dl_fail(NULL, DEVLOG_ERR_IO, "%s", big), DEVLOG_ERR_IO);
}

static void names_stay_in_their_line(void **state)
{
    (void)state;
    devlog_error err;
    dl_fail(&err, DEVLOG_ERR_IO, "cannot read %s: %s", "a\nb\n", "why");
    assert_string_equal(err.text, "cannot read a?b?: why");
    dl_fail(&err, DEVLOG_ERR_COMPILE, "does not compile:\n%s", "a\nb");
    assert_string_equal(err.text, "does not compile:\na\nb");
    dl_fail_in(&err, "kernel %s", "x\n");
    assert_string_equal(err.text, "kernel x?: does not compile:\na\nb");
}

static void prefix_and_errno(void **state)
{
    (void)state;
    devlog_error err;
    assert_int_equal(dl_fail_errno(&err, ENOENT, "cannot open %s", "a.csv"), DEVLOG_ERR_IO);
    assert_int_equal(dl_fail_in(&err, "decode"), DEVLOG_ERR_IO);
    assert_string_equal(err.text, "decode: cannot open a.csv: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(text_is_cut_not_overrun),
        cmocka_unit_test(names_stay_in_their_line),
        cmocka_unit_test(prefix_and_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
