/* Which zones of host code in a folder are of the run of a log there: by ids, by when they were recorded, by another process of the run,
 * and by less where logs say less. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers/inputs.h"
#include "decode/capture/capture.h"
#include "devlog/host.h"
#include "support/device.h"
#include "support/files.h"
#include "support/host_child.h"

enum { YEAR = 1700000000 };

static const char *folder;

static const char *path_of(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void written_at(const char *name, int second)
{
    const struct timespec at[] = {{YEAR + second, 5}, {YEAR + second, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path_of(name), at, 0), 0);
}

/* A capture of this run that began and was written last in these seconds; from < 0: it does not say when it began. */
static void make(const char *name, uint64_t run, int from, int to)
{
    devlog_error err = {0};
    dl_capture *c;
    const dl_clock_reading now = {.real = (uint64_t)(YEAR + from) * 1000000000};
    check_ok(dl_capture_open(&c, folder, name, false, &err), &err);
    check_ok(
        dl_capture_put_chip(
            c, &(dl_capture_chip){.arch = "", .board = "", .transport = "", .boot = "", .run = run}, &err),
        &err);
    if (from >= 0)
        check_ok(dl_capture_put_host_clocks(c, &(dl_capture_host_clocks){0, 0, &now, 1}, &err), &err);
    check_ok(dl_capture_put_end(c, 0, &err), &err);
    check_ok(dl_capture_commit(c, &err), &err);
    dl_capture_close(c);
    written_at(name, to);
}

/* Whether these zones of host code are of the capture's run. */
static bool is(const char *host)
{
    return run_host_is_of(NULL, path_of(host), path_of("capture.devlog"));
}

static int fresh(void **state)
{
    (void)state;
    folder = test_folder();
    return 0;
}

static void by_when_they_were_recorded(void **state)
{
    (void)state;
    make("capture.devlog", 0, 100, 700);
    make("host_1.devlog", 0, 110, 130); /* a worker that ended long before the end */
    make("host_2.devlog", 0, 80, 99);   /* of the run before */
    make("host_3.devlog", 0, 700, 2000);
    make("host_4.devlog", 0, 702, 750); /* of the run behind it */
    assert_true(is("host_1.devlog"));
    assert_true(is("host_3.devlog"));
    assert_false(is("host_2.devlog"));
    assert_true(is("host_4.devlog")); /* while another process of the run was recorded */
    assert_int_equal(unlink(path_of("host_3.devlog")), 0);
    assert_false(is("host_4.devlog"));
    make("host_5.devlog", 0, 50, 101); /* began before the device was opened, as did one that ended then */
    assert_true(is("host_5.devlog"));
    assert_true(is("host_2.devlog"));
    make("host_6.devlog", 0, 10, 20);
    assert_false(is("host_6.devlog"));
    assert_true(run_hosts_overlap(path_of("host_2.devlog"), path_of("host_5.devlog")));
    assert_false(run_hosts_overlap(path_of("host_6.devlog"), path_of("host_5.devlog")));
}

static void by_ids(void **state)
{
    (void)state;
    make("capture.devlog", 7, 100, 700);
    make("host_1.devlog", 7, 10, 20); /* a program that ended before the next of the same run began */
    make("host_2.devlog", 8, 110, 130);
    make("host_3.devlog", 0, 110, 130);
    assert_true(is("host_1.devlog"));
    assert_false(is("host_2.devlog"));
    assert_true(is("host_3.devlog"));
    assert_false(run_hosts_overlap(path_of("host_1.devlog"), path_of("host_2.devlog")));
    make("host_5.devlog", 8, 10, 20);
    assert_false(run_hosts_overlap(path_of("host_1.devlog"), path_of("host_5.devlog")));
    assert_true(run_hosts_overlap(path_of("host_2.devlog"), path_of("host_5.devlog")));
}

