/* When a folder's device logs begin anew: with a device that is opened when no other of them writes there; what devices have written that
 * are open at once stays, and with a log of ops what the same process has written before. */
#include <stdio.h>
#include <stdlib.h>

#include "devlog/decode.h"
#include "support/fixture.h"

/* Opens a device with a number of its own and launches a kernel on it. */
static fixture launched(const char *folder, uint32_t slot, devlog_ops *ops)
{
    devlog_error err = {0};
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .log_folder = folder, .slot = slot, .ops = ops,
                              .profile = DEVLOG_ON);
    fixture f = {0};
    check_ok(devlog_device_open(&options, &f.device, &err), &err);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    f.kernel = add_kernel(f.program, "tests/sim/kernels/ways.c", "BRISC", one, NULL);
    set_args(&f, 1, 0);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    return f;
}

/* Launches of chips 0 to 3 in both logs of the folder. */
static void launches_are(const char *folder, const uint32_t expected[4])
{
    static const char *const logs[] = {"profile_log_device.csv", "capture.devlog"};
    for (int i = 0; i < 2; i++) {
        char text[300];
        const char *path = text;
        devlog_error err = {0};
        devlog_log *log;
        uint32_t found[4] = {0};
        snprintf(text, sizeof text, "%s/%s", folder, logs[i]);
        check_ok(devlog_log_open(&path, 1, NULL, &log, &err), &err);
        check_ok(devlog_log_finish(log, &err), &err);
        for (size_t k = 0; k < devlog_log_launches(log); k++) {
            const devlog_launch l = devlog_log_launch(log, (uint32_t)k);
            assert_in_range(l.chip, 0, 3);
            found[l.chip]++;
        }
        devlog_log_close(log);
        assert_memory_equal(found, expected, sizeof found);
    }
}

static void without_ops(void **state)
{
    (void)state;
    const char *folder = test_folder();
    fixture a = launched(folder, 0, NULL), b = launched(folder, 1, NULL);
    stop(&a);
    fixture c = launched(folder, 2, NULL);
    stop(&b);
    stop(&c);
    launches_are(folder, (const uint32_t[]){1, 1, 1, 0});
    a = launched(folder, 3, NULL);
    stop(&a);
    launches_are(folder, (const uint32_t[]){0, 0, 0, 1});
}

static void with_ops(void **state)
{
    (void)state;
    const char *folder = test_folder();
    for (uint32_t i = 0; i < 3; i++) {
        devlog_error err = {0};
        devlog_ops *ops;
        check_ok(devlog_ops_open(
                     &(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                     &ops, &err),
                 &err);
        fixture f = launched(folder, i % 2, ops);
        stop(&f);
        check_ok(devlog_ops_close(ops, &err), &err);
    }
    launches_are(folder, (const uint32_t[]){2, 1, 0, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_ops), cmocka_unit_test(with_ops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
