/* The same firmware and kernels on QEMU, an executor that is not ours: the same results as on the simulator,
 * new code in an old place is seen, a core that hangs is started anew, and the process never outlives the
 * host. Skipped when QEMU is not installed. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

static const devlog_cores one = {0, 0, 0, 0};
static const devlog_core zero = {0, 0};

static bool have_qemu(void)
{
    const char *argv[] = {"qemu-system-riscv32", "--version", NULL};
    dl_output out;
    if (dl_process_run(argv, &out, NULL) != DEVLOG_OK) return false;
    free(out.text);
    return true;
}

#define NEEDS_QEMU()                                                                                         \
    do {                                                                                                     \
        if (have_qemu()) break;                                                                              \
        print_message("qemu-system-riscv32 is not installed (Debian package qemu-system-misc)\n");           \
        skip();                                                                                              \
    } while (0)

static devlog_device *open_qemu(void)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "qemu", .profile = DEVLOG_ON, .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &device, &err), &err);
    assert_string_equal(devlog_device_board(device), "qemu_virt");
    return device;
}

/* A program of one kernel on BRISC, from its text. */
static devlog_program *program_of(devlog_device *device, const char *text)
{
    devlog_error err = {0};
    devlog_program *program;
    char path[256];
    snprintf(path, sizeof path, "%s/kernel.c", test_folder());
    write_text(path, text);
    check_ok(devlog_program_create(device, &program, &err), &err);
    const devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = path, .risc = "BRISC", .cores = one);
    check_ok(devlog_program_add_kernel(program, &options, NULL, &err), &err);
    prepare(device, program);
    return program;
}

static char *demo_checksum(const char *device)
{
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    char program[512], folder[128];
    snprintf(program, sizeof program, "%.*s/demo", (int)(strrchr(bin, '/') - bin), bin);
    snprintf(folder, sizeof folder, "%s/logs", test_folder());
    setenv("DEVLOG_LOG_FOLDER", folder, 1);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    const char *argv[] = {program, "--device", device, "3", "1", "1", NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    unsetenv("TT_METAL_DEVICE_PROFILER");
    unsetenv("DEVLOG_LOG_FOLDER");
    char *at = strstr(out.text, "checksum   ");
    if (out.exit != 0 || !at) fail_msg("%s: %s", device, out.text);
    char *sum = strndup(at, 19);
    free(out.text);
    return sum;
}

static void demo_computes_the_same(void **state)
{
    (void)state;
    NEEDS_QEMU();
    char *ours = demo_checksum("sim"), *theirs = demo_checksum("qemu");
    assert_string_equal(ours, theirs);
    free(ours);
    free(theirs);
}

/* Two kernels of the same shape in the same place: what QEMU has translated of the first is not run again. */
static void new_code_is_seen(void **state)
{
    (void)state;
    NEEDS_QEMU();
    devlog_error err = {0};
    devlog_device *device = open_qemu();
    uint32_t user = devlog_device_user_l1(device, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "#include <devlog/kernel.h>\nvoid kernel_main(void)\n{\n"
                 "    *(volatile uint32_t *)(uintptr_t)DEVLOG_USER_BASE = %uu;\n}\n",
                 0x1000 + i);
        devlog_program *program = program_of(device, text);
        for (int k = 0; k < 2; k++) {
            uint32_t got = 0;
            check_ok(devlog_launch_program(device, program, &err), &err);
            check_ok(devlog_read_from_device(device, zero, user, &got, 4, &err), &err);
            assert_int_equal(got, 0x1000 + i);
        }
        devlog_program_free(program);
    }
    check_ok(devlog_device_close(device, &err), &err);
}

