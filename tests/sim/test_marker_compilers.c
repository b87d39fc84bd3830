/* Markers in code that is not optimised, and in code by clang. */
#include <stdio.h>
#include <stdlib.h>

#include "base/process.h"
#include "device/board_gen.h"
#include "support/fixture.h"

static void markers_without_optimisation(void **state)
{
    (void)state;
    static const char *const flags[] = {"-O0", "-O0 -DDEVLOG_STAMP32", "-O0 -DDEVLOG_WIDE_IDS",
                                        "-O0 -DDEVLOG_WIDE_IDS -DDEVLOG_STAMP32"};
    for (size_t i = 0; i < 4; i++) {
        fixture f = start("tests/sim/kernels/classes.c", "NCRISC", flags[i], NULL);
        set_args(&f, 3, 0);
        launch(f.device, f.program);
        test_rows rows;
        read_rows(f.device, f.program, zero, 1, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "class 0"), 3);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "class 1"), 3);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "class 31"), 3);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_DATA, "value 2"), 3);
        assert_int_equal(rows.losses.damaged_words + rows.losses.unnamed, 0);
        free_rows(&rows);
        stop(&f);
    }
}

/* clang compiles the same header; its object files link and run. */
static void markers_by_clang(void **state)
{
    (void)state;
    const char *folder = test_folder();
    char board_flag[300], include[600], object[300], header[300];
    snprintf(object, sizeof object, "%s/clang.o", folder);
    snprintf(board_flag, sizeof board_flag, "-I%s", folder);
    snprintf(include, sizeof include, "-I%s", source_path("include"));
    snprintf(header, sizeof header, "%s/devlog_board.h", folder);
    fixture f;
    devlog_error err = {0};
    f.device = open_device(NULL, NULL);
    FILE *out = fopen(header, "w");
    assert_non_null(out);
    board_write_header(&f.device->board, out);
    fclose(out);
    const char *argv[] = {"clang",
                          "--target=riscv32",
                          "-march=rv32im",
                          "-mabi=ilp32",
                          "-O2",
                          "-ffreestanding",
                          "-DPROFILE_DEVICE",
                          "-DDEVLOG_RISC=0",
                          "-DDEVLOG_KERNEL=1",
                          include,
                          board_flag,
                          "-c",
                          source_path("tests/sim/kernels/classes.c"),
                          "-o",
                          object,
                          NULL};
    dl_output output;
    if (dl_process_run(argv, &output, &err) != DEVLOG_OK || output.exit != 0) {
        printf("skipped: clang cannot compile for riscv32 here\n");
        free(output.text);
        check_ok(devlog_device_close(f.device, &err), &err);
        skip();
    }
    free(output.text);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    const devlog_kernel_options o = DEVLOG_KERNEL_OPTIONS(.source = object, .risc = "BRISC", .cores = one);
    check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
    set_args(&f, 3, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 0, &rows);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "class 0"), 3);
    assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "print"), 3);
    assert_int_equal(rows.losses.damaged_words + rows.losses.unnamed, 0);
    free_rows(&rows);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_without_optimisation),
        cmocka_unit_test(markers_by_clang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
