/* A hung or crashed kernel, seen by another program: `devlog dump` names the core, the RISC and the open
 * zone, from a saved state of the simulator and from outside of a running QEMU. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"
#include "support/text.h"

static char *dump(int exit_status, const char *a, const char *b, const char *c, const char *d)
{
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    const char *argv[] = {bin, "dump", a, b, c, d, NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != exit_status) fail_msg("exit status %d: %s", out.exit, out.text);
    return out.text;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

/* A device on which tests/sim/kernels/hang.c is ready on one RISC of one core. */
static devlog_device *ready(const char *board_name, const char *transport, const char *folder,
                            const char *risc, devlog_cores cores, devlog_program **program, uint32_t argument)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = board_name, .transport = transport, .path = folder,
                              .profile = DEVLOG_ON, .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_program_create(device, program, &err), &err);
    devlog_kernel *kernel = add_kernel(*program, "tests/sim/kernels/hang.c", risc, cores, NULL);
    for (uint32_t y = cores.y0; y <= cores.y1; y++)
        for (uint32_t x = cores.x0; x <= cores.x1; x++)
            check_ok(devlog_kernel_set_args(kernel, (devlog_core){x, y}, &argument, 1, &err), &err);
    prepare(device, *program);
    return device;
}

static void finish(devlog_device *device, devlog_program *program)
{
    devlog_error err = {0};
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* The first launch ends, the second hangs on one of two cores; every format names the same. */
static void a_hang_in_the_simulator(void **state)
{
    (void)state;
    char path[256];
    devlog_error err = {0};
    devlog_program *program;
    snprintf(path, sizeof path, "%s/hang.state", test_folder());
    setenv("DEVLOG_POSTMORTEM", path, 1);
    const devlog_cores two = {2, 1, 3, 1};
    devlog_device *device = ready("wormhole_b0", "sim", NULL, "TRISC1", two, &program, 10);
    check_ok(devlog_launch_program(device, program, &err), &err);
    assert_int_not_equal(access(path, F_OK), 0); /* only when something is wrong */
    const uint32_t forever = UINT32_MAX;
    check_ok(devlog_kernel_set_args(program->kernels, (devlog_core){3, 1}, &forever, 1, &err), &err);
    prepare(device, program);
    device->timeout_ms = 300;
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_TIMEOUT);
    unsetenv("DEVLOG_POSTMORTEM");
    says(err.text, "; look at it with: devlog dump ");
    finish(device, program);

    char *text = dump(0, path, NULL, NULL, NULL);
    says(text, "core (3,1), launch 2\n");
    assert_null(strstr(text, "core (2,1)"));
    says(text, "  TRISC1   in kernel, pc 0x0003");
    says(text, " in kernel_main (hang.c:1");
    says(text, "in zone \"TRISC-KERNEL\"");
    says(text, "  in zone \"outer\" (hang.c:12) for ");
    says(text, "    in zone \"stuck here\" (hang.c:14) for ");
    says(text, "last marker: zone begins \"stuck here\" (hang.c:14) at cycle ");
    assert_null(strstr(text, "done before"));
    says(text, "Tenstorrent Wormhole B0, 2 cores started; 1 RISC busy, 9 not");
    free(text);

    text = dump(0, path, "--format", "csv", "--all");
    says(text, "3,1,TRISC1,in kernel,2,0,0x0003");
    says(text, "TRISC-FW;TRISC-KERNEL;outer;stuck here,");
    says(text, "3,1,NCRISC,done,2,0,");
    says(text, "2,1,BRISC,idle,2,0,");
    free(text);
    text = dump(0, path, "--format=json", NULL, NULL);
    says(text, "\"risc\":\"TRISC1\",\"state\":\"in kernel\",\"launch\":2");
    says(text, "\"last_what\":\"zone begins\",\"last\":{\"name\":\"stuck here\"");
    free(text);

    /* Numbers for names are something missing; so is a file that was named. */
    char cache[256] = "", *kept = getenv("DEVLOG_CACHE");
    snprintf(cache, sizeof cache, "%s", kept ? kept : "");
    setenv("DEVLOG_CACHE", test_folder(), 1);
    text = dump(3, path, NULL, NULL, NULL);
    says(text, "the ELF file of its kernel is not in the cache: name it with --elf");
    free(text);
    text = dump(3, path, "--format=json", NULL, NULL);
    says(text, ",\"damaged\":false,\"unnamed\":true}");
    free(text);
    text = dump(3, path, "--format=csv", NULL, NULL);
    says(text, ",lost,damaged,unnamed\n");
    says(text, ",0,0,1\n");
    free(text);
    setenv("DEVLOG_CACHE", cache, 1);
    /* Where nothing is busy a table has its head. */
    text = dump(3, "tests/fuzz/corpus/saved/done", "--format=csv", NULL, NULL);
    says(text, "core_x,core_y,risc,");
    says(text,
         "devlog dump: of RISCs that are not shown 1 have lost or damaged records, or no ELF file: --all");
    assert_int_equal(text_count(text, "\n"), 2); /* the head, and why the status is 3 */
    free(text);
    text = dump(1, path, "--elf", "/nowhere/kernel.elf", NULL);
    says(text, "devlog dump: cannot read /nowhere/kernel.elf: No such file");
    free(text);
}

