/* devlog export: device logs as files for timeline viewers and other tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/logs.h"
#include "cli/op_names.h"
#include "cli/ranks_job.h"
#include "cli/reading.h"
#include "ranks/ranks.h"
#include "report/decode_table.h"
#include "report/export.h"

typedef struct export_args {
    const char *format, *output, *ops;
    uint64_t memory;
    cli_filters filters;
    bool latest;
} export_args;

static const cli_option options[] = {
    CLI_TITLE("Output"),
    {CLI_STRING, "format", 'f', "FORMAT",
     "what to write; see Formats below. Unless told: by the suffix of PATH", offsetof(export_args, format)},
    {CLI_STRING, "output", 'o', "PATH",
     "where to; \"-\": standard output. Unless told: trace with the format's suffix",
     offsetof(export_args, output)},
    {CLI_STRING, "ops", 0, "FILE",
     "the run's op log, which names launches after their ops, or tt-metal's tracy_ops_data.csv; unless told, " OP_LOG_NAME
     " or that beside the first log",
     offsetof(export_args, ops)},
    CLI_LATEST(export_args, latest),
    CLI_FILTERS(export_args, filters),
    CLI_TITLE("Working"),
    {CLI_SIZE, "memory", 0, "BYTES", "for sorting; more goes to a temporary file. 64M unless told",
     offsetof(export_args, memory)},
    {0},
};

static int list_formats(void)
{
    size_t n;
    const dl_export_format *formats = dl_export_formats(&n);
    for (size_t i = 0; i < n; i++)
        printf("  %-11s %s\n", formats[i].name, formats[i].summary);
    return CLI_OK;
}

/* The format that was asked for, or that the output's name ends like; NULL when neither says. */
static const dl_export_format *choose(const export_args *a)
{
    if (a->format) return dl_export_find(a->format);
    size_t n, length = a->output ? strlen(a->output) : 0;
    if (length > 3 && strcmp(a->output + length - 3, ".gz") == 0) length -= 3;
    const dl_export_format *formats = dl_export_formats(&n), *best = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t m = strlen(formats[i].suffix);
        bool fits = length > m && strncmp(a->output + length - m, formats[i].suffix, m) == 0;
        if (fits && (!best || m > strlen(best->suffix))) best = &formats[i];
    }
    return best;
}

static devlog_status decode(dl_decode *d, const cli_args *rest, dl_progress *progress, devlog_error *err)
{
    dl_progress_start(progress);
    devlog_status status = dl_decode_prepare(d, rest->items, (size_t)rest->n, err);
    for (int i = 0; i < rest->n && !status; i++)
        status = dl_decode_file(d, rest->items[i], err);
    if (!status) status = dl_decode_finish(d, err);
    dl_progress_end(progress);
    return status;
}

/* What was lost goes to stderr: standard output may be the trace. */
static int report(const dl_decode *d, const dl_view *v, const char *path)
{
    dl_str text = {0};
    const dl_losses *losses = dl_decode_losses(d);
    bool any = dl_losses_any(losses);
    uint64_t left_out = dl_view_left_out(v);
    if (any) dl_report_losses(losses, dl_term_colour(stderr), &text);
    if (left_out)
        dl_str_fmt(&text, "%llu zones overlapped on more than %d lanes of one RISC and are not in %s\n",
                   (unsigned long long)left_out, DL_VIEW_LANES, path);
    if (dl_view_count(v) == 0)
        dl_str_add(&text,
                   "devlog export: there is nothing in this log: no zone was closed and no marker set. "
                   "Was the kernel compiled with -DPROFILE_DEVICE, and run with "
                   "TT_METAL_DEVICE_PROFILER=1?\n");
    if (text.len) (void)dl_write_all(STDERR_FILENO, text.text, text.len);
    dl_str_free(&text);
    if (dl_view_count(v) == 0 && !any) return CLI_FAILED;
    return any || left_out ? CLI_PARTIAL : CLI_OK;
}