static void a_hang_is_named_and_over(void **state)
{
    (void)state;
    NEEDS_QEMU();
    devlog_error err = {0};
    devlog_device *device = open_qemu();
    devlog_program *hangs = program_of(device, "#include <devlog/kernel.h>\nvoid kernel_main(void)\n{\n"
                                               "    for (volatile int i = 1; i;) {}\n}\n");
    device->timeout_ms = 1500;
    assert_int_equal(devlog_launch_program(device, hangs, &err), DEVLOG_ERR_TIMEOUT);
    device->timeout_ms = 20000;
    if (!strstr(err.text, "core (0,0): BRISC at pc 0x8002")) fail_msg("%s", err.text);
    devlog_program_free(hangs);

    devlog_program *ends = program_of(device, "#include <devlog/kernel.h>\nvoid kernel_main(void) {}\n");
    check_ok(devlog_launch_program(device, ends, &err), &err);
    devlog_program_free(ends);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Every process below `root`, which is a child of this one, that is a QEMU; 0 when there is none. */
static pid_t qemu_below(pid_t root)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)root, (long)root);
    FILE *f = fopen(path, "r");
    long pid = 0;
    if (!f || fscanf(f, "%ld", &pid) != 1) pid = 0;
    if (f) fclose(f);
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    f = pid ? fopen(path, "r") : NULL;
    if (f && !fgets(name, sizeof name, f)) name[0] = 0;
    if (f) fclose(f);
    return strncmp(name, "qemu-system", 11) == 0 ? (pid_t)pid : 0;
}

static void nothing_is_left_of_it(void **state)
{
    (void)state;
    NEEDS_QEMU();
    devlog_error err = {0};
    devlog_device *device = open_qemu();
    devlog_program *program = program_of(device, "#include <devlog/kernel.h>\nvoid kernel_main(void) {}\n");
    pid_t pid = qemu_below(getpid());
    assert_true(pid > 0);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);

    /* And when the host is killed. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t host = fork();
    if (host == 0) {
        device = open_qemu();
        program_of(device, "#include <devlog/kernel.h>\nvoid kernel_main(void) {}\n");
        for (;;)
            pause();
    }
    for (int i = 0; i < 1000 && !(pid = qemu_below(host)); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(pid > 0);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    int how = 0;
    assert_int_equal(waitpid(pid, &how, 0), pid); /* as its reaper, now that its parent is gone */
    assert_true(WIFSIGNALED(how));
}

static void a_missing_qemu_is_one_line(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.transport = "qemu");
    setenv("DEVLOG_QEMU", "no-such-qemu", 1);
    assert_int_equal(devlog_device_open(&options, &device, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "install the Debian package qemu-system-misc"));
    unsetenv("DEVLOG_QEMU");

    /* A program that is no QEMU ends at once, and its last words are repeated. */
    char path[256];
    snprintf(path, sizeof path, "%s/qemu", test_folder());
    write_text(path, "#!/bin/sh\necho 'no machine today'\nexit 1\n");
    const char *argv[] = {"chmod", "+x", path, NULL};
    dl_output out;
    check_ok(dl_process_run(argv, &out, &err), &err);
    free(out.text);
    setenv("DEVLOG_QEMU", path, 1);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    add_kernel(program, "firmware/kernels/vector_add.c", "BRISC", one, NULL);
    check_ok(devlog_compile_program(program, &err), &err);
    assert_int_equal(devlog_configure_device_with_program(device, program, &err), DEVLOG_ERR_TRANSPORT);
    if (!strstr(err.text, "ended: no machine today")) fail_msg("%s", err.text);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
    unsetenv("DEVLOG_QEMU");
}

/* A folder belongs to one program at a time. */
static void a_folder_in_use_is_refused(void **state)
{
    (void)state;
    NEEDS_QEMU();
    devlog_error err = {0};
    devlog_device *first, *second;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/qemu", test_folder());
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.transport = "qemu", .path = folder);
    check_ok(devlog_device_open(&options, &first, &err), &err);
    assert_int_equal(devlog_device_open(&options, &second, &err), DEVLOG_ERR_STATE);
    assert_non_null(strstr(err.text, "another program uses "));
    check_ok(devlog_device_close(first, &err), &err);
    check_ok(devlog_device_open(&options, &second, &err), &err);
    check_ok(devlog_device_close(second, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo_computes_the_same),     cmocka_unit_test(new_code_is_seen),
        cmocka_unit_test(a_hang_is_named_and_over),   cmocka_unit_test(nothing_is_left_of_it),
        cmocka_unit_test(a_missing_qemu_is_one_line), cmocka_unit_test(a_folder_in_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
