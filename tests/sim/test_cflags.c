/* devlog cflags: what it prints compiles kernels in a build of one's own, by gcc and by clang, also when
 * paths have blanks; the object file runs as a kernel and its markers have their names. And the marker header
 * by itself, disabled, on any compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/rows.h"

static void shell(const char *command)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    dl_output out;
    devlog_error err = {0};
    if (dl_process_run(argv, &out, &err)) fail_msg("%s", err.text);
    if (out.exit) fail_msg("%s: %s", command, out.text);
    free(out.text);
}

static const char kernel[] = "#include <devlog/kernel.h>\n"
                             "#include <devlog/profile.h>\n"
                             "void kernel_main(void)\n"
                             "{\n"
                             "    DEVLOG_ZONE(\"built elsewhere\");\n"
                             "    DEVLOG_VALUE(\"argument\", devlog_arg(0));\n"
                             "}\n";

/* Compiles the kernel by `compiler` with the flags that are printed, and runs it. */
static void builds_and_runs(const char *compiler)
{
    char command[2000], object[300];
    const char *source = in_scratch("my kernel.c");
    write_text(source, kernel);
    snprintf(object, sizeof object, "%s", in_scratch("kernel.o"));
    /* As a build would: eval, because the flags are quoted for a shell. */
    snprintf(command, sizeof command,
             "eval \"%s $(DEVLOG_CACHE='%s/a cache' '%s' cflags --risc NCRISC)\" -Werror -c \"'%s'\" -o '%s'",
             compiler, scratch(), getenv("DEVLOG_BIN"), source, object);
    shell(command);
    devlog_error err = {0};
    devlog_device *device = open_device(NULL, NULL);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    const devlog_kernel_options where = DEVLOG_KERNEL_OPTIONS(.source = object, .risc = "NCRISC");
    devlog_kernel *k;
    check_ok(devlog_program_add_kernel(program, &where, &k, &err), &err);
    const uint32_t argument = 5;
    check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, &argument, 1, &err), &err);
    prepare(device, program);
    launch(device, program);
    test_rows rows;
    read_rows(device, program, (devlog_core){0, 0}, 1, &rows);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "built elsewhere"), 1);
    assert_int_equal(count_rows(&rows, DL_ROW_TS_DATA, "argument"), 1);
    free_rows(&rows);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

static void by_gcc(void **state)
{
    (void)state;
    builds_and_runs("riscv64-unknown-elf-gcc");
}

static void by_clang(void **state)
{
    (void)state;
    if (system("clang --version >/dev/null 2>&1") != 0) {
        print_message("skipped: there is no clang\n");
        skip();
    }
    builds_and_runs("clang --target=riscv32 -Wno-unused-command-line-argument");
}

static void what_is_not_there(void **state)
{
    (void)state;
    devlog_fails("cflags --risc TRISC9", 1, "it has BRISC, NCRISC");
    devlog_fails("cflags --board nowhere", 1, "nowhere");
    devlog_fails("cflags kernel.c", 2, "kernel.c");
    free(devlog_ok("cflags --board blackhole --risc TRISC_2", 0));
    char *without = devlog_ok("cflags --no-profile", 0);
    assert_null(strstr(without, "PROFILE_DEVICE"));
    free(without);
}

/* Kernels that are compiled for the host, in unit tests of their own, need this header and nothing else. */
static void the_header_by_itself(void **state)
{
    (void)state;
    static const char *const compilers[] = {"cc -std=c11", "cc -std=c99", "g++ -std=c++11 -x c++",
                                            "g++ -std=c++20 -x c++"};
    const char *file = in_scratch("disabled.c");
    char command[1200], folder[300];
    snprintf(folder, sizeof folder, "%s", in_scratch("alone"));
    write_text(file, "#include <devlog/profile.h>\n"
                     "int f(int n);\n"
                     "int f(int n)\n"
                     "{\n"
                     "    DEVLOG_ZONE(\"f\");\n"
                     "    DEVLOG_ZONE_BEGIN(a, \"a\");\n"
                     "    DEVLOG_VALUE(\"n\", n);\n"
                     "    DEVLOG_PRINTF(\"n=%d\", n);\n"
                     "    DEVLOG_ZONE_END(a);\n"
                     "    DEVLOG_EVENT(\"e\");\n"
                     "    return n;\n"
                     "}\n");
    for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
        snprintf(command, sizeof command,
                 "mkdir -p '%s/devlog' && cp '%s' '%s/devlog' && %s -Wall -Wextra -Werror -nostdinc '-I%s' "
                 "-fsyntax-only '%s'",
                 folder, source_path("include/devlog/profile.h"), folder, compilers[i], folder, file);
        shell(command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_gcc),
        cmocka_unit_test(by_clang),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(the_header_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
