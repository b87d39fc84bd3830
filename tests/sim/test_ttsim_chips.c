/* Transport "ttsim": several chips of one library, a library that ends its process at a fault, and one whose cycles are
 * instructions. With our simulator as the library. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"
#include "transport/transport.h"
#include "transport/ttsim_abi.h"
#include "transport/ttsim_child.h"

static const char *library(const char *chip)
{
    static char paths[4][700];
    static uint32_t next;
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "ttsim:%.*s/../lib/libdevlogsim.so%s", (int)(strrchr(bin, '/') - bin),
             bin, chip);
    return path;
}

static devlog_status open_chip(const char *chip, uint32_t slot, const char *folder, devlog_device **out,
                               devlog_error *err)
{
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = library(chip), .slot = slot,
                              .profile = DEVLOG_ON, .log_folder = folder);
    return devlog_device_open(&options, out, err);
}

static devlog_program *launch_hang(devlog_device *device, devlog_core core, uint32_t argument)
{
    devlog_error err = {0};
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/hang.c", "NCRISC",
                                       (devlog_cores){core.x, core.y, core.x, core.y}, NULL);
    check_ok(devlog_kernel_set_args(kernel, core, &argument, 1, &err), &err);
    prepare(device, program);
    check_ok(devlog_launch_program(device, program, &err), &err);
    return program;
}

static void two_chips_at_once(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *a, *b, *none;
    setenv("DEVLOG_SIM_CHIPS", "2", 1);
    char folder[256];
    snprintf(folder, sizeof folder, "%s", test_folder());
    check_ok(open_chip(":0", 0, folder, &a, &err), &err);
    check_ok(open_chip(":1", 1, folder, &b, &err), &err);
    assert_int_equal(open_chip(":2", 2, folder, &none, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "has 2 chips on its PCI bus: there is no number 2"));
    /* Memories of their own, one clock. */
    const uint32_t one = 1111, two = 2222, at = devlog_device_user_l1(a, NULL);
    uint32_t word = 0;
    check_ok(devlog_write_to_device(a, (devlog_core){0, 0}, at, &one, 4, &err), &err);
    check_ok(devlog_write_to_device(b, (devlog_core){0, 0}, at, &two, 4, &err), &err);
    check_ok(devlog_read_from_device(a, (devlog_core){0, 0}, at, &word, 4, &err), &err);
    assert_int_equal(word, one);
    check_ok(devlog_read_from_device(b, (devlog_core){0, 0}, at, &word, 4, &err), &err);
    assert_int_equal(word, two);
    devlog_program *p = launch_hang(a, (devlog_core){0, 0}, 3), *q = launch_hang(b, (devlog_core){1, 1}, 4);
    assert_int_equal(dl_transport_now(&a->transport), dl_transport_now(&b->transport));
    devlog_program_free(p);
    check_ok(devlog_device_close(a, &err), &err);
    devlog_program_free(q);
    q = launch_hang(b, (devlog_core){1, 1}, 5); /* the other one goes on */
    devlog_program_free(q);
    check_ok(devlog_device_close(b, &err), &err);
    unsetenv("DEVLOG_SIM_CHIPS");
    /* Both are in the log. */
    char path[300];
    size_t size;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    char *text = read_bytes(path, &size);
    assert_non_null(strstr(text, "\n0,"));
    assert_non_null(strstr(text, "\n1,"));
    free(text);
    /* The last one ended the process: there is a new one, with one chip. */
    check_ok(open_chip("", 0, folder, &a, &err), &err);
    check_ok(devlog_device_close(a, &err), &err);
}

