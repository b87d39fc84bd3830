/* devlog ops: the op report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "answers/inputs.h"
#include "base/file.h"
#include "base/term.h"
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "cli/date.h"
#include "cli/filters.h"
#include "cli/op_report.h"
#include "cli/ranks_job.h"
#include "cli/tt_ops.h"
#include "ops/op_markdown.h"
#include "ranks/ranks.h"
#include "tt_metal/archive.h"

typedef struct ops_args {
    const char *input, *output, *suffix, *device_log;
    bool date, tar, host_only, link_logs;
    int format, columns;
    cli_filters filters;
} ops_args;

static const cli_option options[] = {
    CLI_TITLE("Input"),
    {CLI_STRING, "input", 'i', "FOLDER",
     "folder of the logs, or what 'devlog run' made; generated/profiler/logs unless told, and where that is "
     "not, "
     "generated/profiler/run. When it has no device log, that of FOLDER_device is taken: a second run of the "
     "same "
     "program",
     offsetof(ops_args, input)},
    {CLI_STRING, "device-log", 0, "FILE", "device log or capture to use instead of the one in the folder",
     offsetof(ops_args, device_log)},
    {CLI_FLAG, "host-only", 0, NULL, "leave device data out", offsetof(ops_args, host_only)},
    CLI_TITLE("Output"),
    {CLI_STRING, "output", 'o', "FOLDER", "where files go; generated/profiler/output/ops unless told",
     offsetof(ops_args, output)},
    {CLI_FLAG, "date", 0, NULL, "put date and time in front of the files' names", offsetof(ops_args, date)},
    {CLI_STRING, "name", 'n', "SUFFIX", "add _SUFFIX to the files' names", offsetof(ops_args, suffix)},
    {CLI_CHOICE, "format", 'f', "csv|json|md",
     "of the report; md: csv, and beside it the same as a table of Markdown, without columns that are empty",
     offsetof(ops_args, format)},
    {CLI_CHOICE, "columns", 0, "current|reference",
     "current: what tt-perf-report and ttnn-visualizer read; reference: the columns of TT-Metal's document, "
     "in its "
     "order",
     offsetof(ops_args, columns)},
    {CLI_OFF, "no-tar", 0, NULL, "do not pack the logs into a tar beside the report",
     offsetof(ops_args, tar)},
    {CLI_FLAG, "link-logs", 0, NULL,
     "link tt-metal's device log and capture beside the report: ttnn-visualizer opens a folder that has them",
     offsetof(ops_args, link_logs)},
    CLI_SELECTION(ops_args, filters),
    {0},
};

static void on_progress(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows)
{
    dl_progress *progress = ctx;
    if (!dl_progress_due(progress)) return;
    char text[160], digits[DL_GROUPED_SIZE];
    snprintf(text, sizeof text, "%.80s: %d %%, %s rows", input, size ? (int)(taken * 100 / size) : 0,
             dl_u64_grouped(digits, rows));
    dl_progress_show(progress, text);
}

devlog_status cli_op_markdown(const op_job_options *o, const char *report, dl_str *files, devlog_error *err)
{
    char *path = NULL;
    devlog_status status = o->markdown ? op_markdown_beside(report, &path, err) : DEVLOG_OK;
    if (path && !status) {
        dl_str_add(files, "  ");
        dl_str_shown(files, path, strlen(path));
        dl_str_char(files, '\n');
    }
    free(path);
    return status;
}

void cli_op_call(const op_job_options *o, dl_str *text)
{
    if (o->archive) run_call_in_text(text, o->logs, o->archive);
}

void cli_op_failed(const char *command, const op_job_options *o, const devlog_error *err)
{
    devlog_error called = *err;
    if (o->archive) run_call_in(&called, o->logs, o->archive);
    fprintf(stderr, "devlog %s: %s\n", command, called.text);
}

void cli_op_tell_older(const char *command, const op_job_options *o, const char *output, bool packed)
{
    const struct {
        const char *ending;
        bool written;
        const char *is;
    } files[] = {{"csv", !o->report.json, "is an earlier report: this one is not in it"},
                 {"json", o->report.json, "is an earlier report: this one is not in it"},
                 {"md", o->markdown, "is an earlier report: this one is not in it"},
                 {"tar", packed, "has the logs of an earlier report: this one packed none"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        dl_str path = {0};
        dl_str_fmt(&path, "%s/%s.%s", output, o->name, files[i].ending);
        if (!files[i].written && !path.failed && access(path.text, F_OK) == 0) {
            dl_shown_line_in_place(path.text);
            fprintf(stderr, "devlog %s: %s %s\n", command, path.text, files[i].is);
        }
        dl_str_free(&path);
    }
}

int cli_op_report(const char *command, op_job_options *o, int fd)
{
    devlog_error err = {0};
    dl_progress progress;
    op_job job;
    dl_str out = {0};
    dl_progress_start(&progress);
    o->progress = on_progress;
    o->progress_ctx = &progress;
    devlog_status status = op_job_run(&job, o, &err);
    dl_progress_end(&progress);
    int exit_status = CLI_FAILED;
    if (!status) {
        op_job_describe(&job, dl_term_colour(fd == STDOUT_FILENO ? stdout : stderr), &out);
        const char *const files[] = {job.report_path, job.tar_path};
        dl_str_add(&out, "\nFiles:\n");
        for (int i = 0; i < 2 && files[i]; i++) {
            dl_str_add(&out, "  ");
            dl_str_shown(&out, files[i], strlen(files[i]));
            dl_str_char(&out, '\n');
        }
        status = cli_op_markdown(o, job.report_path, &out, &err);
        cli_op_call(o, &out);
        if (!status) status = dl_str_status(&out, &err);
    }
    int errnum = status ? 0 : dl_write_all(fd, out.text, out.len);
    if (errnum) status = dl_fail_errno(&err, errnum, "cannot write what was found");
    if (status)
        cli_op_failed(command, o, &err);
    else
        exit_status = op_job_lost(&job) ? CLI_PARTIAL : CLI_OK;
    if (!status) cli_op_tell_older(command, o, o->output, !o->no_tar);
    dl_str_free(&out);
    op_job_free(&job);
    return exit_status;
}

devlog_status cli_op_table_read(op_table *t, const char *path, bool *lost, devlog_error *err)
{
    struct stat st;
    if ((stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) && !tt_is_archive(path))
        return op_table_read(t, path, err);
    run_inputs in = {0};
    devlog_status status = run_inputs_one(&in, path, err);
    if (!status && !in.items[0].report)
        status = dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "%s has no op report, and nothing to make one of; devlog decode reads its device log", path);
    if (!status && in.items[0].lost) {
        *lost = true;
        fprintf(stderr,
                "devlog: something was lost of what the op report of %s is made of; devlog ops says what\n",
                path);
    }
    if (!status) status = op_table_read(t, in.items[0].report, err);
    if (!status) status = run_input_call(&in.items[0], t, err);
    status = run_inputs_failed(&in, status, err);
    run_inputs_free(&in);
    return status;
}

bool cli_op_table_troubles(const char *command, const op_table *t)
{
    char before[64];
    dl_str said = {0};
    snprintf(before, sizeof before, "devlog %s: ", command);
    const bool any = op_table_troubles(t, before, &said);
    if (said.text && !said.failed) fputs(said.text, stderr);
    dl_str_free(&said);
    return any;
}

static bool takes_ranks(const ops_args *a, const op_job_options *o)
{
    return !a->format && !a->columns && !o->selection && !a->device_log && !a->host_only && !a->link_logs;
}

/* The report of all ranks, from their reports or what those are made of. */
static int report_ranks(const ops_args *a, const op_job_options *o, const cli_args *rest)
{
    devlog_error err = {0};
    dl_str path = {0};
    dl_str_fmt(&path, "%s/%s.csv", o->output, o->name);
    int exit_status = CLI_FAILED;
    devlog_status status = dl_str_status(&path, &err);
    if (!takes_ranks(a, o))
        exit_status = cli_wrong(
            &cmd_ops, "of several ranks there are --output, --name and --date only; one rank's folder "
                      "takes the others, too");
    else if (status || dl_folder_make(o->output, &err))
        fprintf(stderr, "devlog ops: %s\n", err.text);
    else
        exit_status = cli_ranks_run(
            &(cli_ranks){.command = "ops", .merge = path.text, .top = UINT64_MAX, .format = CLI_ANSWER_TEXT},
            rest);
    if (exit_status == CLI_OK || exit_status == CLI_PARTIAL) cli_op_tell_older("ops", o, o->output, false);
    dl_str_free(&path);
    return exit_status;
}

