/* The contracts of devlog.h that no other test has: options go before the environment and calls before both,
 * closing tells what could not be written, frozen records, what a device that is only looked at refuses. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/version.h"
#include "profiler/clock_sync.h"
#include "support/files.h"
#include "support/fixture.h"

static bool exists(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* A device on which a kernel of a few zones has run; `options` gets a new log folder, which is returned. */
static const char *run(devlog_device_options *options, fixture *f)
{
    devlog_error err = {0};
    static char folder[64];
    snprintf(folder, sizeof folder, "%s", test_folder());
    options->log_folder = folder;
    options->profile = DEVLOG_ON;
    check_ok(devlog_device_open(options, &f->device, &err), &err);
    check_ok(devlog_program_create(f->device, &f->program, &err), &err);
    f->kernel = add_kernel(f->program, "tests/sim/kernels/many.c", "BRISC", one, NULL);
    set_args(f, 10, 0);
    check_ok(devlog_launch_program(f->device, f->program, &err), &err);
    return folder;
}

static char *log_of(const fixture *f)
{
    size_t size;
    return read_bytes(devlog_profiler_log(f->device), &size);
}

/* L9 has the run's id at the end of its first line, L0 none at all. */
static devlog_log_style style_of(const fixture *f)
{
    char *text = log_of(f);
    devlog_log_style style = strncmp(text, "ARCH", 4)    ? DEVLOG_STYLE_L0
                             : strstr(text, "zone name") ? DEVLOG_STYLE_L9
                                                         : DEVLOG_STYLE_L2;
    free(text);
    return style;
}

static void options_before_environment(void **state)
{
    (void)state;
    static const char *const words[] = {"L9", "L2", "L0"}, *const modes[] = {"stop", "ring", "stream"};
    /* What the environment says: 0 nothing, else option - 1. What the option says: 0 AUTO. */
    for (int option = 0; option < 4; option++) {
        for (int environment = 0; environment < 4; environment++) {
            int expected = option ? option : environment ? environment : 1;
            devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.recording = (devlog_recording)option,
                                                            .log_style = (devlog_log_style)option,
                                                            .stream_bytes = 65536, .sim = "functional=1");
            if (environment) setenv("DEVLOG_LOG_STYLE", words[environment - 1], 1);
            if (environment) setenv("DEVLOG_RECORDING", modes[environment - 1], 1);
            fixture f;
            run(&o, &f);
            unsetenv("DEVLOG_LOG_STYLE");
            unsetenv("DEVLOG_RECORDING");
            assert_int_equal(style_of(&f), expected);
            assert_int_equal(f.device->recording, expected);
            if (expected == DEVLOG_RECORD_STREAM) assert_int_equal(f.device->stream_bytes, 65536);
            stop(&f);
        }
    }
}

static void switches_before_environment(void **state)
{
    (void)state;
    for (int option = DEVLOG_AUTO; option <= DEVLOG_OFF; option++) {
        for (int environment = DEVLOG_AUTO; environment <= DEVLOG_OFF; environment++) {
            bool expected = (option ? option : environment) != DEVLOG_OFF;
            devlog_device_options o =
                DEVLOG_DEVICE_OPTIONS(.capture = (devlog_switch)option, .clock_sync = (devlog_switch)option);
            const char *value = environment == DEVLOG_ON ? "1" : "0";
            if (environment) setenv("DEVLOG_CAPTURE", value, 1);
            if (environment) setenv("DEVLOG_CLOCK_SYNC", value, 1);
            fixture f;
            const char *folder = run(&o, &f);
            unsetenv("DEVLOG_CAPTURE");
            unsetenv("DEVLOG_CLOCK_SYNC");
            assert_int_equal(exists(folder, "capture.devlog"), expected);
            assert_int_equal(f.device->clocks->n_samples > 0, expected);
            stop(&f);
        }
    }
}

