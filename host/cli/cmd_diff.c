/* devlog diff: two versions of a program beside one another, and gates for CI. */
#include <stdio.h>
#include <stdlib.h>

#include "answers/diff_job.h"
#include "answers/diff_print.h"
#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/diff_page.h"
#include "ranks/ranks.h"

typedef struct diff_args {
    cli_list before, after, gates;
    int format, time;
    uint64_t top;
    bool exact, page;
    const char *output;
    double confidence, min_share;
    char *const *folders, *const *names; /* cli_diff_called */
    size_t n_folders;
} diff_args;

static const cli_option options[] = {
    CLI_TITLE("Input"),
    {CLI_EACH, "old", 0, "INPUT", "a run of the old version, or a folder of runs; may be given again",
     offsetof(diff_args, before)},
    {CLI_EACH, "new", 0, "INPUT", "a run of the new version, or a folder of runs; may be given again",
     offsetof(diff_args, after)},
    {CLI_CHOICE, "time", 0, "kernel|fw", "the duration of ops that is compared", offsetof(diff_args, time)},
    CLI_TITLE("Judgement"),
    {CLI_EACH, "fail-on", 0, "CONDITION",
     "exit with status 4 when it is true, and 5 when there are too few samples to tell, or nothing that it speaks of: op>+5%, op_p95>+5%, "
     "zone>+10%, total>+2%, gaps>+20us, host>+10%, count>+0%, missing, new, all>+5%; may be given again",
     offsetof(diff_args, gates)},
    {CLI_REAL, "confidence", 0, "PERCENT",
     "how sure it has to be that nothing it calls slower or faster is chance; 99.9 unless told",
     offsetof(diff_args, confidence)},
    {CLI_FLAG, "exact", 0, NULL, "there is no chance in the times (a simulator's): every difference counts",
     offsetof(diff_args, exact)},
    {CLI_REAL, "min-share", 0, "PERCENT",
     "leave ops and zones alone that take a smaller share of the device time in both: they are shown and not tested",
     offsetof(diff_args, min_share)},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', "text|csv|json|md|junit",
     "md: for the comment of a pull request; junit: a test case for each condition",
     offsetof(diff_args, format)},
    {CLI_NUMBER, "top", 0, "N", "lines of each table in text and md; 20 unless told, 0: all",
     offsetof(diff_args, top), 0, UINT32_MAX},
    {CLI_FLAG, "page", 0, NULL,
     "also write a page with both time lines, one above the other, and the table as the way into them; wants a device log "
     "on each side",
     offsetof(diff_args, page)},
    {CLI_STRING, "output", 'o', "FILE", "the page of --page; device_perf_diff.html unless told",
     offsetof(diff_args, output)},
    {0},
};

static diff_printer *const printers[] = {diff_print_text, diff_print_csv, diff_print_json,
                                         diff_print_markdown, diff_print_junit};

/* A folder of ranks is as many runs of its side. */
static devlog_status add_input(diff_job *j, const char *path, uint32_t side, devlog_error *err)
{
    if (!ranks_are_in(path)) return diff_job_add(j, path, side, err);
    ranks r;
    devlog_status status = ranks_find(&r, &path, 1, err);
    for (size_t i = 0; i < r.n && !status; i++) {
        char *source = ranks_source(&r.items[i]);
        status =
            source ? diff_job_add(j, source, side, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        free(source);
    }
    ranks_free(&r);
    return status;
}

static devlog_status find_inputs(diff_job *j, const diff_args *a, const cli_args *rest, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < a->before.n && !status; i++)
        status = add_input(j, a->before.items[i], DIFF_OLD, err);
    for (size_t i = 0; i < a->after.n && !status; i++)
        status = add_input(j, a->after.items[i], DIFF_NEW, err);
    for (int i = 0; i < rest->n && !status; i++)
        status = add_input(j, rest->items[i], i ? DIFF_NEW : DIFF_OLD, err);
    for (size_t i = 0; i < a->n_folders && !status; i++)
        status = run_inputs_call(&j->in, 0, a->folders[i], a->names[i], err);
    return status;
}