/* Decodes the logs and writes them; everything that can be wrong with the command line has been said. */
static int write_trace(const export_args *a, const dl_export_format *format, const cli_args *rest,
                       dl_filter *filter)
{
    devlog_error err = {0};
    dl_decode *d = NULL;
    dl_view *v = NULL;
    cli_op_names names = {0};
    dl_progress progress;
    char path[64];
    int exit_status = CLI_FAILED;
    snprintf(path, sizeof path, "trace%s", format->suffix);
    const char *output = a->output ? a->output : path;
    op_selected selected;
    devlog_status status =
        cli_select(&cmd_export, &a->filters, filter, rest->items, (size_t)rest->n, &selected, &err);
    const dl_decode_options decoding = {.filter = *filter,
                                        .only_input = rest->n == 1,
                                        .progress = cli_show_reading,
                                        .progress_ctx = &progress,
                                        .no_samples = true,
                                        .no_counts = true,
                                        .keep_meta = true};
    const dl_view_options viewing = {.memory = (size_t)a->memory, .op_name = cli_op_name, .op_ctx = &names};
    if (!status) status = cli_op_names_read(&names, a->ops, rest->items, (size_t)rest->n, &err);
    if (!status) status = dl_decode_new(&d, &decoding, &err);
    if (!status) status = dl_view_new(&v, d, &viewing, &err);
    if (!status) status = dl_decode_run_sink(d, dl_view_runs(v), &err);
    if (!status) status = decode(d, rest, &progress, &err);
    if (!status) status = dl_losses_no_rows(dl_decode_losses(d), rest->items[0], (size_t)rest->n, &err);
    if (!status) status = cli_filters_check(&a->filters, filter, d, &err);
    if (!status) cli_op_names_tell(&names, d);
    if (!status) status = dl_view_ready(v, &err);
    if (!status) status = format->write(v, output, &err);
    struct stat st;
    const bool file = !status && !format->folder && stat(output, &st) == 0 && S_ISREG(st.st_mode);
    const char *too_large = file ? dl_export_too_large(format, (uint64_t)st.st_size) : NULL;
    if (too_large) fprintf(stderr, "devlog export: %s: %s\n", output, too_large);
    if (!status) cli_op_names_say(&names, "export");
    if (status)
        fprintf(stderr, "devlog export: %s\n", err.text);
    else
        exit_status = report(d, v, output);
    dl_view_free(v);
    dl_decode_free(d);
    cli_op_names_free(&names);
    op_selected_free(&selected);
    return exit_status;
}

/* Ops of all ranks; of zones each rank has a clock of its own. */
static int export_ranks(const export_args *a, const dl_export_format *format, const cli_args *rest)
{
    static const export_args plain;
    if (strcmp(format->name, "chrome") != 0)
        return cli_wrong(&cmd_export,
                         "ops of several ranks are written as a Chrome trace: -f chrome; one rank's folder "
                         "takes every format");
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): both are zeroed as a whole before options are read */
    if (memcmp(&a->filters, &plain.filters, sizeof a->filters) != 0)
        return cli_wrong(&cmd_export,
                         "of several ranks all ops are written: leave filters out, or name one rank");
    if (a->ops || a->memory)
        return cli_wrong(&cmd_export, "--ops and --memory are for logs, and not for several ranks");
    return cli_ranks_run(
        &(cli_ranks){.command = "export", .trace = a->output ? a->output : "trace.json", .quiet = true},
        rest);
}

/* Whether the arguments are folders of ranks: that of all, or some of those that lie in one. */
static bool are_ranks(const cli_args *rest)
{
    bool all = rest->n > 0;
    if (rest->n == 1) return ranks_are_in(rest->items[0]);
    for (int i = 0; i < rest->n && all; i++) {
        struct stat st;
        char *above = dl_path_join(rest->items[i], "..");
        all = above && stat(rest->items[i], &st) == 0 && S_ISDIR(st.st_mode) && ranks_are_in(above);
        free(above);
    }
    return all;
}

static int run(int argc, char **argv)
{
    export_args a = {0};
    cli_args rest;
    dl_filter filter;
    devlog_error err = {0};
    int exit_status;
    if (!cli_parse(&cmd_export, argc, argv, &a, &rest, &exit_status)) return exit_status;
    const dl_export_format *format = choose(&a);
    exit_status = CLI_FAILED;
    if (a.format && strcmp(a.format, "list") == 0)
        exit_status = list_formats();
    else if (!format)
        exit_status = cli_wrong(&cmd_export, "%s%s; --format list names them all",
                                a.format ? "there is no format " : "which format?", a.format ? a.format : "");
    else if (rest.n == 0 && !a.latest)
        exit_status = cli_wrong(&cmd_export, "which log? --latest takes the newest");
    else if (are_ranks(&rest))
        exit_status = export_ranks(&a, format, &rest);
    else if (cli_logs_of_folders(&(cli_logs_wanted){"export", a.latest, false}, &rest, &err))
        fprintf(stderr, "devlog export: %s\n", err.text);
    else if (!cli_filter_of(&cmd_export, &a.filters, &rest, &filter))
        exit_status = CLI_USAGE;
    else
        exit_status = write_trace(&a, format, &rest, &filter);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_export = {
    .name = "export",
    .summary = "Write a log as a trace that timeline viewers and other tools read",
    .arguments = "LOG-OR-FOLDER...",
    .min_arguments = 0,
    .max_arguments = CLI_ANY,
    .description =
        "Decodes device logs, several as one, and writes their zones, markers, values, launches "
        "and losses in "
        "the chosen format. Zones that overlap without nesting get a lane of their own. The same "
        "log gives the "
        "same bytes. A folder stands for its only log, with zones of host code beside it (host_*.devlog); one of rank0, rank1, ..., or several of these, for the ops of ranks on one clock, as a Chrome trace.\n\n"
        "Formats: chrome, collapsed, csv, ctf, fxt, json, perfetto, speedscope, sqlite, xplane; \"--format list\" "
        "tells what each is for. A name that ends in .gz is compressed (not sqlite).",
    .options = options,
    .examples =
        "  devlog export -o trace.perfetto-trace profile_log_device.csv    for ui.perfetto.dev\n"
        "  devlog export -f sqlite -o log.sqlite profile_log_device.csv && sqlite3 log.sqlite 'SELECT * "
        "FROM zone_sum'    the longest zones\n",
    .run = run,
};
