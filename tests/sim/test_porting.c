/* What docs/porting.md promises: a board is one JSON file. A made-up board runs from its file alone, on every
 * core and RISC; the microcontrollers that ship link into the memory that their manuals describe, and run on
 * the simulator with that memory map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/compile.h"
#include "support/files.h"
#include "support/rows.h"

static devlog_device *open_on(const char *board_file)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = board_file, .transport = "sim", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &device, &err), &err);
    return device;
}

enum { WORDS = 64 };

/* Vector add on one RISC of every core: results, and the zones that it recorded. */
static void run_vector_add(devlog_device *device, uint32_t risc)
{
    devlog_error err = {0};
    devlog_program *program;
    uint32_t user = devlog_device_user_l1(device, NULL), words[3 * WORDS];
    devlog_core grid = devlog_device_grid(device);
    const devlog_cores all = {0, 0, grid.x - 1, grid.y - 1};
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel =
        add_kernel(program, "firmware/kernels/vector_add.c", devlog_device_risc(device, risc), all, NULL);
    for (uint32_t i = 0; i < grid.x * grid.y; i++) {
        const devlog_core core = {i % grid.x, i / grid.x};
        const uint32_t args[] = {user, user + 4 * WORDS, user + 8 * WORDS, WORDS};
        check_ok(devlog_kernel_set_args(kernel, core, args, 4, &err), &err);
        for (uint32_t k = 0; k < 3 * WORDS; k++)
            words[k] = k < 2 * WORDS ? 1000 * i + k : 0;
        check_ok(devlog_write_to_device(device, core, user, words, sizeof words, &err), &err);
    }
    prepare(device, program);
    launch(device, program);
    for (uint32_t i = 0; i < grid.x * grid.y; i++) {
        const devlog_core core = {i % grid.x, i / grid.x};
        check_ok(devlog_read_from_device(device, core, user, words, sizeof words, &err), &err);
        for (uint32_t k = 0; k < WORDS; k++)
            assert_int_equal(words[2 * WORDS + k], 2000 * i + 2 * k + WORDS);
        test_rows rows;
        read_rows(device, program, core, risc, &rows);
        assert_true(count_rows(&rows, DL_ROW_ZONE_START, "add block") > 0);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "add block"),
                         count_rows(&rows, DL_ROW_ZONE_END, "add block"));
        assert_int_equal(rows.control.dropped, 0);
        assert_int_equal(rows.control.marks, 0xF);
        free_rows(&rows);
    }
    devlog_program_free(program);
}

static void a_made_up_board_runs(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_on(source_path("tests/boards/made_up.json"));
    assert_null(devlog_device_risc(device, 3));
    for (uint32_t risc = 0; risc < 3; risc++)
        run_vector_add(device, risc);
    check_ok(devlog_device_close(device, &err), &err);
}

/* What the board's linker fragment says holds: a table of a kernel lies where it wants it, and is loaded
 * there. */
static void the_linker_fragment_counts(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_on(source_path("tests/boards/made_up.json"));
    devlog_program *program;
    uint32_t got[2] = {0, 0};
    char path[256];
    snprintf(path, sizeof path, "%s/kernel.c", test_folder());
    write_text(path,
               "#include <devlog/kernel.h>\n"
               "__attribute__((section(\".corner\"))) volatile uint32_t table[] = {7, 11, 13};\n"
               "void kernel_main(void)\n{\n"
               "    volatile uint32_t *to = (volatile uint32_t *)(uintptr_t)DEVLOG_USER_BASE;\n"
               "    to[0] = (uint32_t)(uintptr_t)table;\n    to[1] = table[0] + table[1] + table[2];\n}\n");
    check_ok(devlog_program_create(device, &program, &err), &err);
    const devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = path, .risc = "LEFT", .cores = {0, 1, 0, 1});
    check_ok(devlog_program_add_kernel(program, &options, NULL, &err), &err);
    prepare(device, program);
    launch(device, program);
    check_ok(devlog_read_from_device(device, (devlog_core){0, 1}, devlog_device_user_l1(device, NULL), got,
                                     sizeof got, &err),
             &err);
    assert_int_equal(got[0], 0x40028000);
    assert_int_equal(got[1], 31);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Hangs, is named with its pc, and the core is of use again. */
static void a_hang_without_a_reset_register(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_on(source_path("tests/boards/made_up.json"));
    devlog_program *program;
    const devlog_cores one = {1, 1, 1, 1};
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/hang.c", "RIGHT", one, NULL);
    const uint32_t args[] = {UINT32_MAX};
    check_ok(devlog_kernel_set_args(kernel, (devlog_core){1, 1}, args, 1, &err), &err);
    prepare(device, program);
    device->timeout_ms = 300;
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_TIMEOUT);
    if (!strstr(err.text, "core (1,1): RIGHT at pc 0x40024")) fail_msg("%s", err.text);
    devlog_program_free(program);
    device->timeout_ms = 20000;
    run_vector_add(device, 2);
    check_ok(devlog_device_close(device, &err), &err);
}

static void microcontrollers_run(void **state)
{
    (void)state;
    static const char *const names[] = {"fe310", "gd32vf103"};
    for (size_t i = 0; i < 2; i++) {
        devlog_error err = {0};
        devlog_device *device = open_on(names[i]);
        assert_null(devlog_device_risc(device, 1));
        run_vector_add(device, 0);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

/* Every byte that is loaded lies in the slot that the board file gives it, with and without markers. */
static void all_is_linked_into_its_slot(void **state)
{
    (void)state;
    static const char *const names[] = {"fe310", "gd32vf103", "qemu_virt", "wormhole_b0"};
    for (size_t i = 0; i < 4; i++) {
        board b;
        devlog_error err = {0};
        check_ok(board_load(names[i], &b, &err), &err);
        for (uint32_t k = 0; k < 4; k++) {
            const bool kernel = k & 1;
            char path[COMPILE_PATH];
            dl_elf elf;
            const board_risc *risc = &b.riscs[b.n_riscs - 1];
            const compile_job job = {.board = &b,
                                     .risc = b.n_riscs - 1,
                                     .profile = k >> 1,
                                     .source = kernel ? source_path("firmware/kernels/vector_add.c") : NULL};
            check_ok(compile(&job, path, &err), &err);
            check_ok(dl_elf_read(path, &elf, &err), &err);
            assert_true(elf.n_segments > 0);
            const board_region *slot = kernel ? &risc->kernel : &risc->firmware;
            for (uint32_t s = 0; s < elf.n_segments; s++) {
                assert_in_range(elf.segments[s].address, slot->base, slot->base + slot->size);
                assert_in_range(elf.segments[s].address + elf.segments[s].size, slot->base,
                                slot->base + slot->size);
            }
            if (!kernel) assert_int_equal(elf.entry, risc->reset_pc);
            dl_elf_free(&elf);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_up_board_runs),
        cmocka_unit_test(the_linker_fragment_counts),
        cmocka_unit_test(a_hang_without_a_reset_register),
        cmocka_unit_test(microcontrollers_run),
        cmocka_unit_test(all_is_linked_into_its_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
