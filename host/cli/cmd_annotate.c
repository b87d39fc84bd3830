/* devlog annotate: where the cycles of a kernel went, by source line and instruction. */
#include <stdio.h>
#include <stdlib.h>

#include "answers/annotate.h"
#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/logs.h"

typedef struct annotate_args {
    const char *risc, *core, *function, *elf_folder;
    uint64_t launch, top;
    double hot;
    bool firmware, latest;
    int format;
} annotate_args;

static const cli_option options[] = {
    CLI_TITLE("Input"),
    {CLI_FLAG, "latest", 0, NULL, "the newest of several captures", offsetof(annotate_args, latest)},
    {CLI_STRING, "elf", 0, "FOLDER",
     "where to look for ELF files of kernels that are not where the run had them",
     offsetof(annotate_args, elf_folder)},
    CLI_TITLE("Filters"),
    {CLI_STRING, "risc", 0, "NAME", "only this RISC; TRISC0 and TRISC_0 are the same",
     offsetof(annotate_args, risc)},
    {CLI_STRING, "core", 0, "X,Y", "only this core", offsetof(annotate_args, core)},
    {CLI_STRING, "function", 0, "NAME", "only this function", offsetof(annotate_args, function)},
    {CLI_NUMBER, "launch", 0, "N", "only this launch, from 1 (the run host id of logs)",
     offsetof(annotate_args, launch), 1, UINT32_MAX},
    {CLI_FLAG, "firmware", 0, NULL, "the firmware too: starting kernels, and waiting for the next launch",
     offsetof(annotate_args, firmware)},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', "text|csv|json|md",
     "csv: a line for each instruction; neither it nor json leaves any out; md: for the comment of a pull request",
     offsetof(annotate_args, format)},
    {CLI_NUMBER, "top", 0, "N", "lines of each kernel; 20 unless told, 0: all", offsetof(annotate_args, top),
     0, UINT32_MAX},
    {CLI_REAL, "hot", 0, "PERCENT",
     "lines with at least so much of their kernel's cycles have their instructions beneath; 5 unless told",
     offsetof(annotate_args, hot)},
    {0},
};

static devlog_status find(const cli_args *rest, bool latest, cli_logs *logs, const cli_log **out,
                          devlog_error *err)
{
    dl_str where = {0};
    const char *ways = "name the capture, or add --latest";
    devlog_status status =
        rest->n ? cli_logs_find(rest->items[0], logs, err) : cli_logs_find_any(logs, &where, err);
    if (status == DEVLOG_OK) {
        *out = cli_logs_choose(logs, rest->n ? rest->items[0] : where.text, latest, ways, err);
        if (!*out) status = DEVLOG_ERR_NOT_FOUND;
    }
    dl_str_free(&where);
    return status;
}

/* There is nothing to show: because nobody counted, or because of the filters. */
static devlog_status check(const annotation *a, const annotate_options *o, const char *path,
                           devlog_error *err)
{
    if (!a->any)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s does not say where cycles went: run the program again with DEVLOG_ANNOTATE=1 "
                       "TT_METAL_DEVICE_PROFILER=1 on the built-in simulator",
                       path);
    if (a->cycles) return DEVLOG_OK;
    dl_str there = {0};
    devlog_status status = annotate_there(path, o, &there, err);
    if (!status)
        status = dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "%s: no instruction ran of what --risc, --core, --launch and --function ask for; it has %s", path,
            there.text && !there.failed ? there.text : "others");
    dl_str_free(&there);
    return status;
}

static int say_damage(const dl_capture_state *state, const char *path)
{
    const uint64_t bytes = state->damaged_bytes + state->cut_bytes;
    const bool damaged = bytes || state->malformed || state->stopped;
    if (damaged)
        fprintf(stderr,
                "devlog annotate: %s is damaged: %llu bytes and %llu records of it were passed over\n", path,
                (unsigned long long)bytes, (unsigned long long)state->malformed);
    else if (!state->closed)
        fprintf(stderr,
                "devlog annotate: the run of %s has not ended, or was killed: what came last is not in it\n",
                path);
    return damaged || !state->closed ? CLI_PARTIAL : CLI_OK;
}

