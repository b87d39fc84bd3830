/* Errors: statuses have texts, long texts are cut, prefixes keep the status. */
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
    assert_int_equal(dl_fail(NULL, DEVLOG_ERR_IO, "%s", big), DEVLOG_ERR_IO);
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
        cmocka_unit_test(prefix_and_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
