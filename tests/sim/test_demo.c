/* The demo: every result is right, two runs give the same log to the byte, on every board of the simulator;
 * and an unknown board or a library that is no libttsim is one clear line and a failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

static int run_demo_with(const char *const args[3], const char *board_name, const char *folder, char **text)
{
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    char program[512];
    snprintf(program, sizeof program, "%.*s/demo", (int)(strrchr(bin, '/') - bin), bin);
    setenv("DEVLOG_BOARD", board_name, 1);
    setenv("DEVLOG_LOG_FOLDER", folder, 1);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    const char *argv[] = {program, args[0], args[1], args[2], NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (text)
        *text = out.text;
    else
        free(out.text);
    return out.exit;
}

static int run_demo(const char *board_name, const char *folder, char **text)
{
    return run_demo_with((const char *const[]){"10", "4", "4"}, board_name, folder, text);
}

static void same_bytes_twice(void **state)
{
    (void)state;
    static const char *const boards[] = {"wormhole_b0", "grayskull", "blackhole"};
    for (size_t i = 0; i < 3; i++) {
        char *logs[2];
        size_t sizes[2];
        for (int run = 0; run < 2; run++) {
            char folder[256], path[300], *text;
            snprintf(folder, sizeof folder, "%s/logs", test_folder());
            int status = run_demo(boards[i], folder, &text);
            if (status != 0) fail_msg("%s: %s", boards[i], text);
            free(text);
            snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
            logs[run] = read_bytes(path, &sizes[run]);
        }
        assert_true(sizes[0] > 100000);
        /* As tt-metal names them; its scripts find no others. */
        assert_non_null(strstr(logs[0], ",TRISC_2,"));
        assert_null(strstr(logs[0], "TRISC2"));
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(logs[0], logs[1], sizes[0]);
        free(logs[0]);
        free(logs[1]);
    }
}

static void expect_failure(const char *board_name, const char *says)
{
    char *text;
    assert_int_equal(run_demo(board_name, test_folder(), &text), 1);
    if (!strstr(text, says)) fail_msg("'%s' does not say '%s'", text, says);
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n')); /* one line */
    free(text);
}

static void wrong_devices_are_one_line(void **state)
{
    (void)state;
    expect_failure("warmhole", "unknown board 'warmhole'");
    setenv("TT_METAL_SIMULATOR", "/nowhere/libttsim.so", 1);
    expect_failure("wormhole_b0", "cannot load the simulator: /nowhere/libttsim.so");
    setenv("TT_METAL_SIMULATOR", "libcmocka.so.0", 1);
    expect_failure("wormhole_b0", "libcmocka.so.0 has no function libttsim_init");
    expect_failure("grayskull", "cannot be reached by transport 'ttsim'");
    unsetenv("TT_METAL_SIMULATOR");
}

static void wrong_numbers_are_one_line(void **state)
{
    (void)state;
    static const char *const wrong[][3] = {{"banana"},     {"0"},      {"-1"},          {"10x"},
                                           {"4294967296"}, {"3", "2"}, {"3", "0", "1"}, {"--device"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *text;
        assert_int_equal(run_demo_with(wrong[i], "wormhole_b0", test_folder(), &text), 2);
        if (!strstr(text, "usage: demo ")) fail_msg("'%s' does not say how", text);
        assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_twice),
        cmocka_unit_test(wrong_devices_are_one_line),
        cmocka_unit_test(wrong_numbers_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
