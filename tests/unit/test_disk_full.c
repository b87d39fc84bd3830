/* A disk without room: a limit on the size of files, which write(2) tells in the same way. Whatever was to be
 * written is not there afterwards, nor is half of it, a temporary name or a folder that was made for it; what
 * was there before is as it was; and one line says what could not be written. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/page.h"

/* Runs "devlog LINE" in the scratch folder with no file larger than this; *said, freed by the caller, is what
 * it printed, into a pipe. */
static int devlog_with(rlim_t most, const char *line, char **said)
{
    struct rlimit before, limit;
    dl_str whole = {0};
    devlog_error err;
    dl_output out;
    dl_str_fmt(&whole, "cd '%s' && '%s' %s", scratch(), getenv("DEVLOG_BIN"), line);
    const char *argv[] = {"/bin/sh", "-c", whole.text, NULL};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){most, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN); /* also in the child: its write fails */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    devlog_status status = dl_process_run(argv, &out, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, DEVLOG_OK);
    dl_str_free(&whole);
    *said = out.text;
    return out.exit;
}

/* Names in a folder of the scratch folder, each with a blank behind it; "-" where there is none. */
static void names_in(const char *folder, char *names, size_t size)
{
    DIR *dir = opendir(in_scratch(folder));
    size_t n = 0;
    snprintf(names, size, "-");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') n += (size_t)snprintf(names + n, size - n, "%s ", e->d_name);
    if (dir && !n) names[0] = '\0';
    if (dir) closedir(dir);
}

static void expect_names(const char *folder, const char *expected)
{
    char names[1000];
    names_in(folder, names, sizeof names);
    assert_string_equal(names, expected);
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Of four chips, 64 KB of rows each. */
static int setup(void **state)
{
    (void)state;
    const page_log log = {
        .chips = 4, .columns = 2, .rows = 2, .riscs = 2, .launches = 4, .zones = 8, .values = true};
    page_log_write(in_scratch("log.csv"), &log);
    return 0;
}

static void decode_leaves_all_or_nothing(void **state)
{
    (void)state;
    char *err, *before, *after;
    size_t n;
    struct stat st;
    free(devlog_ok("decode log.csv --chips 0 -o whole", 0));
    assert_int_equal(stat(in_scratch("whole/device_perf.html"), &st), 0);
    const rlim_t page = (rlim_t)st.st_size;
    assert_int_equal(stat(in_scratch("whole/device_stats.txt"), &st), 0);
    assert_true((rlim_t)st.st_size < page); /* the statistics fit, the page does not */
    assert_int_equal(devlog_with(page - 100, "decode log.csv --chips 0 -o made/for/it >/dev/null", &err), 1);
    if (!strstr(err, "device_perf.html")) print_message("%s\n", err);
    assert_non_null(strstr(err, "cannot write made/for/it/device_perf.html: "));
    assert_int_equal(lines_of(err), 1);
    expect_names("made", "-");
    free(err);
    assert_int_equal(devlog_with(page - 100, "decode log.csv --chips 0 -o made/for/it 2>/dev/null", &err), 1);
    assert_null(strstr(err, "Files:"));
    free(err);
    /* Results of an earlier run stay, all of them. */
    free(devlog_ok("decode log.csv --chips 0 -o there --launches 1024", 0));
    before = read_bytes(in_scratch("there/device_stats.txt"), &n);
    assert_int_equal(devlog_with(page - 100, "decode log.csv --chips 0 -o there", &err), 1);
    free(err);
    after = read_bytes(in_scratch("there/device_stats.txt"), &n);
    assert_string_equal(before, after);
    free(before);
    free(after);
    char names[1000];
    names_in("there", names, sizeof names);
    assert_int_equal(strlen(names),
                     strlen("device_stats.txt device_rearranged_timestamps.csv device_perf.html "
                            "device_perf_results.tar "));
    /* The tar alone does not fit: it is larger than each that is in it. */
    assert_int_equal(devlog_with(page + 100, "decode log.csv --chips 0 -o tarless", &err), 1);
    assert_non_null(strstr(err, "cannot write tarless/device_perf_results.tar: "));
    expect_names("tarless", "-");
    free(err);
}

/* Every format at every size: it is there whole, or not at all. */
static void exports_leave_all_or_nothing(void **state)
{
    (void)state;
    static const char *const formats[] = {"perfetto",  "chrome", "speedscope", "ctf",    "xplane",
                                          "collapsed", "csv",    "json",       "sqlite", "fxt"};
    static const rlim_t sizes[] = {0, 100, 3000, 6000, 30000};
    mkdir(in_scratch("exports"), 0777);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        int failed = 0;
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            char line[200], *err;
            snprintf(line, sizeof line, "export -f %s -o exports/trace log.csv", formats[i]);
            if (devlog_with(sizes[k], line, &err) == 1) {
                failed++;
                if (!strstr(err, "cannot write exports/trace") || lines_of(err) != 1)
                    print_message("%s at %lu: %s\n", formats[i], (unsigned long)sizes[k], err);
                assert_non_null(strstr(err, "cannot write exports/trace"));
                assert_int_equal(lines_of(err), 1);
                expect_names("exports", "");
            } else {
                expect_names("exports", "trace ");
                snprintf(line, sizeof line, "rm -rf '%s'", in_scratch("exports/trace"));
                assert_int_equal(system(line), 0);
            }
            free(err);
        }
        assert_true(failed > 0);
    }
}

/* A CTF trace is a file for each chip and one that describes them: not the first chip without the others. */
static void a_folder_of_files_is_whole(void **state)
{
    (void)state;
    char *err;
    int failed = 0;
    for (rlim_t size = 500; size < 40000; size += 1500) {
        if (devlog_with(size, "export -f ctf -o ctf log.csv", &err) == 1) {
            failed++;
            expect_names("ctf", "-");
        } else {
            char names[1000];
            names_in("ctf", names, sizeof names);
            assert_int_equal(strlen(names), strlen("metadata chip_0 chip_1 chip_2 chip_3 "));
            free(err);
            break;
        }
        free(err);
    }
    assert_true(failed > 2);
}

static void a_report_of_ops_has_its_tar(void **state)
{
    (void)state;
    char *err;
    struct stat st;
    mkdir(in_scratch("logs"), 0777);
    /* Logs that name their run are devlog's own: their report has a tar. */
    char line[400];
    snprintf(line, sizeof line, "sed '1s/$/, Run: 0123456789abcdef/' %s > ", in_scratch("log.csv"));
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s",
             in_scratch("logs/profile_log_device.csv"));
    assert_int_equal(system(line), 0);
    int status = devlog("ops -i logs -o ops", NULL, &err);
    if (status == 1) print_message("%s\n", err);
    assert_int_not_equal(status, 1);
    free(err);
    assert_int_equal(stat(in_scratch("ops/ops_perf_results.csv"), &st), 0);
    assert_int_equal(devlog_with((rlim_t)st.st_size + 10, "ops -i logs -o ops2", &err), 1);
    assert_non_null(strstr(err, "cannot write ops2/ops_perf_results.tar: "));
    expect_names("ops2", "-");
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_leaves_all_or_nothing),
        cmocka_unit_test(exports_leave_all_or_nothing),
        cmocka_unit_test(a_folder_of_files_is_whole),
        cmocka_unit_test(a_report_of_ops_has_its_tar),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