static int compare(diff_job *j, const diff_args *a, const cli_args *rest)
{
    devlog_error err = {0};
    dl_str out = {0};
    const diff_job_options o = {
        .exact = a->exact, .by_fw = a->time == 1, .confidence = a->confidence, .min_share = a->min_share};
    devlog_status status = find_inputs(j, a, rest, &err);
    if (!status && a->page) status = cli_diff_page_check(j, &err);
    if (!status) status = diff_job_run(j, &o, "devlog diff: ", &err);
    if (j->troubles.text && !j->troubles.failed) fputs(j->troubles.text, stderr);
    const diff_shown shown = {.d = &j->d,
                              .gates = j->gates,
                              .n_gates = j->n_gates,
                              .colour = dl_term_colour(stdout),
                              .width = dl_term_width(stdout),
                              .top = (size_t)a->top};
    if (!status) printers[a->format](&shown, &out);
    if (!status && a->page) status = cli_diff_page_write(j, a->output, &err);
    if (!status) status = dl_print(&out, &err);
    int exit_status = CLI_FAILED;
    if (status) {
        fprintf(stderr, "devlog diff: %s\n", err.text);
    } else {
        if (a->page) fprintf(stderr, "devlog diff: the page is %s\n", a->output);
        static const int exits[GATE_RESULTS] = {
            [GATE_PASSED] = CLI_OK, [GATE_FAILED] = CLI_WORSE, [GATE_UNDECIDED] = CLI_UNDECIDED};
        exit_status = exits[diff_result(j->gates, j->n_gates)];
        if (exit_status == CLI_OK && j->lost) exit_status = CLI_PARTIAL;
    }
    dl_str_free(&out);
    return exit_status;
}

int cli_diff_called(int argc, char **argv, char *const *folders, char *const *names, size_t n)
{
    diff_args a = {.top = 20, .confidence = 99.9, .folders = folders, .names = names, .n_folders = n};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_diff, argc, argv, &a, &rest, &exit_status)) return exit_status;
    diff_job j = {0};
    devlog_error err = {0};
    const bool listed = a.before.n || a.after.n;
    if (listed && rest.n)
        exit_status = cli_wrong(&cmd_diff, "OLD NEW and --old --new say the same: give either");
    else if (listed ? !a.before.n || !a.after.n : rest.n != 2)
        exit_status = cli_wrong(&cmd_diff, "it wants an old and a new input: OLD NEW, or --old and --new");
    else if (a.confidence <= 50 || a.confidence >= 100)
        exit_status = cli_wrong(&cmd_diff, "--confidence is more than 50 and less than 100 percent");
    else if (a.output && !a.page)
        exit_status = cli_wrong(&cmd_diff, "-o is the file of --page: give both, or redirect the output");
    else if (diff_job_gates(&j, a.gates.items, a.gates.n, &err))
        exit_status = cli_wrong(&cmd_diff, "--fail-on %s", err.text);
    else {
        if (!a.output) a.output = "device_perf_diff.html";
        exit_status = compare(&j, &a, &rest);
    }
    diff_job_free(&j);
    cli_args_free(&rest);
    return exit_status;
}

static int run(int argc, char **argv)
{
    return cli_diff_called(argc, argv, NULL, NULL, 0);
}

const cli_command cmd_diff = {
    .name = "diff",
    .temporary = true,
    .summary = "Two versions of a program: what became slower, why, and how sure that is; gates for CI",
    .arguments = "[OLD NEW]",
    .max_arguments = 2,
    .description =
        "An input is an op report, a device log (plain, compressed or packed), a capture, a folder of a run (of "
        "devlog, or of tt-metal's profiler) or a tar or zip of it, or a folder of such, or of ranks (rank0, rank1, ...). Several inputs on a side are repeats of one "
        "version: then a sample is a run. With one input on each side a sample is an op's repeat, or a zone's time "
        "in a launch, inside the run.\n\n"
        "Ops are matched by op code and shapes, and equal ones by their order; zones by RISC, name and line of the "
        "source, by name alone where the line has moved. Whether a difference is more than chance is tested by "
        "Mann-Whitney's U, which assumes nothing of how times are distributed, and corrected (Holm) for the number "
        "of lines that are tested together: of 1,000 comparisons of a program with itself one says that anything "
        "changed. docs/diff.md has the conditions of --fail-on and what each column means.",
    .options = options,
    .examples =
        "  devlog diff before.csv after.csv\n"
        "  devlog diff --fail-on 'op_p95>+5%' --fail-on missing --exact before.csv after.csv  for CI\n"
        "  devlog diff --old before --new after --format md  for the comment of a pull request\n"
        "  devlog diff --page before after -o diff.html  both time lines, in a browser\n",
    .exit_worse = "the result is there, and a condition of --fail-on is true",
    .exit_undecided =
        "the result is there, no condition is true, and for one there are too few samples to tell, or nothing that it "
        "speaks of",
    .see_also = "devlog-ops(1), devlog-ops-compare(1), devlog-run(1)",
    .run = run,
};