static int show(const annotate_args *args, const annotate_options *o, const char *path)
{
    static void (*const printers[])(const annotate_shown *, dl_str *) = {
        annotate_print_text, annotate_print_csv, annotate_print_json, annotate_print_markdown};
    annotation a = {0};
    dl_capture_state state = {0};
    devlog_error err;
    dl_str out = {0};
    devlog_status status = cli_folder_option("elf", o->elf_folder, &err);
    if (!status) status = annotate_read(&a, path, o, &state, &err);
    if (!status) status = check(&a, o, path, &err);
    const annotate_shown shown = {
        .a = &a, .top = (size_t)args->top, .width = dl_term_width(stdout), .hot = args->hot};
    if (!status) printers[args->format](&shown, &out);
    if (!status) status = dl_print(&out, &err);
    int exit_status = CLI_FAILED;
    if (status)
        fprintf(stderr, "devlog annotate: %s\n", err.text);
    else
        exit_status = say_damage(&state, path);
    annotate_free(&a);
    dl_str_free(&out);
    return exit_status;
}

static int run(int argc, char **argv)
{
    annotate_args a = {.top = 20, .hot = 5};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_annotate, argc, argv, &a, &rest, &exit_status)) return exit_status;
    annotate_options o = {.risc = a.risc,
                          .function = a.function,
                          .launch = a.launch,
                          .firmware = a.firmware,
                          .elf_folder = a.elf_folder,
                          .by_core = a.core != NULL};
    uint64_t corner[4];
    if (a.core && (!cli_filter_cores(a.core, corner) || corner[0] != corner[2] || corner[1] != corner[3])) {
        exit_status = cli_wrong(&cmd_annotate, "--core wants X,Y, not '%s'", a.core);
        cli_args_free(&rest);
        return exit_status;
    }
    if (a.core) {
        o.x = (uint32_t)corner[0];
        o.y = (uint32_t)corner[1];
    }
    cli_logs logs = {0};
    devlog_error err;
    const cli_log *log = NULL;
    if (find(&rest, a.latest, &logs, &log, &err)) {
        fprintf(stderr, "devlog annotate: %s\n", err.text);
        exit_status = CLI_FAILED;
    } else {
        exit_status = show(&a, &o, log->path);
    }
    cli_logs_free(&logs);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_annotate = {
    .name = "annotate",
    .summary = "Where the cycles of a kernel went, by source line and instruction, and what they waited for",
    .arguments = "[CAPTURE|FOLDER]",
    .max_arguments = 1,
    .description =
        "Reads a capture.devlog of a run on the built-in simulator with DEVLOG_ANNOTATE=1 and "
        "TT_METAL_DEVICE_PROFILER=1. The simulator knows every instruction: the cycles of a RISC, and those of its "
        "lines, add up to the time that it was out of reset. Share is of the kernel on that RISC, on all cores and in "
        "all launches; the count of a line is that of its instruction that ran most often.\n\n"
        "What is waited for: L1, register and local: a value that is being loaded from there; behind: a result that "
        "has to leave the pipeline behind a load; muldiv: a multiplication or division; jump: a branch that was "
        "predicted wrongly; stores and loads: their queues are full; order: a load of what a queued store writes; "
        "fence. docs/budgets.md says more.",
    .options = options,
    .examples = "  devlog annotate cycles  of the run in that folder\n"
                "  devlog annotate --risc TRISC1 --core 0,0 cycles\n"
                "  devlog annotate --format csv cycles/capture.devlog > cycles.csv\n",
    .see_also = "devlog-decode(1), devlog-budget(1)",
    .run = run,
};