/* Another program that loads the library learns of a variable that means nothing: its process ends with a line of why. */
static void variables_that_mean_nothing(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"DEVLOG_SIM_BOARD", "typo", "there is no board 'typo' (DEVLOG_SIM_BOARD)"},
        {"DEVLOG_SIM_CHIPS", "0", "DEVLOG_SIM_CHIPS is not a number from 1 to 8"},
        {"DEVLOG_SIM_CHIPS", "9", "DEVLOG_SIM_CHIPS is not a number from 1 to 8"},
        {"DEVLOG_SIM_CHIPS", "2x", "DEVLOG_SIM_CHIPS is not a number from 1 to 8"},
        {"DEVLOG_SIM_CHIPS", "-1", "DEVLOG_SIM_CHIPS is not a number from 1 to 8"},
        {"DEVLOG_SIM_CHIPS", " 2", "DEVLOG_SIM_CHIPS is not a number from 1 to 8"},
    };
    char said[300];
    snprintf(said, sizeof said, "%s/said", test_folder());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            int file = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(file, 2);
            setenv(cases[i][0], cases[i][1], 1);
            void *dl = dlopen(library("") + strlen("ttsim:"), RTLD_NOW);
            void (*init)(void) = NULL;
            if (dl) *(void **)&init = dlsym(dl, "libttsim_init");
            if (!init) fprintf(stderr, "%s", dlerror());
            if (init) init();
            _exit(0);
        }
        int code;
        assert_int_equal(waitpid(pid, &code, 0), pid);
        char *text = read_bytes(said, NULL);
        if (!WIFEXITED(code) || WEXITSTATUS(code) != 1 || !strstr(text, cases[i][2]))
            fail_msg("%s=%s: %x, '%s'", cases[i][0], cases[i][1], (unsigned)code, text);
        free(text);
    }
}

/* The library ends its process; this one goes on, with what was recorded and a post-mortem. */
static void a_fault(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    char folder[256], post[300], path[300];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(post, sizeof post, "%s/fault.state", folder);
    setenv("DEVLOG_POSTMORTEM", post, 1);
    check_ok(open_chip("", 0, folder, &device, &err), &err);
    unsetenv("DEVLOG_POSTMORTEM");
    program = launch_hang(device, (devlog_core){2, 3}, 3);
    devlog_program_free(program);
    check_ok(devlog_program_create(device, &program, &err), &err);
    add_kernel(program, "tests/sim/kernels/wild.c", "NCRISC", (devlog_cores){2, 3, 2, 3}, NULL);
    prepare(device, program);
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_DEVICE);
    if (!strstr(err.text, "has stopped at a fault") || !strstr(err.text, "; look at it with: devlog dump "))
        fail_msg("%s", err.text);
    assert_null(strchr(err.text, '\n'));
    uint32_t word = 1;
    check_ok(devlog_read_from_device(device, (devlog_core){2, 3}, devlog_device_user_l1(device, NULL), &word,
                                     4, &err),
             &err);
    assert_int_not_equal(devlog_launch_program(device, program, &(devlog_error){0}), DEVLOG_OK);
    devlog_program_free(program);
    devlog_device_close(device, &err);
    /* The launch before is in the log and in the capture. */
    size_t size;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    char *text = read_bytes(path, &size);
    assert_non_null(strstr(text, "NCRISC"));
    free(text);
    snprintf(path, sizeof path, "%s/capture.devlog", folder);
    assert_int_equal(access(path, R_OK), 0);
    const char *argv[] = {getenv("DEVLOG_BIN"), "dump", post, NULL};
    dl_output out;
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != 0 || !strstr(out.text, "before the wild store"))
        fail_msg("exit %d: %s", out.exit, out.text);
    free(out.text);
}

