/* devlog budget: runs a program on the simulator, and holds its zones against a file of budgets. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/budget.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/term.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "decode/capture/capture.h"

typedef struct budget_args {
    const char *log, *output, *elf_folder;
    uint64_t top;
    int format;
} budget_args;

static const cli_option options[] = {
    CLI_TITLE("Input"),
    {CLI_STRING, "log", 0, "CAPTURE|FOLDER", "judge this run instead of running a command",
     offsetof(budget_args, log)},
    {CLI_STRING, "elf", 0, "FOLDER", "where to look for ELF files of kernels that have been moved",
     offsetof(budget_args, elf_folder)},
    CLI_TITLE("Output"),
    {CLI_STRING, "output", 'o', "FOLDER",
     "where the command's logs go; generated/profiler/budget unless told", offsetof(budget_args, output)},
    {CLI_CHOICE, "format", 'f', "text|json|md|csv",
     "what to print; md: for the comment of a pull request; csv: a line for each budget",
     offsetof(budget_args, format)},
    {CLI_NUMBER, "top", 0, "N", "lines of a kernel whose zone took too long; 12 unless told, 0: all",
     offsetof(budget_args, top), 0, UINT32_MAX},
    {0},
};

enum { PATH_SIZE = 4096 };

/* The command, on the simulator and profiled. Its exit status; -1: it could not be run. */
static int run_command(const budget_args *a, char *const *command, devlog_error *err)
{
    char folder[PATH_SIZE], log_folder[PATH_SIZE + 32], old[PATH_SIZE];
    cli_child_result result;
    devlog_status status = dl_folder_make(a->output, err);
    if (!status && !realpath(a->output, folder))
        status = dl_fail_errno(err, errno, "cannot use the folder %s", a->output);
    if (!status) status = dl_join(old, sizeof old, folder, DL_CAPTURE_NAME, err);
    if (!status && unlink(old) != 0 && errno != ENOENT)
        status = dl_fail_errno(err, errno, "cannot remove the capture of an earlier run, %s", old);
    if (status) return -1;
    snprintf(log_folder, sizeof log_folder, "DEVLOG_LOG_FOLDER=%s", folder);
    const char *const settings[] = {log_folder,         "TT_METAL_DEVICE_PROFILER=1", "DEVLOG_ANNOTATE=1",
                                    "DEVLOG_CAPTURE=1", "DEVLOG_TRANSPORT=sim",       "TT_METAL_SIMULATOR="};
    status = cli_child(command, settings, sizeof settings / sizeof settings[0], false, &result, err);
    return status ? -1 : result.exit;
}

static devlog_status explain(const budgets *b, const budget_args *a, const char *capture, dl_str *out,
                             devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < b->n && !status; i++) {
        if (b->items[i].result == BUDGET_KEPT) continue;
        dl_str_char(out, '\n');
        status = budget_explain(&b->items[i], capture, a->elf_folder, (size_t)a->top, dl_term_width(stdout),
                                out, err);
    }
    return status;
}

/* 3 when all that is wrong is that records were lost. */
static int exit_of(const budgets *b)
{
    int worst = CLI_OK;
    for (size_t i = 0; i < b->n; i++) {
        const budget_result r = b->items[i].result;
        if (r == BUDGET_LOST && worst == CLI_OK) worst = CLI_PARTIAL;
        if (r == BUDGET_EXCEEDED || r == BUDGET_NEVER_RAN) worst = CLI_WORSE;
    }
    return worst;
}

static int judge(const budget_args *a, budgets *b, const char *capture)
{
    devlog_error err;
    dl_str out = {0};
    devlog_status status = cli_folder_option("elf", a->elf_folder, &err);
    if (!status) status = budgets_judge(b, capture, a->elf_folder, &err);
    if (!status && a->format == 1) budgets_print_json(b, &out);
    if (!status && a->format == 2) budgets_print_markdown(b, &out);
    if (!status && a->format == 3) budgets_print_csv(b, &out);
    if (!status && a->format == 0) {
        budgets_print_text(b, dl_term_width(stdout), &out);
        status = explain(b, a, capture, &out, &err);
    }
    if (!status) status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog budget: %s\n", err.text);
    dl_str_free(&out);
    return status ? CLI_FAILED : exit_of(b);
}

