/* Programs that close descriptors which are not their own, as daemons do, and open files of theirs: all logs go on, by name, and nobody
 * else's file gets a byte of them. */
#define PROFILE_HOST 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log_file.h"
#include "devlog/decode.h"
#include "devlog/host.h"
#include "support/files.h"
#include "support/fixture.h"

enum { FILES = 24, MOST = 4200 }; /* descriptors */

static const char *logs; /* the folder of the logs, */
static char folder[128]; /* and relative, for a program that changes its own */

static void name_of_file(char *path, size_t size, int i)
{
    snprintf(path, size, "%s/user%d", logs, i);
}

/* What a daemon does: no folder of its own, no descriptors but the first three; and then files. */
static void become_daemon(int files[FILES])
{
    assert_int_equal(chdir("/"), 0);
    for (int fd = 3; fd < MOST; fd++)
        close(fd);
    for (int i = 0; i < FILES; i++) {
        char path[300];
        name_of_file(path, sizeof path, i);
        files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || write(files[i], "mine", 4) != 4) _exit(8);
    }
}

/* The files hold what the program wrote, and are open. */
static bool files_are_good(const int files[FILES])
{
    char text[16];
    for (int i = 0; i < FILES; i++)
        if (pread(files[i], text, sizeof text, 0) != 4 || memcmp(text, "mine", 4) != 0) return false;
    return true;
}

typedef struct recorder {
    devlog_ops *ops;
    fixture f;
} recorder;

static void record(recorder *r)
{
    const uint32_t op = devlog_op_start(r->ops, &(devlog_op){.name = "launches"});
    devlog_error err = {0};
    DEVLOG_HOST_ZONE("launch");
    check_ok(devlog_launch_program(r->f.device, r->f.program, &err), &err);
    devlog_op_end(r->ops, op);
}

static recorder begun(void)
{
    recorder r = {0};
    devlog_error err = {0};
    check_ok(devlog_host_start(&(devlog_host_options)DEVLOG_HOST_OPTIONS(.folder = folder), &err), &err);
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                        &r.ops, &err),
        &err);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .log_folder = folder, .ops = r.ops, .profile = DEVLOG_ON);
    check_ok(devlog_device_open(&options, &r.f.device, &err), &err);
    check_ok(devlog_program_create(r.f.device, &r.f.program, &err), &err);
    r.f.kernel = add_kernel(r.f.program, "tests/sim/kernels/ways.c", "BRISC", one, NULL);
    set_args(&r.f, 1, 0);
    record(&r);
    return r;
}

static void closes_all(void)
{
    int files[FILES];
    devlog_error err = {0};
    recorder r = begun();
    become_daemon(files);
    record(&r);
    record(&r);
    stop(&r.f);
    check_ok(devlog_ops_close(r.ops, &err), &err);
    check_ok(devlog_host_stop(&err), &err);
    if (!files_are_good(files)) _exit(7); /* and nobody has closed them */
}

/* Besides, the logs have been removed, and other files may have their names: then what comes is lost, and that is said. */
static void loses_logs(bool others, const char *said)
{
    static const char *const names[] = {"profile_log_device.csv", "profile_log_ops.jsonl", "capture.devlog"};
    int files[FILES];
    devlog_error err = {0};
    recorder r = begun();
    for (size_t i = 0; i < 3; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", logs, names[i]);
        if (unlink(path) != 0) _exit(6);
        if (others) write_text(path, "mine");
    }
    become_daemon(files);
    if (devlog_launch_program(r.f.device, r.f.program, &err) == DEVLOG_OK || !strstr(err.text, said)) {
        fprintf(stderr, "launch: '%s'\n", err.text);
        _exit(5);
    }
    devlog_op_end(r.ops, devlog_op_start(r.ops, &(devlog_op){.name = "lost"}));
    devlog_device_close(r.f.device, &err);
    if (devlog_ops_close(r.ops, &err) != DEVLOG_ERR_PARTIAL || !strstr(err.text, said)) {
        fprintf(stderr, "ops: '%s'\n", err.text);
        _exit(4);
    }
    for (size_t i = 0; others && i < 3; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", logs, names[i]);
        size_t size;
        char *text = read_bytes(path, &size);
        if (strcmp(text, "mine") != 0) _exit(3);
        free(text);
    }
    if (!files_are_good(files)) _exit(7);
}

