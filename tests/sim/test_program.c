/* Programs on the simulator: what happens when something is wrong with them, and that a launch of a device
 * that is not profiled reads no profiler memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/device.h"
#include "support/files.h"

static const devlog_cores one = {0, 0, 0, 0};

static devlog_status try_kernel(devlog_device *device, const char *text, const char *risc, devlog_cores cores,
                                devlog_error *err)
{
    char path[256];
    snprintf(path, sizeof path, "%s/kernel.c", test_folder());
    write_text(path, text);
    devlog_program *program;
    devlog_status status = devlog_program_create(device, &program, err);
    const devlog_kernel_options options = DEVLOG_KERNEL_OPTIONS(.source = path, .risc = risc, .cores = cores);
    if (status == DEVLOG_OK) status = devlog_program_add_kernel(program, &options, NULL, err);
    if (status == DEVLOG_OK) status = devlog_compile_program(program, err);
    if (status == DEVLOG_OK) status = devlog_configure_device_with_program(device, program, err);
    if (status == DEVLOG_OK) status = devlog_launch_program(device, program, err);
    devlog_program_free(program);
    return status;
}

static void assert_says(const devlog_error *err, const char *part)
{
    if (!strstr(err->text, part)) fail_msg("'%s' does not say '%s'", err->text, part);
}

static void wrong_kernels_are_refused(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    const char fine[] = "#include <devlog/kernel.h>\nvoid kernel_main(void) {}\n";
    check_ok(try_kernel(device, fine, "BRISC", one, &err), &err);

    assert_int_equal(try_kernel(device, "void kernel_main(void) { nonsense }\n", "BRISC", one, &err),
                     DEVLOG_ERR_COMPILE);
    assert_says(&err, "kernel.c:1:");
    assert_says(&err, "nonsense");

    assert_int_equal(
        try_kernel(device,
                   "#include <stdint.h>\nconst uint32_t big[50000] = {1};\n"
                   "volatile uint32_t i; volatile uint32_t x;\nvoid kernel_main(void) { x = big[i]; }\n",
                   "TRISC1", one, &err),
        DEVLOG_ERR_COMPILE);
    assert_says(&err, "kernel.c for TRISC1 does not fit: its code and constants take 20");
    assert_says(&err, "no kernel of the program uses, has 163,840 (");
    assert_says(&err, "docs/markers.md");

    assert_int_equal(try_kernel(device,
                                "#include <stdint.h>\nvolatile uint32_t big[500];\n"
                                "void kernel_main(void) { big[0] = 1; }\n",
                                "TRISC0", one, &err),
                     DEVLOG_ERR_COMPILE);
    assert_says(&err, "kernel.c for TRISC0 does not fit: its variables take ");
    assert_says(&err, "bytes of local data RAM");

    assert_int_equal(try_kernel(device, fine, "QRISC", one, &err), DEVLOG_ERR_ARGUMENT);
    assert_says(&err, "no RISC 'QRISC'");
    assert_int_equal(try_kernel(device, fine, "BRISC", (devlog_cores){0, 0, 8, 0}, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_says(&err, "outside the grid of wormhole_b0: x 0 to 7, y 0 to 9");

    /* What came before is not lost: the device still runs. */
    check_ok(try_kernel(device, fine, "NCRISC", one, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
}

static void two_kernels_on_one_risc(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    add_kernel(program, "firmware/kernels/vector_add.c", "BRISC", (devlog_cores){0, 0, 3, 3}, NULL);
    const devlog_kernel_options again =
        DEVLOG_KERNEL_OPTIONS(.source = source_path("firmware/kernels/vector_add.c"), .risc = "BRISC",
                              .cores = {3, 3, 4, 4});
    assert_int_equal(devlog_program_add_kernel(program, &again, NULL, &err), DEVLOG_ERR_ARGUMENT);
    assert_says(&err, "already runs");
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_STATE);
    assert_int_equal(devlog_configure_device_with_program(device, program, &err), DEVLOG_ERR_STATE);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

static void endless_kernel_times_out(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    device->timeout_ms = 300;
    const char endless[] =
        "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"
        "void kernel_main(void) { DEVLOG_ZONE(\"forever\"); for (;;) { __asm__ volatile(\"\"); } }\n";
    const char fine[] = "#include <devlog/kernel.h>\nvoid kernel_main(void) {}\n";
    assert_int_equal(try_kernel(device, endless, "NCRISC", (devlog_cores){1, 2, 1, 2}, &err),
                     DEVLOG_ERR_TIMEOUT);
    assert_says(&err, "core (1,2): NCRISC at pc 0x28");
    assert_null(strstr(err.text, "TRISC"));
    assert_null(strstr(err.text, "BRISC in"));

    /* The core is started anew by the next program, and its records until then are in the log. */
    size_t size;
    char *log = read_bytes(devlog_profiler_log(device), &size);
    assert_non_null(strstr(log, "forever"));
    assert_null(strstr(log, "NCRISC-FW,ZONE_END"));
    free(log);
    device->timeout_ms = 20000;
    check_ok(try_kernel(device, fine, "BRISC", (devlog_cores){1, 2, 1, 2}, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
}

static void unprofiled_launch_reads_no_records(void **state)
{
    (void)state;
    for (int profile = 0; profile < 2; profile++) {
        devlog_error err = {0};
        devlog_device *device;
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.transport = "sim", .profile = profile ? DEVLOG_ON : DEVLOG_OFF,
                                  .log_folder = test_folder());
        check_ok(devlog_device_open(&options, &device, &err), &err);
        devlog_program *program;
        check_ok(devlog_program_create(device, &program, &err), &err);
        devlog_kernel *kernel = add_kernel(program, "firmware/kernels/vector_add.c", "BRISC", one, NULL);
        uint32_t user = devlog_device_user_l1(device, NULL);
        const uint32_t args[] = {user, user, user + 1024, 64};
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, args, 4, &err), &err);
        prepare(device, program);
        uint64_t reads = device->transport.reads, bytes = device->transport.bytes_read;
        check_ok(devlog_launch_program(device, program, &err), &err);
        reads = device->transport.reads - reads;
        bytes = device->transport.bytes_read - bytes;
        if (profile) {
            assert_true(bytes > 4 * reads);
        } else {
            assert_true(reads > 0);
            assert_int_equal(bytes, 4 * reads); /* nothing but looks at the one word that says done */
            assert_string_equal(devlog_profiler_log(device), "");
        }
        devlog_program_free(program);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

static void missing_compiler_names_the_package(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    setenv("DEVLOG_CC", "riscv-gcc-that-is-not-there", 1);
    devlog_status status = try_kernel(device, "void kernel_main(void) {}\n", "BRISC", one, &err);
    unsetenv("DEVLOG_CC");
    assert_int_equal(status, DEVLOG_ERR_NOT_FOUND);
    assert_says(&err, "gcc-riscv64-unknown-elf");
    check_ok(devlog_device_close(device, &err), &err);
}

static void log_folder_that_cannot_be_made(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .profile = DEVLOG_ON, .log_folder = "/proc/devlog/logs");
    check_ok(devlog_device_open(&options, &device, &err), &err);
    assert_int_equal(try_kernel(device, "void kernel_main(void) {}\n", "BRISC", one, &err), DEVLOG_ERR_IO);
    assert_says(&err, "/proc/devlog");
    check_ok(devlog_device_close(device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_kernels_are_refused),
        cmocka_unit_test(two_kernels_on_one_risc),
        cmocka_unit_test(endless_kernel_times_out),
        cmocka_unit_test(unprofiled_launch_reads_no_records),
        cmocka_unit_test(missing_compiler_names_the_package),
        cmocka_unit_test(log_folder_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