/* In whatever way the library ends its process, and whatever it does when it is looked at afterwards: every request is answered. */
static void every_kind_of_fault(void **state)
{
    (void)state;
    static const char kinds[] = "E_aswk";
    char path[700];
    snprintf(path, sizeof path, "%s", library("") + strlen("ttsim:"));
    snprintf(strrchr(path, '/'), 20, "/libfaulty.so");
    for (size_t i = 0; kinds[i]; i++)
        for (size_t k = 0; kinds[k]; k++) {
            const char ways[2] = {kinds[i], kinds[k]};
            const bool ended = kinds[i] == 'k';
            devlog_error err = {0};
            ttsim_child *c = NULL;
            uint8_t bytes[64] = {0}, seven[64];
            memset(seven, 7, sizeof seven);
            check_ok(ttsim_child_get(path, &c, &err), &err);
            check_ok(ttsim_child_read(c, 0, bytes, sizeof bytes, &err), &err);
            assert_memory_equal(bytes, seven, sizeof bytes);
            check_ok(ttsim_child_write(c, 0, ways, sizeof ways, &err), &err);
            assert_int_equal(ttsim_child_clock(c, 100, &err), DEVLOG_ERR_DEVICE);
            assert_non_null(strstr(err.text, ended ? "has ended" : "has stopped at a fault"));
            if (kinds[k] == 'E' && !ended) {
                /* It can be looked at, if the library is content with it. */
                check_ok(ttsim_child_write(c, 0, "--", sizeof ways, &err), &err);
                check_ok(ttsim_child_read(c, 0, bytes, sizeof bytes, &err), &err);
                assert_memory_equal(bytes, seven, sizeof bytes);
                assert_int_equal(ttsim_child_clock(c, 100, &err), DEVLOG_ERR_DEVICE);
                check_ok(ttsim_child_write(c, 0, ways, sizeof ways, &err), &err);
            }
            assert_int_equal(ttsim_child_read(c, 0, bytes, sizeof bytes, &err), DEVLOG_ERR_DEVICE);
            assert_non_null(strstr(err.text, "has ended"));
            assert_int_equal(ttsim_child_read(c, 0, bytes, sizeof bytes, &err), DEVLOG_ERR_DEVICE);
            ttsim_child_leave(c);
        }
}

/* What is the program's own is not kept open by the library's process: a pipe ends when the program closes its end. */
static void nothing_is_inherited(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device;
    char folder[256], byte;
    int ends[2];
    snprintf(folder, sizeof folder, "%s", test_folder());
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    check_ok(open_chip("", 0, folder, &device, &err), &err);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    check_ok(devlog_device_close(device, &err), &err);
}

/* ---- Cycles that are instructions ---- */

/* Our library without the function by which it says that it has timing: as ttsim is. */
static void write_untimed(const char *path)
{
    char ours[700];
    size_t size, found = 0;
    const size_t length = strlen(TTSIM_TIMED) + 1;
    snprintf(ours, sizeof ours, "%s", library("") + strlen("ttsim:"));
    char *bytes = read_bytes(ours, &size);
    for (size_t i = 0; i + length < size; i++) {
        if (memcmp(bytes + i, TTSIM_TIMED, length) != 0) continue;
        bytes[i] = '_';
        found++;
    }
    assert_true(found > 0);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/* What a command of devlog prints, and what it writes (NULL: nothing). */
static void check_says(const char *const *argv, const char *words, const char *written, bool says)
{
    devlog_error err = {0};
    dl_output out;
    size_t size;
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != 0 && out.exit != 3) fail_msg("%s: exit %d: %s", argv[1], out.exit, out.text);
    if ((strstr(out.text, words) != NULL) != says)
        fail_msg("%s %s: %s", argv[1], says ? "does not say it" : "says it", out.text);
    free(out.text);
    if (!written) return;
    char *text = read_bytes(written, &size);
    if ((strstr(text, words) != NULL) != says)
        fail_msg("%s %s: %s", written, says ? "does not say it" : "says it", text);
    free(text);
}

