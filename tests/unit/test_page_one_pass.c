/* The answers in device_perf.html are made of the runs that the page is made of: the log is not needed once more, and they are what
 * they are when it is read again. Of device logs, packed logs and captures, alone and in the folder of a run with ops. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/page_answers.h"
#include "report/results.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page.h"

/* When everything has been decoded, the log goes away. */
static devlog_status lose(void *ctx, dl_decode *d, devlog_error *err)
{
    const char *const *names = ctx;
    (void)d;
    return rename(names[0], names[1]) == 0 ? DEVLOG_OK : dl_fail_errno(err, errno, "rename");
}

/* As who reads the log again has it: the page's decoder is known (its chips' grids are of it), and gives no runs. */
static bool only_told(void *ctx, dl_decode *decode, dl_run_sink *out)
{
    (void)out;
    ((cli_page_asked *)ctx)->decode = decode;
    return false;
}

/* The page of a log; `beside`: the answers have the decoder's runs. */
static char *page_of(char *log, const char *folder, bool beside, bool loses)
{
    char away[700], page[700];
    const char *names[] = {log, away};
    const cli_filters none = {0};
    const dl_filter all = {0};
    devlog_error err = {0};
    size_t n;
    cli_page_asked asked = cli_page_ask(&log, 1, NULL, &none, &all);
    snprintf(away, sizeof away, "%s.away", log);
    const dl_results_options how = {.check = loses ? lose : NULL,
                                    .ctx = names,
                                    .answers = cli_page_answers,
                                    .answers_runs = beside ? cli_page_runs : only_told,
                                    .answers_ctx = &asked};
    check_ok(dl_results_make(log, folder, &how, NULL, &err), &err);
    cli_page_asked_free(&asked);
    if (loses) assert_int_equal(rename(away, log), 0);
    snprintf(page, sizeof page, "%s/device_perf.html", folder);
    return read_bytes(page, &n);
}

static void reads_once(const char *path)
{
    char *log = strdup(path), folder[600];
    snprintf(folder, sizeof folder, "%s", in_scratch("one_pass"));
    char *twice = page_of(log, folder, false, false);
    char *once = page_of(log, folder, true, false);
    char *lost = page_of(log, folder, true, true);
    char *without = page_of(log, folder, false, true);
    assert_non_null(strstr(twice, "id=\"answers\""));
    if (strcmp(once, twice) != 0) fail_msg("%s: another page when the answers have the runs", path);
    if (strcmp(lost, twice) != 0) fail_msg("%s: the log was read once more", path);
    assert_string_not_equal(without, twice); /* without its runs the log is missed */
    free(twice);
    free(once);
    free(lost);
    free(without);
    free(log);
}

static void device_logs(void **state)
{
    (void)state;
    char path[600], line[1400];
    const page_log log = {.chips = 2,
                          .columns = 3,
                          .rows = 2,
                          .riscs = 5,
                          .launches = 40,
                          .zones = 5,
                          .drops = true,
                          .values = true,
                          .shuffled = true,
                          .slow = 3,
                          .slower = 700,
                          .staggered = 30};
    snprintf(path, sizeof path, "%s", in_scratch("profile_log_device.csv"));
    page_log_write(path, &log);
    reads_once(path);
    snprintf(line, sizeof line, "pack %s -o %s.dlz", path, path);
    free(devlog_ok(line, 0));
    strcat(path, ".dlz");
    reads_once(path);
}

static void captures(void **state)
{
    (void)state;
    char path[700], folder[600];
    snprintf(folder, sizeof folder, "%s", in_scratch("captured"));
    page_capture_write(folder);
    snprintf(path, sizeof path, "%s/capture.devlog", folder);
    reads_once(path);
}

static void runs_with_ops(void **state)
{
    (void)state;
    reads_once(page_network());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(device_logs), cmocka_unit_test(captures),
                                       cmocka_unit_test(runs_with_ops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
