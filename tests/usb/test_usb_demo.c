/* The demo over USB, through a program of its own: every result is right, and the records are those of the
 * same board on the simulator, apart from when they were made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

static char bin[400];

/* Runs the demo on a board; returns its log. */
static char *run_demo(const char *board_name, const char *transport, size_t *size, char checksum[32])
{
    char folder[256], path[300], model[512], demo[512];
    snprintf(folder, sizeof folder, "%s/logs", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    snprintf(model, sizeof model, "%s/usb_model", bin);
    snprintf(demo, sizeof demo, "%s/demo", bin);
    setenv("DEVLOG_BOARD", board_name, 1);
    setenv("DEVLOG_LOG_FOLDER", folder, 1);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    const char *argv[] = {model, "--board", board_name, demo, "--device", transport, "2", "1", "1", NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != 0 || !strstr(out.text, "results correct")) fail_msg("%s: %s", transport, out.text);
    const char *sum = strstr(out.text, "checksum");
    assert_non_null(sum);
    snprintf(checksum, 32, "%.*s", (int)strcspn(sum, "\n"), sum);
    free(out.text);
    return read_bytes(path, size);
}

/* Takes the sixth column, the time, out of every line, and the findings about the clock out of the last row: on the probe it is
 * measured. */
static size_t without_times(char *text, size_t size)
{
    size_t used = 0;
    int column = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == ',') column++;
        if (text[i] == '\n') column = 0;
        if (column != 5 || text[i] == ',') text[used++] = text[i];
    }
    static const char clock[] = "{\"clock\":";
    char *found = memmem(text, used, clock, sizeof clock - 1);
    if (found) {
        char *behind = (char *)memchr(found, '}', used - (size_t)(found - text)) + 1;
        memmove(found, behind, used - (size_t)(behind - text));
        used -= (size_t)(behind - found);
    }
    return used;
}

static void same_records(const char *board_name)
{
    size_t size[2];
    char sums[2][32];
    char *usb = run_demo(board_name, "usb:DEVLOG0001", &size[0], sums[0]);
    char *simulated = run_demo(board_name, "sim", &size[1], sums[1]);
    assert_string_equal(sums[0], sums[1]);
    assert_true(size[0] > 1000);
    size[0] = without_times(usb, size[0]);
    size[1] = without_times(simulated, size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(usb, simulated, size[0]);
    free(usb);
    free(simulated);
}

/* Five RISCs behind a reset register. */
static void tile(void **state)
{
    (void)state;
    same_records("usb_tile");
}

/* One hart, started by halting it and setting its pc. */
static void microcontrollers(void **state)
{
    (void)state;
    same_records("fe310");
    same_records("gd32vf103");
}

int main(void)
{
    const char *devlog = getenv("DEVLOG_BIN");
    if (devlog) snprintf(bin, sizeof bin, "%.*s", (int)(strrchr(devlog, '/') - devlog), devlog);
    const struct CMUnitTest tests[] = {cmocka_unit_test(tile), cmocka_unit_test(microcontrollers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