static void values_that_there_are_not(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options wrong[] = {
        DEVLOG_DEVICE_OPTIONS(.recording = (devlog_recording)4),
        DEVLOG_DEVICE_OPTIONS(.log_style = (devlog_log_style)4),
        DEVLOG_DEVICE_OPTIONS(.capture = (devlog_switch)3),
        DEVLOG_DEVICE_OPTIONS(.clock_sync = (devlog_switch)3),
        DEVLOG_DEVICE_OPTIONS(.profile = (devlog_switch)3),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(devlog_device_open(&wrong[i], &device, &err), DEVLOG_ERR_ARGUMENT);
        assert_null(device);
    }
}

static void a_call_before_options(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.recording = DEVLOG_RECORD_STREAM, .stream_bytes = 96);
    fixture f;
    run(&o, &f);
    assert_int_equal(f.device->recording, DEVLOG_RECORD_STREAM);
    check_ok(devlog_set_recording(f.device, DEVLOG_RECORD_RING, 0, &err), &err);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    assert_int_equal(f.device->recording, DEVLOG_RECORD_RING);
    check_ok(devlog_set_recording(f.device, DEVLOG_RECORD_AUTO, 0, &err), &err);
    assert_int_equal(f.device->recording, DEVLOG_RECORD_STREAM);
    assert_int_equal(f.device->stream_bytes, 96);
    assert_int_equal(devlog_set_recording(f.device, (devlog_recording)4, 0, &err), DEVLOG_ERR_ARGUMENT);
    stop(&f);
}

/* A store to nowhere stops the simulation; the option names a file, another one, or none. */
static void postmortem(void **state)
{
    (void)state;
    char by_option[128], by_variable[128], kernel[128];
    snprintf(by_option, sizeof by_option, "%s/option.state", test_folder());
    snprintf(by_variable, sizeof by_variable, "%s/variable.state", test_folder());
    snprintf(kernel, sizeof kernel, "%s/kernel.c", test_folder());
    write_text(kernel, "#include <devlog/kernel.h>\nvoid kernel_main(void)\n{\n"
                       "    *(volatile uint32_t *)(uintptr_t)0x70000000u = 1;\n}\n");
    const struct {
        const char *option, *saved, *not_saved;
    } cases[] = {{by_option, by_option, by_variable}, {"", NULL, by_variable}, {NULL, by_variable, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        devlog_error err = {0};
        fixture f;
        setenv("DEVLOG_POSTMORTEM", by_variable, 1);
        const devlog_device_options o =
            DEVLOG_DEVICE_OPTIONS(.log_folder = test_folder(), .postmortem = cases[i].option);
        check_ok(devlog_device_open(&o, &f.device, &err), &err);
        unsetenv("DEVLOG_POSTMORTEM");
        check_ok(devlog_program_create(f.device, &f.program, &err), &err);
        const devlog_kernel_options k = DEVLOG_KERNEL_OPTIONS(.source = kernel, .risc = "NCRISC");
        check_ok(devlog_program_add_kernel(f.program, &k, NULL, &err), &err);
        prepare(f.device, f.program);
        assert_int_equal(devlog_launch_program(f.device, f.program, &err), DEVLOG_ERR_DEVICE);
        assert_int_equal(strstr(err.text, "devlog dump") != NULL, cases[i].saved != NULL);
        if (cases[i].saved) assert_int_equal(unlink(cases[i].saved), 0);
        if (cases[i].not_saved) assert_int_not_equal(access(cases[i].not_saved, F_OK), 0);
        stop(&f); /* the chip is known not to answer: that is no error */
    }
}

/* Files may not grow any more when the device is closed. */
static void closing_tells_what_was_not_written(void **state)
{
    (void)state;
    for (int capture = DEVLOG_ON; capture <= DEVLOG_OFF; capture++) {
        devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.capture = (devlog_switch)capture);
        devlog_error err = {0};
        fixture f;
        run(&o, &f);
        struct rlimit before, limit;
        struct stat st;
        assert_int_equal(stat(devlog_profiler_log(f.device), &st), 0);
        devlog_program_free(f.program);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        limit = (struct rlimit){1, before.rlim_max};
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        devlog_status status = devlog_device_close(f.device, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, DEVLOG_ERR_IO);
        assert_int_equal(err.status, DEVLOG_ERR_IO);
        assert_non_null(strstr(err.text, "profile_log_device.csv: File too large"));
    }
}