/* A device log says its run's id, and when it began is said beside it. */
static void of_a_device_log(void **state)
{
    (void)state;
    const char *log = "profile_log_device.csv";
    char text[200];
    write_text(path_of(log), "ARCH: x, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 1, Run: 000000000000001f\n");
    written_at(log, 700);
    make("host_1.devlog", 0, 60, 70);
    make("host_2.devlog", 0x1f, 10, 20);
    make("host_3.devlog", 0x2f, 690, 700);
    make("host_4.devlog", 0, 650, 660);
    assert_false(run_host_is_of(NULL, path_of("host_1.devlog"),
                                path_of(log))); /* nobody knows when it began: a minute */
    assert_true(run_host_is_of(NULL, path_of("host_2.devlog"), path_of(log)));
    assert_false(run_host_is_of(NULL, path_of("host_3.devlog"), path_of(log)));
    assert_true(run_host_is_of(NULL, path_of("host_4.devlog"), path_of(log)));
    make("capture.devlog", 0x2f, 50, 700); /* of another run */
    assert_false(run_host_is_of(NULL, path_of("host_1.devlog"), path_of(log)));
    make("capture.devlog", 0x1f, 65, 700);
    assert_true(run_host_is_of(NULL, path_of("host_1.devlog"), path_of(log)));
    make("capture.devlog", 0x1f, 80, 700);
    assert_false(run_host_is_of(NULL, path_of("host_1.devlog"), path_of(log)));
    snprintf(
        text, sizeof text,
        "{\"e\":\"run\",\"t\":5,\"version\":1,\"run\":\"000000000000001f\",\"pid\":3,\"wall_ns\":%llu}\n",
        (YEAR + 62) * 1000000000ull);
    write_text(path_of("profile_log_ops.jsonl"), text);
    written_at("profile_log_ops.jsonl", 700);
    assert_true(run_host_is_of(NULL, path_of("host_1.devlog"), path_of(log)));
    assert_true(run_host_is_of(NULL, path_of("host_1.devlog"), path_of("profile_log_ops.jsonl")));
    char here[1000];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    const bool is_here = run_host_is_of(NULL, "host_1.devlog", log);
    assert_int_equal(chdir(here), 0);
    assert_true(is_here);
}

/* Logs of before November 2026 do not say when they began. */
static void where_little_is_said(void **state)
{
    (void)state;
    make("capture.devlog", 0, -1, 700);
    make("host_1.devlog", 0, -1, 641);
    make("host_2.devlog", 0, 100, 639);
    make("host_3.devlog", 0, 699, 2000);
    make("host_4.devlog", 0, 800, 2000);
    assert_true(is("host_1.devlog"));
    assert_false(is("host_2.devlog"));
    assert_true(is("host_3.devlog"));
    assert_false(is("host_4.devlog"));
    assert_false(is("host_9.devlog"));
}

static void records(void)
{
    host_start(0, 0);
}

/* What `devlog run` tells programs is in their files. */
static void processes_say_their_run(void **state)
{
    (void)state;
    int how;
    char name[64];
    assert_int_equal(setenv("DEVLOG_RUN", "abc", 1), 0);
    const pid_t process = host_run(records, &how);
    assert_int_equal(how, 0);
    unsetenv("DEVLOG_RUN");
    snprintf(name, sizeof name, "%s/host_%ld.devlog", host_folder, (long)process);
    make("capture.devlog", 0xabc, 10, 20);
    assert_true(run_host_is_of(NULL, name, path_of("capture.devlog")));
    make("capture.devlog", 0xabd, 10, 20);
    assert_false(run_host_is_of(NULL, name, path_of("capture.devlog")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_when_they_were_recorded, fresh), cmocka_unit_test_setup(by_ids, fresh),
        cmocka_unit_test_setup(of_a_device_log, fresh), cmocka_unit_test_setup(where_little_is_said, fresh),
        cmocka_unit_test_setup(processes_say_their_run, fresh)};
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