/* The same when each of them has just got a report of its own in the folder of the output. */
static int report_made_ranks(const ops_args *a, const op_job_options *o, const tt_made_ranks *r, int of_each)
{
    devlog_error err = {0};
    cli_args made = {.items = calloc(r->n + 1, sizeof *made.items)};
    devlog_status status = made.items ? DEVLOG_OK : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < r->n && !status; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/rank%u/%s.csv", o->output, r->numbers[i], o->name) < 0) path = NULL;
        if (path && access(path, R_OK) == 0)
            made.items[made.n++] = path;
        else
            free(path);
    }
    if (status) fprintf(stderr, "devlog ops: %s\n", err.text);
    int exit_status = status ? CLI_FAILED : of_each;
    if (made.n > 1) {
        putchar('\n');
        exit_status = report_ranks(a, o, &made);
    }
    for (int i = 0; i < made.n; i++)
        free(made.items[i]);
    free(made.items);
    return exit_status == CLI_OK ? of_each : exit_status;
}

/* Everything that can be wrong with the command line has been said, but for what a selection is. */
static int report(const ops_args *a, cli_args *rest)
{
    dl_filter filter;
    int exit_status;
    char prefix[32] = "";
    dl_str name = {0};
    devlog_error err = {0};
    if (!cli_filter_of(&cmd_ops, &a->filters, rest, &filter)) return CLI_USAGE;
    if (cli_date_prefix(a->date, prefix, &err)) {
        fprintf(stderr, "devlog ops: %s\n", err.text);
        return CLI_FAILED;
    }
    dl_str_fmt(&name, "%sops_perf_results%s%s", prefix, a->suffix ? "_" : "", a->suffix ? a->suffix : "");
    if (name.failed) return CLI_FAILED;
    const op_selection selection = cli_selection_of(&a->filters, &filter);
    op_job_options o = {
        .logs = a->input,
        .device_log = a->device_log,
        .no_device = a->host_only,
        .output = a->output,
        .name = name.text,
        .report = {.columns = a->columns ? OP_COLUMNS_REFERENCE : OP_COLUMNS_CURRENT, .json = a->format == 1},
        .markdown = a->format == 2,
        .no_tar = !a->tar,
        .link_logs = a->link_logs,
        .selection = op_selection_any(&selection) ? &selection : NULL,
    };
    tt_made_ranks made = {0};
    if (rest->n > 1)
        exit_status = report_ranks(a, &o, rest);
    else if (!cli_tt_ops(&o, &made, &exit_status))
        exit_status =
            ranks_are_in(o.logs) ? report_ranks(a, &o, rest)
            : a->link_logs
                ? cli_wrong(&cmd_ops, "--link-logs is for folders of tt-metal, and %s is none", o.logs)
                : cli_op_report("ops", &o, STDOUT_FILENO);
    else if (exit_status != CLI_FAILED && made.n && takes_ranks(a, &o))
        exit_status = report_made_ranks(a, &o, &made, exit_status);
    free(made.numbers);
    dl_str_free(&name);
    return exit_status;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "compare") == 0) return cmd_ops_compare.run(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "summary") == 0) return cmd_ops_summary.run(argc - 1, argv + 1);
    static const char of_programs[] = "generated/profiler/logs", of_run[] = "generated/profiler/run";
    ops_args a = {.input = of_programs, .output = "generated/profiler/output/ops", .tar = true};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_ops, argc, argv, &a, &rest, &exit_status)) return exit_status;
    if (rest.n && a.input != of_programs)
        exit_status = cli_wrong(&cmd_ops, "FOLDER and --input say the same");
    else if (a.suffix && strchr(a.suffix, '/'))
        exit_status = cli_wrong(&cmd_ops, "--name is part of a file's name and has no '/'");
    else if (a.host_only && a.device_log)
        exit_status = cli_wrong(&cmd_ops, "--host-only and --device-log exclude each other");
    else {
        if (rest.n) a.input = rest.items[0];
        if (a.input == of_programs && access(of_programs, F_OK) != 0 && access(of_run, F_OK) == 0)
            a.input = of_run;
        exit_status = report(&a, &rest);
    }
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_ops = {
    .name = "ops",
    .summary = "Op report: what the host asked for, beside what the device did, one row per op",
    .arguments = "[FOLDER...]",
    .max_arguments = CLI_ANY,
    .description =
        "Joins the op log (profile_log_ops.jsonl) and the device log of a run by the ids of ops into "
        "ops_perf_results.csv, and packs the logs into a tar beside it. Ops without device data and launches "
        "without an op are kept and marked; what could not be joined is counted at the end, and the exit "
        "status is "
        "3 then.\n\n"
        "A folder of tt-metal's profiler (tracy_ops_data.csv, tracy_ops_times.csv, "
        "cpp_device_perf_report.csv or "
        "profile_log_device.csv; its .logs, or the folder above it) gives the report that tt-metal's "
        "process_ops_logs.py writes, complete also where that script ends with an assertion. Folders of "
        "ranks "
        "(rank0, rank1, ...) give a report each, and one of all, op by op, with RANK and HOST; several folders give the latter. FOLDER may be a tar or zip of it; of several runs in it the one in .logs is taken.",
    .options = options,
    .examples = "  devlog ops\n"
                "  devlog ops ~/tt-metal/generated/profiler -o out  a run of tt-metal\n"
                "  devlog ops -i logs -o out -n before --date\n"
                "  devlog ops --columns reference  as the TT-Metal document has it\n",
    .files = "ops_perf_results.csv: one row per op and chip; docs/op-reports.md explains every column.\n\n"
             "ops_perf_results.tar: the logs that it was made from.",
    .see_also = "devlog-ops-summary(1), devlog-ops-compare(1), devlog-run(1), devlog-decode(1)",
    .run = run,
};