/* Nor is moving the log silent, and the device goes on. */
static void moving_tells_it_too(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS();
    devlog_error err = {0};
    fixture f;
    run(&o, &f);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){1, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const char *elsewhere = test_folder();
    devlog_status status = devlog_set_profiler_location(f.device, elsewhere, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, DEVLOG_ERR_IO);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    assert_true(exists(elsewhere, "profile_log_device.csv") && exists(elsewhere, "capture.devlog"));
    stop(&f);
}

/* A relative folder is that of the call, whatever the program's folder is at the first launch. */
static void folders_are_those_of_the_call(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.log_folder = "logs", .profile = DEVLOG_ON);
    devlog_error err = {0};
    fixture f;
    char was[4096], first[128], second[128], path[160];
    assert_non_null(getcwd(was, sizeof was));
    snprintf(first, sizeof first, "%s", test_folder());
    snprintf(second, sizeof second, "%s", test_folder());
    assert_int_equal(chdir(first), 0);
    check_ok(devlog_device_open(&o, &f.device, &err), &err);
    assert_int_equal(chdir(was), 0);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    f.kernel = add_kernel(f.program, "tests/sim/kernels/many.c", "BRISC", one, NULL);
    set_args(&f, 10, 0);
    assert_int_equal(chdir(second), 0);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    check_ok(devlog_set_profiler_location(f.device, "moved", &err), &err);
    assert_int_equal(chdir(was), 0);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    snprintf(path, sizeof path, "%s/logs", first);
    assert_true(exists(path, "profile_log_device.csv") && exists(path, "capture.devlog"));
    snprintf(path, sizeof path, "%s/moved", second);
    assert_true(exists(path, "profile_log_device.csv") && exists(path, "capture.devlog"));
    stop(&f);
}

/* Who does not profile needs no folder. */
static void a_folder_that_is_gone(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_OFF);
    devlog_error err = {0};
    devlog_device *device;
    char was[4096], gone[] = "/tmp/goneXXXXXX";
    assert_non_null(getcwd(was, sizeof was));
    assert_non_null(mkdtemp(gone));
    assert_int_equal(chdir(gone) + rmdir(gone), 0);
    devlog_status status = devlog_device_open(&o, &device, &err);
    assert_int_equal(chdir(was), 0);
    check_ok(status, &err);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Frozen records take the default markers, and count the others. */
static void freezing(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS();
    devlog_error err = {0};
    fixture f;
    run(&o, &f);
    for (int frozen = 1; frozen >= 0; frozen--) {
        test_rows rows;
        check_ok(devlog_freeze(f.device, frozen, &err), &err);
        launch(f.device, f.program);
        read_rows(f.device, f.program, zero, 0, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "pass"), frozen ? 0 : 10);
        assert_int_equal(rows.control.dropped, frozen ? 10 : 0);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "BRISC-KERNEL"), 1);
        free_rows(&rows);
    }
    stop(&f);
}

static void what_is_only_looked_at(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS();
    devlog_error err = {0};
    devlog_device *looked_at;
    fixture f;
    char saved[128];
    run(&o, &f);
    snprintf(saved, sizeof saved, "saved:%s/state", test_folder());
    check_ok(devlog_save_state(f.device, saved + strlen("saved:"), &err), &err);
    const devlog_device_options look = DEVLOG_DEVICE_OPTIONS(.transport = saved, .attach = true);
    check_ok(devlog_device_open(&look, &looked_at, &err), &err);
    assert_string_equal(devlog_device_transport(looked_at), "saved");
    assert_int_equal(devlog_set_classes(looked_at, 0, &err), DEVLOG_ERR_STATE);
    assert_int_equal(devlog_freeze(looked_at, true, &err), DEVLOG_ERR_STATE);
    assert_int_equal(devlog_set_recording(looked_at, DEVLOG_RECORD_RING, 0, &err), DEVLOG_ERR_STATE);
    assert_int_equal(devlog_launch_program(looked_at, f.program, &err), DEVLOG_ERR_STATE);
    assert_non_null(strstr(err.text, "only looked at"));
    check_ok(devlog_device_close(looked_at, &err), &err);
    stop(&f);
}

