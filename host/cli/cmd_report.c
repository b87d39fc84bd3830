/* devlog report: what took the time of a run, and what would save most. */
#include <stdio.h>
#include <string.h>

#include "answers/report_job.h"
#include "cli/answer_out.h"
#include "cli/filters.h"
#include "cli/logs.h"
#include "cli/ranks_job.h"

typedef struct report_args {
    cli_filters filters;
    cli_list tables;
    int format, group, sort, time;
    uint64_t top;
    const char *output, *ops_table, *board, *rules, *thresholds;
    double dram;
    bool latest;
} report_args;

static const cli_option options[] = {
    CLI_TITLE("What is shown"),
    {CLI_LIST, "tables", 't', "NAME,...",
     "only these, by the names that they have in JSON: verdict, indicators, savings, advice, kernel_statistics, op_statistics, roofline, zones, host_zones, "
     "path_zones, waits, noc, steps, signposts, chips, memory, losses, summary",
     offsetof(report_args, tables)},
    {CLI_CHOICE, "group", 'g', "code|shape|memory|category|none|stack",
     "what is one line of OP STATISTICS: an op code; a code with its shapes, or with where its tensors are; a kind "
     "of work; or every op by itself",
     offsetof(report_args, group)},
    {CLI_CHOICE, "sort", 's',
     "time|gap|count|average|max|host|name|order|min|share|cores|flop_rate|bandwidth|bound_by|ideal|runs_on|total|op|slowest",
     "by what OP STATISTICS is sorted: any of its columns by the name that it has in JSON (time is total, name is op), the "
     "greatest first, texts by the alphabet, what is unknown last; order: as ops came",
     offsetof(report_args, sort)},
    {CLI_CHOICE, "time", 0, "kernel|fw", "the duration of ops on the device that counts",
     offsetof(report_args, time)},
    {CLI_NUMBER, "top", 0, "N", "lines of each table; 20 unless told (json and csv: all), 0: all",
     offsetof(report_args, top), 0, UINT32_MAX},
    CLI_TITLE("Peaks"),
    {CLI_STRING, "board", 0, "BOARD",
     "whose peaks hold, where the report does not say its architecture, or says another",
     offsetof(report_args, board)},
    {CLI_REAL, "dram-bandwidth", 0, "GB/S", "of the chip's DRAM; the board's unless told",
     offsetof(report_args, dram)},
    {CLI_STRING, "ops-table", 0, "FILE",
     "what FLOPs and bytes of ops are worked out by; share/devlog/tables/ops.json unless told (docs/roofline.md)",
     offsetof(report_args, ops_table)},
    CLI_TITLE("Advice"),
    {CLI_STRING, "rules", 0, "FILE", "of ADVICE; share/devlog/tables/rules.json unless told (docs/advice.md)",
     offsetof(report_args, rules)},
    {CLI_STRING, "thresholds", 0, "FILE", "of INDICATORS; share/devlog/tables/thresholds.json unless told",
     offsetof(report_args, thresholds)},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS,
     "json has a schema (share/devlog/schema); csv: one table after the other, an empty line between; md: for the "
     "comment of a pull request",
     offsetof(report_args, format)},
    {CLI_STRING, "output", 'o', "FILE", "write there, not to standard output", offsetof(report_args, output)},
    CLI_LATEST(report_args, latest),
    CLI_SELECTION(report_args, filters),
    {0},
};

static devlog_status check_tables(const report_args *a, const answer *answers, devlog_error *err)
{
    for (size_t i = 0; i < a->tables.n; i++) {
        static const char *const known[] = {
            "verdict",       "indicators", "savings",   "advice",     "kernel_statistics",
            "op_statistics", "roofline",   "zones",     "steps",      "signposts",
            "chips",         "losses",     "summary",   "path_zones", "waits",
            "noc",           "memory",     "host_zones"};
        bool good = answer_find(answers, a->tables.items[i]) != NULL;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            good |= strcmp(known[k], a->tables.items[i]) == 0;
        if (!good)
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                           "--tables: there is no table '%s' (devlog report --help)", a->tables.items[i]);
    }
    return DEVLOG_OK;
}

/* As other commands say it: that there is some stands in the verdict. */
static void say_no_warm_up(const report_job *j)
{
    for (size_t i = 0; i < j->run.n_chips; i++)
        if (!j->run.chips[i].warm_up)
            fprintf(stderr,
                    "devlog report: chip %u: no warm-up is to be seen, and no launch is left out for it\n",
                    j->run.chips[i].chip);
}

