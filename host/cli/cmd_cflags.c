/* devlog cflags: what a compiler has to be told to compile a kernel, for builds and editors that are not
 * devlog's. */
#include <stdio.h>

#include "base/file.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "program/compile.h"

typedef struct cflags_args {
    const char *board, *risc;
    bool profile;
} cflags_args;

static const cli_option options[] = {
    {CLI_STRING, "board", 'b', "BOARD",
     "name of a board, or path of its file; DEVLOG_BOARD, or wormhole_b0, unless told",
     offsetof(cflags_args, board)},
    {CLI_STRING, "risc", 'r', "RISC", "the RISC that the kernel runs on; the board's first unless told",
     offsetof(cflags_args, risc)},
    {CLI_OFF, "no-profile", 0, NULL, "without -DPROFILE_DEVICE: markers are nothing",
     offsetof(cflags_args, profile)},
    {0},
};

static devlog_status find_risc(const board *b, const char *name, uint32_t *risc, devlog_error *err)
{
    int found = name ? board_risc_index(b, name) : 0;
    if (found >= 0) {
        *risc = (uint32_t)found;
        return DEVLOG_OK;
    }
    dl_str there = {0};
    for (uint32_t i = 0; i < b->n_riscs; i++)
        dl_str_fmt(&there, "%s%s", i ? ", " : "", b->riscs[i].name);
    devlog_status status =
        dl_fail(err, DEVLOG_ERR_NOT_FOUND, "board %s has no RISC '%s'; it has %s", b->name, name, there.text);
    dl_str_free(&there);
    return status;
}

static int run(int argc, char **argv)
{
    cflags_args a = {.profile = true};
    cli_args rest;
    int exit_status;
    devlog_error err = {0};
    board b;
    dl_str out = {0};
    if (!cli_parse(&cmd_cflags, argc, argv, &a, &rest, &exit_status)) return exit_status;
    cli_args_free(&rest);
    const char *said = a.board ? a.board : dl_setting_text(DL_SET_BOARD);
    /* The job is of a kernel; which one makes no difference to the flags. */
    compile_job job = {.board = &b, .profile = a.profile, .source = "kernel.c"};
    devlog_status status = board_load(said ? said : "wormhole_b0", &b, &err);
    if (!status) status = find_risc(&b, a.risc, &job.risc, &err);
    if (!status) status = compile_flags(&job, &out, &err);
    dl_str_char(&out, '\n');
    if (!status) status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog cflags: %s\n", err.text);
    dl_str_free(&out);
    return status ? CLI_FAILED : CLI_OK;
}

const cli_command cmd_cflags = {
    .name = "cflags",
    .summary = "Print the compiler flags of a kernel, for a Makefile, an editor or a test",
    .arguments = "",
    .description = "Prints in one line, quoted for a shell, the flags with which devlog compiles a kernel "
                   "for a RISC of a board: for a build "
                   "of one's own, for clangd (a compile_flags.txt has one flag on a line), or to compile a "
                   "kernel in a unit test. The header "
                   "that says what the board is lies in the cache of compiled programs (DEVLOG_CACHE), where "
                   "the command puts it. An object "
                   "file that is compiled so can be given to devlog_program_add_kernel in place of a source.",
    .options = options,
    .examples = "  riscv64-unknown-elf-gcc $(devlog cflags --risc NCRISC) -c kernel.c -o kernel.o\n"
                "  devlog cflags --risc TRISC0 | xargs -n1 >compile_flags.txt\n",
    .see_also = "devlog-boards(1)",
    .run = run,
};