static void removes_logs(void)
{
    loses_logs(false, "No such file");
}

static void replaces_logs(void)
{
    loses_logs(true, "Stale");
}

static pid_t run(void (*program)(void))
{
    int how;
    logs = test_folder();
    snprintf(folder, sizeof folder, "../../../../../../../../../../../..%s", logs);
    const pid_t child = fork();
    if (child == 0) {
        program();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    return child;
}

static devlog_log *read_whole(const char *name)
{
    char text[300];
    const char *path = text;
    devlog_error err = {0};
    devlog_log *log;
    snprintf(text, sizeof text, "%s/%s", logs, name);
    check_ok(devlog_log_open(&path, 1, NULL, &log, &err), &err);
    check_ok(devlog_log_finish(log, &err), &err);
    assert_true(devlog_log_complete(log));
    return log;
}

static void logs_go_on(void **state)
{
    (void)state;
    char host[64], ops[300];
    const pid_t child = run(closes_all);
    snprintf(host, sizeof host, "host_%ld.devlog", (long)child);
    const char *const names[] = {"profile_log_device.csv", "capture.devlog", host};
    for (size_t i = 0; i < 3; i++) {
        devlog_log *log = read_whole(names[i]);
        if (i < 2) assert_int_equal(devlog_log_launches(log), 3);
        if (i == 2) assert_int_equal(devlog_log_rows(log), 6);
        devlog_log_close(log);
    }
    snprintf(ops, sizeof ops, "%s/profile_log_ops.jsonl", logs);
    size_t size;
    char *text = read_bytes(ops, &size);
    const char *at = text;
    int ended = 0;
    for (; (at = strstr(at, "\"e\":\"end\"")) != NULL; at++)
        ended++;
    if (ended != 3) fail_msg("%s", text);
    assert_non_null(strstr(text, "{\"e\":\"close\""));
    free(text);
}

static void a_log_that_is_gone_is_lost(void **state)
{
    (void)state;
    run(removes_logs);
    run(replaces_logs);
}

/* Another file may be made to have the very number of a log. */
static void a_number_that_is_taken(void **state)
{
    (void)state;
    char path[300], mine[300];
    struct stat of_log, held;
    dl_log_file f;
    snprintf(path, sizeof path, "%s/log", test_folder());
    assert_int_equal(dl_log_file_open(&f, path, O_RDWR | O_CREAT | O_APPEND), 0);
    snprintf(mine, sizeof mine, "%s.mine", path);
    write_text(mine, "mine");
    const int other = open(mine, O_RDWR), taken = f.fd;
    assert_true(other >= 0);
    assert_true(taken > other + 100); /* a number that no file gets by itself */
    assert_int_equal(fstat(taken, &of_log), 0);
    assert_int_equal(dl_log_file_hold(&f), 0);
    assert_int_equal(f.fd, taken);

    assert_int_equal(dup2(other, taken), taken);
    assert_int_equal(dl_log_file_hold(&f), 0);
    assert_int_not_equal(f.fd, taken);
    assert_int_equal(fstat(f.fd, &held), 0);
    assert_true(held.st_ino == of_log.st_ino && held.st_dev == of_log.st_dev);

    assert_int_equal(dup2(other, f.fd), f.fd);
    const int again = f.fd;
    assert_int_equal(dl_log_file_close(&f), 0);
    assert_int_equal(fcntl(again, F_GETFD), 0); /* it is not ours to close */
    assert_int_equal(f.fd, -1);
    assert_int_equal(dl_log_file_hold(&f), EBADF);
    close(again);
    close(taken);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_number_that_is_taken), cmocka_unit_test(logs_go_on),
                                       cmocka_unit_test(a_log_that_is_gone_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