static void run_and_look(const char *transport, const char *settings, bool instructions)
{
    devlog_error err = {0};
    devlog_device *device;
    char folder[256], log[300], capture[300], packed[300], out[300], stats[320];
    size_t size;
    snprintf(folder, sizeof folder, "%s", test_folder());
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = transport, .sim = settings,
                              .profile = DEVLOG_ON, .log_folder = folder);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    devlog_program_free(launch_hang(device, (devlog_core){0, 0}, 3));
    check_ok(devlog_device_close(device, &err), &err);
    snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
    snprintf(capture, sizeof capture, "%s/capture.devlog", folder);
    snprintf(packed, sizeof packed, "%s/packed.devlogz", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(stats, sizeof stats, "%s/device_stats.txt", out);
    char *text = read_bytes(log, &size);
    assert_int_equal(strstr(text, ", Cycles: instructions,") != NULL, instructions);
    free(text);
    static const char words[] = "ycles are instructions";
    const char *bin = getenv("DEVLOG_BIN");
    check_says((const char *[]){bin, "decode", "-o", out, log, NULL}, words, stats, instructions);
    check_says((const char *[]){bin, "decode", "-o", out, capture, NULL}, words, stats, instructions);
    check_says((const char *[]){bin, "pack", "-o", packed, log, NULL}, words, NULL, false);
    check_says((const char *[]){bin, "decode", "-o", out, packed, NULL}, words, stats, instructions);
    check_says((const char *[]){bin, "decode", "-f", "json", capture, NULL},
               "\"cycles_are_instructions\": true", NULL, instructions);
    char page[320];
    snprintf(page, sizeof page, "%s/device_perf.html", out);
    check_says((const char *[]){bin, "decode", "-o", out, capture, NULL}, words, NULL, instructions);
    text = read_bytes(page, &size);
    assert_int_equal(strstr(text, "\"instructions\":true") != NULL, instructions);
    free(text);
    check_says((const char *[]){bin, "decode", "-f", "csv", capture, NULL},
               "clocks,cycles_are_instructions,0,", NULL, instructions);
    check_says((const char *[]){bin, "ops", "-i", folder, "-o", out, NULL}, words, NULL, instructions);
    /* What reads the op report, and what compares. */
    char report[320];
    snprintf(report, sizeof report, "%s/ops_perf_results.csv", out);
    check_says((const char *[]){bin, "ops", "summary", report, NULL}, words, report, instructions);
    check_says((const char *[]){bin, "ops", "summary", "--format", "json", report, NULL},
               "\"cycles_are_instructions\":true", NULL, instructions);
    check_says((const char *[]){bin, "ops", "compare", report, report, NULL}, words, NULL, instructions);
    check_says((const char *[]){bin, "ops", "compare", "--format", "json", report, report, NULL},
               "\"cycles_are_instructions\":true", NULL, instructions);
    check_says((const char *[]){bin, "diff", report, report, NULL}, words, NULL, instructions);
    check_says((const char *[]){bin, "diff", log, log, NULL}, words, NULL, instructions);
    check_says((const char *[]){bin, "diff", "--format", "json", capture, capture, NULL},
               "\"cycles_are_instructions\":true", NULL, instructions);
    /* The page, and exports, which name their chips. */
    check_says((const char *[]){bin, "export", "-f", "chrome", "-o", "-", capture, NULL}, words, NULL,
               instructions);
    check_says((const char *[]){bin, "export", "-f", "speedscope", "-o", "-", capture, NULL}, words, NULL,
               instructions);
    check_says((const char *[]){bin, "export", "-f", "json", "-o", "-", capture, NULL},
               "\"cycles_are_instructions\":true", NULL, instructions);
}

static void cycles_are_instructions(void **state)
{
    (void)state;
    char untimed[300], transport[320];
    snprintf(untimed, sizeof untimed, "%s/untimed.so", test_folder());
    snprintf(transport, sizeof transport, "ttsim:%s", untimed);
    write_untimed(untimed);
    run_and_look(transport, NULL, true);
    run_and_look(library(""), NULL, false);
    run_and_look("sim", "functional=1", true);
    run_and_look("sim", "functional=0", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_chips_at_once),
                                       cmocka_unit_test(variables_that_mean_nothing),
                                       cmocka_unit_test(a_fault),
                                       cmocka_unit_test(every_kind_of_fault),
                                       cmocka_unit_test(nothing_is_inherited),
                                       cmocka_unit_test(cycles_are_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
