/* The demo through libttsim's C ABI: our simulator as a shared library gives the same log, to the byte, as
 * the simulator in the process. With DEVLOG_TEST_LIBTTSIM, another libttsim.so (say tenstorrent/ttsim)
 * computes the same results and gives the same markers in the same order on every RISC, at other times; its log says that
 * its cycles are instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

static const char *bin_folder(void)
{
    static char folder[512];
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(bin, '/') - bin), bin);
    return folder;
}

/* Runs the demo and returns its log. */
static char *demo_log(const char *library, size_t *size)
{
    char program[600], folder[256], path[300];
    snprintf(program, sizeof program, "%s/demo", bin_folder());
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    setenv("DEVLOG_LOG_FOLDER", folder, 1);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    if (library)
        setenv("TT_METAL_SIMULATOR", library, 1);
    else
        unsetenv("TT_METAL_SIMULATOR");
    const char *argv[] = {program, "3", "4", "4", NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != 0) fail_msg("%s", out.text);
    free(out.text);
    return read_bytes(path, size);
}

static void same_log_through_the_abi(void **state)
{
    (void)state;
    char library[600];
    snprintf(library, sizeof library, "%s/../lib/libdevlogsim.so", bin_folder());
    size_t a_size, b_size;
    char *a = demo_log(NULL, &a_size), *b = demo_log(library, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(a);
    free(b);
}

/* The same line without its time: the sixth cell. */
static size_t without_time(const char *line, char *out)
{
    size_t n = 0;
    for (int cell = 0; *line && *line != '\n'; line++) {
        cell += *line == ',';
        if (cell != 5) out[n++] = *line;
    }
    out[n] = 0;
    return n;
}

/* Takes what a log says of its cycles out of its first line; false: it says nothing. */
static bool without_cycles(char *line)
{
    static const char says[] = ", Cycles: instructions";
    char *found = strstr(line, says);
    if (found) memmove(found, found + sizeof says - 1, strlen(found + sizeof says - 1) + 1);
    return found != NULL;
}

static void other_library_gives_the_same_order(void **state)
{
    (void)state;
    const char *library = getenv("DEVLOG_TEST_LIBTTSIM");
    if (!library) {
        printf("skipped: DEVLOG_TEST_LIBTTSIM is not set to a libttsim.so\n");
        skip();
    }
    size_t size;
    char *a = demo_log(NULL, &size), *b = demo_log(library, &size);
    const char *x = a, *y = b;
    unsigned lines = 0;
    for (; *x && *y; lines++) {
        char p[2048], q[2048];
        without_time(x, p);
        without_time(y, q);
        if (lines == 0) assert_true(without_cycles(q));
        assert_string_equal(p, q);
        x = strchr(x, '\n') + 1;
        y = strchr(y, '\n') + 1;
    }
    assert_true(*x == 0 && *y == 0 && lines > 1000);
    printf("%u lines in the same order\n", lines);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_log_through_the_abi),
        cmocka_unit_test(other_library_gives_the_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