static void what_a_device_tells(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS();
    devlog_error err = {0};
    fixture f;
    run(&o, &f);
    uint64_t before = 0, after = 0;
    assert_string_equal(devlog_version(), DEVLOG_VERSION);
    assert_int_equal(devlog_device_mhz(f.device), 1000);
    assert_string_equal(devlog_device_board(f.device), "wormhole_b0");
    check_ok(devlog_wall_clock(f.device, zero, &before, &err), &err);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    check_ok(devlog_wall_clock(f.device, zero, &after, &err), &err);
    assert_true(after > before);
    const devlog_core outside = {99, 0};
    assert_int_equal(devlog_wall_clock(f.device, outside, &after, &err), DEVLOG_ERR_ARGUMENT);
    assert_string_equal(devlog_api_name(DEVLOG_API_LAUNCH_PROGRAM), "LaunchProgram");
    assert_string_equal(devlog_api_name(DEVLOG_API_COUNT), "");
    assert_int_equal(devlog_device_api_stats(f.device, DEVLOG_API_LAUNCH_PROGRAM).calls, 2);
    assert_int_equal(devlog_device_api_stats(f.device, DEVLOG_API_COUNT).calls, 0);
    stop(&f);
}

/* What decode.h says of the clocks of a capture. */
static void a_capture_tells_its_clocks(void **state)
{
    (void)state;
    devlog_device_options o = DEVLOG_DEVICE_OPTIONS();
    devlog_error err = {0};
    devlog_log *log;
    double first, later, error;
    fixture f;
    char path[128];
    snprintf(path, sizeof path, "%s/capture.devlog", run(&o, &f));
    stop(&f);
    const char *paths[] = {path};
    check_ok(devlog_log_open(paths, 1, NULL, &log, &err), &err);
    check_ok(devlog_log_finish(log, &err), &err);
    assert_int_equal(devlog_log_chips(log), 1);
    const devlog_chip chip = devlog_log_chip(log, 0);
    assert_string_equal(chip.arch, "wormhole_b0");
    assert_true(chip.mhz == 1000 && chip.host_error_ns > 0 && chip.host_error_ns < 1e6);
    const devlog_launch launch = devlog_log_launch(log, 0);
    assert_true(devlog_log_host_ns(log, chip.chip, launch.first_start, &first, &error));
    assert_true(devlog_log_host_ns(log, chip.chip, launch.first_start + 1000000, &later, &error));
    assert_true(later - first > 999000 && later - first < 1001000 && error > 0);
    assert_false(devlog_log_host_ns(log, chip.chip + 1, launch.first_start, &first, &error));
    devlog_log_close(log);
}

static void without_profiling(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device;
    const devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_OFF, .log_folder = test_folder());
    check_ok(devlog_device_open(&o, &device, &err), &err);
    assert_int_equal(devlog_dump_device_profile_results(device, &err), DEVLOG_ERR_STATE);
    assert_non_null(strstr(err.text, "devlog_device_options.profile"));
    assert_string_equal(devlog_profiler_log(device), "");
    check_ok(devlog_device_close(device, &err), &err);
    check_ok(devlog_device_close(NULL, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_before_environment),
        cmocka_unit_test(switches_before_environment),
        cmocka_unit_test(values_that_there_are_not),
        cmocka_unit_test(a_call_before_options),
        cmocka_unit_test(postmortem),
        cmocka_unit_test(closing_tells_what_was_not_written),
        cmocka_unit_test(moving_tells_it_too),
        cmocka_unit_test(folders_are_those_of_the_call),
        cmocka_unit_test(a_folder_that_is_gone),
        cmocka_unit_test(freezing),
        cmocka_unit_test(what_is_only_looked_at),
        cmocka_unit_test(what_a_device_tells),
        cmocka_unit_test(a_capture_tells_its_clocks),
        cmocka_unit_test(without_profiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