static devlog_status report(report_job *j, const report_args *a, const char *path, const op_selection *s,
                            devlog_error *err)
{
    const report_options o = {.selection = s,
                              .by_fw = a->time == 1,
                              .group = (answer_group)a->group,
                              .sort = (answer_sort)a->sort,
                              .top = cli_answer_top(a->format, a->top),
                              .ops_table = a->ops_table,
                              .board = a->board,
                              .rules = a->rules,
                              .thresholds = a->thresholds,
                              .dram = a->dram * 1e9};
    devlog_status status = report_job_run(j, path, &o, "devlog report: ", err);
    if (j->troubles.text && !j->troubles.failed) fputs(j->troubles.text, stderr);
    if (!status) status = check_tables(a, &j->a, err);
    if (status) return status;
    if (a->filters.skip_warm_up) say_no_warm_up(j);
    return cli_answer_print(&j->a,
                            &(cli_answer_out){.kind = "report",
                                              .version = REPORT_FORMAT_VERSION,
                                              .format = a->format,
                                              .tables = &a->tables,
                                              .output = a->output},
                            err);
}

/* Of ranks the verdict of all: what is of one run's ops is not asked of them. */
static int report_ranks(const report_args *a, const cli_args *rest)
{
    static const report_args plain;
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): both are zeroed as a whole before options are read */
    if (memcmp(&a->filters, &plain.filters, sizeof a->filters) != 0 || a->group || a->sort || a->time ||
        a->ops_table || a->board || a->rules || a->thresholds || a->dram > 0)
        return cli_wrong(&cmd_report,
                         "of several ranks there are --tables, --top, --format and --output only; one "
                         "rank's folder takes the others, too");
    return cli_ranks_run(&(cli_ranks){.command = "report",
                                      .tables = &a->tables,
                                      .top = a->top,
                                      .format = a->format,
                                      .output = a->output},
                         rest);
}

static int run(int argc, char **argv)
{
    report_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_report, argc, argv, &a, &rest, &exit_status)) return exit_status;
    dl_filter filter = {0};
    devlog_error err = {0};
    report_job j = {0};
    exit_status = CLI_USAGE;
    char *newest[1];
    if (!a.latest && cli_are_ranks(&rest))
        exit_status = report_ranks(&a, &rest);
    else if ((a.latest || !rest.n) && cli_logs_latest("report", &rest, newest, true, &err)) {
        fprintf(stderr, "devlog report: %s\n", err.text);
        exit_status = CLI_FAILED;
    } else if (cli_filter_of(&cmd_report, &a.filters, &rest, &filter)) {
        const op_selection selection = cli_selection_of(&a.filters, &filter);
        const devlog_status status = report(&j, &a, rest.items[0], &selection, &err);
        if (status) fprintf(stderr, "devlog report: %s\n", err.text);
        exit_status = status ? CLI_FAILED : j.lost ? CLI_PARTIAL : CLI_OK;
    }
    report_job_free(&j);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_report = {
    .name = "report",
    .temporary = true,
    .summary = "What took the time of a run, why, and what would save most",
    .arguments = "[INPUT...]",
    .min_arguments = 0,
    .max_arguments = CLI_ANY,
    .description =
        "An input is an op report, a device log (plain, compressed or packed), a capture, or a folder of a run, of "
        "devlog or of tt-metal's profiler, or a tar or zip of it; without one, the newest of those in DEVLOG_LOG_FOLDER and generated/profiler. The verdict comes first: wall time, how much of it the device was busy, "
        "what the host did, how well clocks are known, what was lost. Then what would save most, with the evidence, "
        "and tables of kernels, ops, zones, steps and signposts.\n\n"
        "Several inputs, or a folder of rank0, rank1, ..., are the ranks of one run: then it is what devlog ranks says.\n\n"
        "What nobody knows is \"-\", null in JSON and an empty cell in CSV, never 0. docs/report.md says what each "
        "figure means and where it comes from.",
    .options = options,
    .examples = "  devlog report before\n"
                "  devlog report --tables verdict,savings report.csv\n"
                "  devlog report --group shape --sort gap report.csv\n"
                "  devlog report --format json --tables op_statistics capture.devlog\n",
    .see_also = "devlog-decode(1), devlog-diff(1), devlog-ops-summary(1), devlog-run(1)",
    .run = run,
};
