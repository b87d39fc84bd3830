/* devlog ops compare: two op reports beside one another. */
#include <stdio.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/op_report.h"
#include "ops/op_compare.h"

typedef struct compare_args {
    bool list;
    int time, format;
    cli_list ops;
    double min_share;
    const char *max_regression, *max_host;
    bool other_ops;
    uint64_t top;
} compare_args;

static const cli_option options[] = {
    CLI_TITLE("What is shown"),
    {CLI_FLAG, "list", 'l', NULL,
     "op by op instead of by op code; for reports of the same ops in the same order",
     offsetof(compare_args, list)},
    {CLI_CHOICE, "time", 0, "kernel|fw", "the duration that is compared", offsetof(compare_args, time)},
    {CLI_CHOICE, "format", 'f', "text|csv|json|md",
     "times in csv and json are integers of ns; md: for the comment of a pull request",
     offsetof(compare_args, format)},
    {CLI_NUMBER, "top", 0, "N", "lines of text; 50 unless told, with --list all; 0: all",
     offsetof(compare_args, top), 0, UINT32_MAX},
    CLI_TITLE("Filters"),
    {CLI_LIST, "ops", 0, "NAME,...", "only these op codes; a trailing * stands for any ending",
     offsetof(compare_args, ops)},
    {CLI_REAL, "min-share", 0, "PERCENT",
     "leave out, of the list and the judgement, what has a smaller share of the time in both reports",
     offsetof(compare_args, min_share)},
    CLI_TITLE("Judgement"),
    {CLI_STRING, "max-regression", 0, "PERCENT",
     "exit with status 4 when any op code takes more device time per op than before, or all of them "
     "together, by more "
     "than this; when ops are gone, new, or more or fewer by more than this; when device data, host times or "
     "gaps are "
     "missing that were there; and when host times or gaps grew by more than --max-host-regression",
     offsetof(compare_args, max_regression)},
    {CLI_STRING, "max-host-regression", 0, "PERCENT",
     "by which all host times together, and all gaps between ops, may grow; 400 unless told, as they are "
     "those of a "
     "whole machine",
     offsetof(compare_args, max_host)},
    {CLI_FLAG, "other-ops", 0, NULL,
     "ops that are gone or new, and other counts, are as they should be; the total is judged all the same",
     offsetof(compare_args, other_ops)},
    {0},
};

/* Digits, perhaps with decimals. */
static bool percent_of(const char *text, double *out)
{
    double whole = 0, place = 1;
    size_t digits = 0;
    bool point = false;
    for (const char *p = text; text && *p; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9' || ++digits > 15) return false;
        whole = whole * 10 + (*p - '0');
        if (point) place *= 10;
    }
    *out = whole / place;
    return !text || digits;
}

static int run(int argc, char **argv)
{
    compare_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_ops_compare, argc, argv, &a, &rest, &exit_status)) return exit_status;
    devlog_error err = {0};
    op_table before = {0}, after = {0};
    op_compare c = {0};
    dl_str out = {0};
    op_compare_options o = {.list = a.list,
                            .by_fw = a.time == 1,
                            .filter = {a.ops.items, a.ops.n},
                            .judged = a.max_regression != NULL,
                            .host_told = a.max_host != NULL,
                            .other_ops = a.other_ops,
                            .min_share = a.min_share,
                            .colour = dl_term_colour(stdout),
                            .width = dl_term_width(stdout),
                            .top = (size_t)(a.top == UINT64_MAX ? (a.list ? 0 : 50) : a.top)};
    static const uint8_t formats[] = {OP_COMPARE_TEXT, OP_COMPARE_CSV, OP_COMPARE_JSON, OP_COMPARE_MARKDOWN};
    o.format = formats[a.format];
    o.colour &= o.format == OP_COMPARE_TEXT;
    if (!percent_of(a.max_regression, &o.max_regression) || !percent_of(a.max_host, &o.max_host)) {
        bool host = percent_of(a.max_regression, &o.max_regression);
        exit_status = cli_wrong(&cmd_ops_compare, "--max-%sregression wants a number of percent, not '%s'",
                                host ? "host-" : "", host ? a.max_host : a.max_regression);
        goto done;
    }
    if (!a.max_regression && (a.max_host || a.other_ops)) {
        exit_status = cli_wrong(&cmd_ops_compare, "--%s says how to judge, and --max-regression is not given",
                                a.max_host ? "max-host-regression" : "other-ops");
        goto done;
    }
    exit_status = CLI_FAILED;
    bool troubles = false;
    devlog_status status = cli_op_table_read(&before, rest.items[0], &troubles, &err);
    if (!status) status = cli_op_table_read(&after, rest.items[1], &troubles, &err);
    if (!status) status = op_compare_make(&c, &before, &after, &o, &err);
    if (!status) op_compare_print(&c, &before, &after, &o, &out);
    if (!status) status = dl_print(&out, &err);
    if (status) {
        fprintf(stderr, "devlog ops compare: %s\n", err.text);
    } else {
        troubles |= cli_op_table_troubles("ops compare", &before);
        troubles |= cli_op_table_troubles("ops compare", &after);
        exit_status = c.worse ? CLI_WORSE : troubles ? CLI_PARTIAL : CLI_OK;
    }
done:
    op_compare_free(&c);
    op_table_free(&before);
    op_table_free(&after);
    dl_str_free(&out);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_ops_compare = {
    .name = "ops-compare",
    .summary = "Two op reports beside one another: which ops became faster or slower",
    .arguments = "BEFORE AFTER",
    .min_arguments = 2,
    .max_arguments = 2,
    .description =
        "Also as 'devlog ops compare'. Reads any op reports, of devlog or of tt-metal since 2023, by the "
        "names "
        "of their columns, plain or compressed, or folders of runs, or a tar or zip of one. Per op code: device time and count before and after, their "
        "difference, and by how much one op changed, in percent; the greatest difference comes first. Below "
        "the total stand the gaps between ops and the host's time inside them.\n\n"
        "The exit status is 4 when --max-regression is given and something is worse; else 0, or 3 when cells "
        "or rows of a report could not be used. It is 1 when there is nothing to judge: no device data "
        "before, or op "
        "codes that neither report has.",
    .options = options,
    .examples = "  devlog ops compare before/ops_perf_results.csv after/ops_perf_results.csv\n"
                "  devlog ops compare --max-regression 5 --min-share 1 main.csv branch.csv  for CI\n"
                "  devlog ops compare --list --format csv before.csv after.csv\n",
    .exit_worse = "the result is there, and with --max-regression something is worse than that allows",
    .see_also = "devlog-ops-summary(1), devlog-ops(1)",
    .run = run,
};
