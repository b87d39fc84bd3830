/* Device code compiled outside of devlog. See kernels.h. */
#include "support/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "device/board_gen.h"

static const char *const names[OBJECT_COMPILERS][2] = {
    [BY_GCC] = {"riscv64-unknown-elf-gcc", "riscv64-unknown-elf-g++"},
    [BY_CLANG] = {"clang", "clang++"},
};

bool can_compile(object_compiler by)
{
    const char *argv[] = {
        names[by][0], by == BY_CLANG ? "--target=riscv32" : "-march=rv32im", "-E", "-x", "c", "/dev/null",
        NULL};
    dl_output out;
    if (dl_process_run(argv, &out, NULL) != DEVLOG_OK) return false;
    free(out.text);
    return out.exit == 0;
}

/* The folder with the header of the default board. */
static const char *board_folder(void)
{
    static char folder[64];
    if (folder[0]) return folder;
    board b;
    devlog_error err = {0};
    char path[128];
    snprintf(folder, sizeof folder, "%s", test_folder());
    check_ok(board_load("wormhole_b0", &b, &err), &err);
    snprintf(path, sizeof path, "%s/devlog_board.h", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    board_write_header(&b, out);
    fclose(out);
    return folder;
}

char *build_object(object_compiler by, const char *flags, const char *source, const char *object, int status)
{
    char include[600], of_board[300], copy[1000];
    const char *dot = strrchr(source, '.');
    snprintf(include, sizeof include, "-I%s", source_path("include"));
    snprintf(of_board, sizeof of_board, "-I%s", board_folder());
    snprintf(copy, sizeof copy, "%s", flags ? flags : "");
    const char *argv[64] = {names[by][dot && strcmp(dot, ".cpp") == 0],
                            "-march=rv32im",
                            "-mabi=ilp32",
                            "-ffreestanding",
                            "-ffunction-sections",
                            "-fno-exceptions",
                            "-fno-asynchronous-unwind-tables",
                            "-DPROFILE_DEVICE",
                            "-DDEVLOG_RISC=0",
                            "-DDEVLOG_KERNEL=1",
                            include,
                            of_board,
                            "-c",
                            source,
                            "-o",
                            object};
    size_t n = 16;
    if (by == BY_CLANG) argv[n++] = "--target=riscv32";
    char *rest = copy;
    for (char *flag = strsep(&rest, " "); flag && n < 62; flag = strsep(&rest, " "))
        if (*flag) argv[n++] = flag;
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != status) fail_msg("%s %s: exit %d: %s", argv[0], copy, out.exit, out.text);
    return out.text;
}