static bool is_folder(const char *path)
{
    char inside[PATH_SIZE];
    devlog_error err;
    return dl_join(inside, sizeof inside, path, ".", &err) == DEVLOG_OK && access(inside, F_OK) == 0;
}

static int run_and_judge(const budget_args *a, const cli_args *rest)
{
    devlog_error err;
    budgets b;
    char capture[PATH_SIZE];
    int exit_status = CLI_FAILED, child = 0;
    char **command = calloc((size_t)rest->n + 1, sizeof *command);
    devlog_status status =
        command ? budgets_read(&b, rest->items[0], &err) : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!command) b = (budgets){0};
    const char *from = a->log ? a->log : a->output;
    if (!status && a->log && !is_folder(from))
        status = snprintf(capture, sizeof capture, "%s", from) < PATH_SIZE
                     ? DEVLOG_OK
                     : dl_fail(&err, DEVLOG_ERR_ARGUMENT, "the path of the capture is too long");
    else if (!status)
        status = dl_join(capture, sizeof capture, from, DL_CAPTURE_NAME, &err);
    if (!status && !a->log) {
        memcpy(command, rest->items + 1, (size_t)(rest->n - 1) * sizeof *command);
        child = run_command(a, command, &err);
        if (child < 0) status = DEVLOG_ERR_IO;
        if (child > 0) {
            fprintf(stderr, "devlog budget: %s ended with status %d; its zones are not judged\n", command[0],
                    child);
            exit_status = child;
        }
        if (child == 0 && access(capture, R_OK) != 0)
            status = dl_fail(
                &err, DEVLOG_ERR_NOT_FOUND,
                "%s gave no capture: it launched no program through devlog, or its options turn profiling "
                "or captures off",
                command[0]);
    }
    if (status)
        fprintf(stderr, "devlog budget: %s\n", err.text);
    else if (child == 0)
        exit_status = judge(a, &b, capture);
    budgets_free(&b);
    free(command);
    return exit_status;
}

static int run(int argc, char **argv)
{
    budget_args a = {.output = "generated/profiler/budget", .top = 12};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_budget, argc, argv, &a, &rest, &exit_status)) return exit_status;
    if (a.log ? rest.n != 1 : rest.n < 2)
        exit_status = cli_wrong(&cmd_budget, "it wants a file of budgets, and either a command or --log");
    else
        exit_status = run_and_judge(&a, &rest);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_budget = {
    .name = "budget",
    .summary = "Hold the zones of a run on the simulator against a file of budgets in cycles",
    .arguments = "FILE [COMMAND...]",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .stops = true,
    .description =
        "Runs the command on the built-in simulator, profiled and with DEVLOG_ANNOTATE=1, and compares the longest time "
        "of each zone in FILE, over all cores and launches, with its budget. The simulator gives the same cycles in "
        "every run: one instruction more than there is room for is a failure. Below the table stand, for each zone "
        "that took too long, the source lines and instructions where the cycles of its kernel went, on that core in "
        "that launch.\n\n"
        "FILE has a line for each zone: CYCLES RISC ZONE, with '*' for any RISC; the zone's name goes to the end of the "
        "line, and '#' begins a comment line. A zone that never ran has not kept its budget.\n\n"
        "The exit status is the command's when that is not 0.",
    .options = options,
    .examples = "  devlog budget -o budget budgets.txt build/release/bin/demo\n"
                "  devlog budget --log cycles --format json budgets.txt\n",
    .files = "FOLDER/capture.devlog: the capture of the run; devlog annotate reads it too.",
    .exit_worse = "the result is there, and a zone took longer than its budget, or never ran",
    .see_also = "devlog-annotate(1), devlog-diff(1)",
    .run = run,
};
