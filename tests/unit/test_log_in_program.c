/* devlog/decode.h in programs that do more than read logs: they fork, and have a locale of their own. Not for what a log has
 * (test_log_api). */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"

#include "support/cli.h"
#include "support/comma.h"
#include "support/files.h"
#include "support/logs.h"

/* In a child the thread that reads is not there. */
static void a_child_reads_for_itself(void **state)
{
    (void)state;
    dl_str text = {0};
    test_log(&text, 9, 600, 3);
    const char *path = in_scratch("forks.csv");
    write_text(path, text.text);
    dl_str_free(&text);
    /* AddressSanitizer's allocator, of GCC 12, may not be used in a child that was forked while another thread uses it. */
    const devlog_log_options one_thread = DEVLOG_LOG_OPTIONS(.threads = 1);
    devlog_error err = {0};
    devlog_batch b;
    for (int what = 0; what < 4; what++) {
        devlog_log *log;
        assert_int_equal(devlog_log_open(&path, 1, &one_thread, &log, &err), DEVLOG_OK);
        assert_int_equal(devlog_log_next(log, &b, &err), DEVLOG_OK);
        assert_false(b.last);
        if (what == 3) assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
        const pid_t child = fork();
        if (child == 0) {
            bool good = true;
            alarm(30); /* it would wait for ever */
            if (what == 0)
                good = devlog_log_next(log, &b, &err) == DEVLOG_ERR_STATE && strstr(err.text, "forked");
            if (what == 1) good = devlog_log_finish(log, &err) == DEVLOG_ERR_STATE;
            if (what == 3)
                good = devlog_log_next(log, &b, &err) == DEVLOG_OK && b.last && devlog_log_complete(log);
            devlog_log_close(log);
            good = good && devlog_log_open(&path, 1, NULL, &log, &err) == DEVLOG_OK &&
                   devlog_log_finish(log, &err) == DEVLOG_OK;
            devlog_log_close(log);
            _exit(good ? 0 : 9);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
        assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK); /* the parent is none the wiser */
        assert_true(devlog_log_complete(log));
        devlog_log_close(log);
    }
}

/* A fraction of the log is read by whichever thread comes to it: of short logs the one, of long ones another. */
static void a_program_may_have_a_comma(void **state)
{
    (void)state;
    dl_str text = {0};
    comma_locale();
    for (unsigned launches = 2; launches <= 2000; launches *= 1000) {
        static const char head[] = "Chip clock is at 1.25 GHz\n";
        const char *path = in_scratch("fraction.csv");
        devlog_error err = {0};
        devlog_log *log;
        dl_str_clear(&text);
        test_log(&text, 0, launches, 1);
        char *rest = strchr(text.text, '\n') + 1;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(head, f);
        fputs(rest, f);
        fclose(f);
        assert_int_equal(devlog_log_open(&path, 1, NULL, &log, &err), DEVLOG_OK);
        assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
        assert_true(devlog_log_chip(log, 0).mhz == 1250);
        devlog_log_close(log);
        assert_string_equal(localeconv()->decimal_point, ","); /* it is left as it was */
    }
    dl_str_free(&text);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_reads_for_itself),
        cmocka_unit_test(a_program_may_have_a_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