/* A store to nowhere stops the simulation: what is in its memory is still told. */
static void a_crash_in_the_simulator(void **state)
{
    (void)state;
    char path[256], kernel[256];
    devlog_error err = {0};
    devlog_program *program;
    const devlog_cores one = {0, 0, 0, 0};
    snprintf(path, sizeof path, "%s/crash.state", test_folder());
    setenv("DEVLOG_POSTMORTEM", path, 1);
    devlog_device *device = open_device("blackhole", NULL);
    unsetenv("DEVLOG_POSTMORTEM");
    snprintf(kernel, sizeof kernel, "%s/kernel.c", test_folder());
    write_text(kernel, "#include <devlog/kernel.h>\n#include <devlog/profile.h>\nvoid kernel_main(void)\n{\n"
                       "    DEVLOG_ZONE(\"about to crash\");\n"
                       "    *(volatile uint32_t *)(uintptr_t)0x70000000u = 1;\n}\n");
    check_ok(devlog_program_create(device, &program, &err), &err);
    const devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = kernel, .risc = "NCRISC", .cores = one);
    check_ok(devlog_program_add_kernel(program, &options, NULL, &err), &err);
    prepare(device, program);
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_DEVICE);
    says(err.text, "nothing is mapped there; that is core (0,0), NCRISC in ");
    says(err.text, "kernel.c; look at it with: devlog dump ");
    finish(device, program);
    char *text = dump(0, path, NULL, NULL, NULL);
    says(text, "core (0,0), launch 1\n");
    says(text, "  NCRISC   in kernel, pc 0x0002");
    says(text, "in zone \"about to crash\" (kernel.c:5) ");
    free(text);
}

static void what_cannot_be_looked_at(void **state)
{
    (void)state;
    char path[256], *text = dump(1, "/nowhere/hang.state", NULL, NULL, NULL);
    says(text, "devlog dump: ");
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
    free(text);
    snprintf(path, sizeof path, "%s/x", test_folder());
    write_text(path, "DEVLOGPM and then something else");
    text = dump(1, path, NULL, NULL, NULL);
    says(text, "not a saved state of a device");
    free(text);
    text = dump(1, "--device", "sim", NULL, NULL);
    says(text, "set DEVLOG_POSTMORTEM=FILE there");
    free(text);
    free(dump(2, NULL, NULL, NULL, NULL));
    free(dump(2, path, "--device", "qemu", NULL));
}

static bool have_qemu(void)
{
    const char *argv[] = {"qemu-system-riscv32", "--version", NULL};
    dl_output out;
    if (dl_process_run(argv, &out, NULL) != DEVLOG_OK) return false;
    free(out.text);
    return true;
}

/* While the program waits for its launch, another looks at it; and after it was killed, at what it left. */
static void a_hang_in_qemu(void **state)
{
    (void)state;
    if (!have_qemu()) {
        print_message("qemu-system-riscv32 is not installed (Debian package qemu-system-misc)\n");
        skip();
    }
    char folder[128], device_name[160];
    snprintf(folder, sizeof folder, "%s/qemu", test_folder());
    snprintf(device_name, sizeof device_name, "qemu:%s", folder);
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        devlog_error err = {0};
        devlog_program *program;
        const devlog_cores one = {0, 0, 0, 0};
        devlog_device *device = ready(NULL, "qemu", folder, "TRISC2", one, &program, UINT32_MAX);
        device->timeout_ms = 1000000;
        if (write(told[1], "x", 1) != 1) _exit(1);
        devlog_launch_program(device, program, &err);
        _exit(1);
    }
    char c;
    assert_int_equal(read(told[0], &c, 1), 1);
    char *text = NULL;
    for (int i = 0; i < 2000;
         i++) { /* until the launch has come as far as the kernel: on a busy machine not soon */
        free(text);
        text = dump(0, "--device", device_name, NULL, NULL);
        if (strstr(text, "stuck here")) break;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    says(text, "core (0,0), launch 1\n");
    says(text, "  TRISC2   in kernel, pc 0x8004");
    says(text, "in zone \"stuck here\" (hang.c:14) for ");
    free(text);

    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    text = dump(0, "--device", device_name, NULL, NULL);
    says(text, "  TRISC2   in kernel\n");
    says(text, "in zone \"stuck here\" (hang.c:14) since cycle ");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hang_in_the_simulator),
        cmocka_unit_test(a_crash_in_the_simulator),
        cmocka_unit_test(what_cannot_be_looked_at),
        cmocka_unit_test(a_hang_in_qemu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
