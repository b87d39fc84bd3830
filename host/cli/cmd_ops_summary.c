/* devlog ops summary: where the device time of an op report went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/op_report.h"
#include "ops/op_summary.h"

typedef struct summary_args {
    bool list;
    int time, format;
    const char *ids, *from, *to;
    cli_list ops;
    double min_share;
    uint64_t top;
} summary_args;

static const cli_option options[] = {
    CLI_TITLE("What is shown"),
    {CLI_FLAG, "list", 'l', NULL,
     "every op by itself, in the order of the report, instead of grouped by op code",
     offsetof(summary_args, list)},
    {CLI_CHOICE, "time", 0, "kernel|fw", "the duration that ops are ranked by", offsetof(summary_args, time)},
    {CLI_CHOICE, "format", 'f', "text|csv|json|md",
     "numbers in csv and json are integers of ns; md: for the comment of a pull request",
     offsetof(summary_args, format)},
    {CLI_NUMBER, "top", 0, "N", "lines of text; 50 unless told, with --list all; 0: all",
     offsetof(summary_args, top), 0, UINT32_MAX},
    CLI_TITLE("Filters"),
    {CLI_STRING, "ids", 0, "FIRST-LAST",
     "only ops whose GLOBAL CALL COUNT is in the range; either may be left out", offsetof(summary_args, ids)},
    {CLI_STRING, "from", 0, "SIGNPOST", "only what comes after this signpost", offsetof(summary_args, from)},
    {CLI_STRING, "to", 0, "SIGNPOST", "only what comes before this signpost", offsetof(summary_args, to)},
    {CLI_LIST, "ops", 0, "NAME,...", "only these op codes; a trailing * stands for any ending",
     offsetof(summary_args, ops)},
    {CLI_REAL, "min-share", 0, "PERCENT", "leave out of the list, not of the total, what has a smaller share",
     offsetof(summary_args, min_share)},
    {0},
};

/* "3-7", "3-", "-7", "3". */
static bool range_of(const char *text, uint64_t *first, uint64_t *last)
{
    char *end;
    *first = *last = 0;
    if (!text) return true;
    const char *dash = strchr(text, '-');
    if (*text >= '0' && *text <= '9') {
        *first = strtoull(text, &end, 10);
        if (end != (dash ? dash : text + strlen(text))) return false;
        if (!dash) *last = *first;
    } else if (dash != text) {
        return false;
    }
    if (!dash) return true;
    if (dash[1] == 0) return dash != text;
    if (dash[1] < '0' || dash[1] > '9') return false;
    *last = strtoull(dash + 1, &end, 10);
    return *end == 0 && *last >= *first;
}

static int run(int argc, char **argv)
{
    summary_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_ops_summary, argc, argv, &a, &rest, &exit_status)) return exit_status;
    devlog_error err = {0};
    op_table t = {0};
    op_summary s = {0};
    dl_str out = {0};
    op_summary_options o = {.list = a.list,
                            .by_fw = a.time == 1,
                            .from = a.from,
                            .to = a.to,
                            .filter = {a.ops.items, a.ops.n},
                            .min_share = a.min_share,
                            .colour = dl_term_colour(stdout),
                            .width = dl_term_width(stdout),
                            .top = (size_t)(a.top == UINT64_MAX ? (a.list ? 0 : 50) : a.top)};
    static const uint8_t formats[] = {OP_SUMMARY_TEXT, OP_SUMMARY_CSV, OP_SUMMARY_JSON, OP_SUMMARY_MARKDOWN};
    o.format = formats[a.format];
    if (!range_of(a.ids, &o.first, &o.last)) {
        exit_status = cli_wrong(&cmd_ops_summary, "--ids wants FIRST-LAST, not '%s'", a.ids);
        goto done;
    }
    exit_status = CLI_FAILED;
    bool lost = false;
    devlog_status status = cli_op_table_read(&t, rest.items[0], &lost, &err);
    if (!status) status = op_summary_make(&s, &t, &o, &err);
    if (!status) op_summary_print(&s, &t, &o, &out);
    if (!status) status = dl_print(&out, &err);
    if (status) {
        fprintf(stderr, "devlog ops summary: %s\n", err.text);
    } else {
        exit_status = cli_op_table_troubles("ops summary", &t) || lost ? CLI_PARTIAL : CLI_OK;
    }
done:
    op_summary_free(&s);
    op_table_free(&t);
    dl_str_free(&out);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_ops_summary = {
    .name = "ops-summary",
    .summary = "Where the device time of an op report went: ops ranked by device time",
    .arguments = "FILE-OR-FOLDER",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Also as 'devlog ops summary'. Reads any op report, of devlog or of tt-metal since 2023, by the "
        "names of its columns, plain or compressed, or that of a folder of one run, or of a tar or zip of it; \"-\" is standard input. An op's gap is its OP TO OP "
        "LATENCY.",
    .options = options,
    .examples = "  devlog ops summary generated/profiler/output/ops/ops_perf_results.csv\n"
                "  devlog ops summary --from 'layer 0' --to 'layer 1' --min-share 1 report.csv\n"
                "  devlog ops summary --list --ops 'Matmul*' --format csv report.csv\n",
    .see_also = "devlog-ops(1), devlog-ops-compare(1)",
    .run = run,
};
