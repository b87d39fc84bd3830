/* Running other programs (base/process.h): what they print, how they end, and that what cannot be known is no success. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "support/cmocka_all.h"

static void output_and_end(void **state)
{
    (void)state;
    static const char *const says[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL},
                             *const killed[] = {"sh", "-c", "kill -9 $$", NULL},
                             *const missing[] = {"no-such-program", NULL};
    devlog_error err = {0};
    dl_output out;
    char *errors;
    assert_int_equal(dl_run_apart(says, &out, &errors, &err), DEVLOG_OK);
    assert_string_equal(out.text, "out\n");
    assert_string_equal(errors, "err\n");
    assert_int_equal(out.exit, 3);
    free(out.text);
    free(errors);
    assert_int_equal(dl_process_run(killed, &out, &err), DEVLOG_OK);
    assert_int_equal(out.exit, 128 + SIGKILL);
    free(out.text);
    assert_int_equal(dl_process_run(missing, &out, &err), DEVLOG_ERR_NOT_FOUND);
}

/* A program may ignore SIGCHLD, as may whoever started it: then no call says how a child ended. */
static void an_end_that_nobody_sees(void **state)
{
    (void)state;
    static const char *const argv[] = {"sh", "-c", "echo out; exit 3", NULL};
    devlog_error err = {0};
    dl_output out;
    signal(SIGCHLD, SIG_IGN);
    const devlog_status status = dl_process_run(argv, &out, &err);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(status, DEVLOG_ERR_STATE);
    assert_null(out.text);
    assert_non_null(strstr(err.text, "how 'sh' ended is not known"));
    assert_non_null(strstr(err.text, "SIGCHLD"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_end),
        cmocka_unit_test(an_end_that_nobody_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
