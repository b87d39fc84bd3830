/* devlog ranks: the ranks of one program as one run: who waited for whom, where they differ, and one report of all. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "ranks/ranks.h"

typedef struct ranks_args {
    cli_list tables, hosts;
    uint64_t top;
    int format;
    const char *output, *merge;
} ranks_args;

static const cli_option options[] = {
    {CLI_STRING, "merge", 'm', "FILE",
     "write the reports of all ranks as one CSV, op by op, with RANK and HOST", offsetof(ranks_args, merge)},
    {CLI_LIST, "hosts", 0, "NAME,...", "the host of each rank, in the order of ranks",
     offsetof(ranks_args, hosts)},
    {CLI_LIST, "tables", 't', "NAME,...",
     "only these, by the names that they have in JSON: verdict, ranks, imbalance, collectives, late, periods, each",
     offsetof(ranks_args, tables)},
    {CLI_NUMBER, "top", 'n', "N", "lines of a table; 0: all. 20 unless told, all in JSON and CSV",
     offsetof(ranks_args, top), 0, UINT32_MAX},
    {CLI_CHOICE, "format", 0, CLI_ANSWER_FORMATS, "what to print", offsetof(ranks_args, format)},
    {CLI_STRING, "output", 'o', "FILE", "write there, not to standard output", offsetof(ranks_args, output)},
    {0},
};

static devlog_status read_all(ranks *r, const cli_args *rest, const ranks_args *a, devlog_error *err)
{
    devlog_status status = ranks_find(r, (const char *const *)rest->items, rest->n, err);
    if (!status && a->hosts.n) status = ranks_name_hosts(r, a->hosts.items, a->hosts.n, err);
    if (!status) status = ranks_read(r, err);
    if (!status) status = ranks_match(r, err);
    if (!status) status = ranks_align(r, err);
    return status;
}

static devlog_status show(const ranks *r, const ranks_args *a, devlog_error *err)
{
    answer answers;
    devlog_status status = answer_begin(&answers, err);
    if (status) return status;
    status = ranks_answer(&answers, r, &(ranks_wishes){.top = cli_answer_top(a->format, a->top)}, err);
    for (size_t i = 0; i < a->tables.n && !status; i++)
        if (!answer_find(&answers, a->tables.items[i]))
            status = dl_fail(
                err, DEVLOG_ERR_NOT_FOUND,
                "--tables: there is no table '%s' of these ranks (devlog ranks --help lists them; those of "
                "collective ops are there when there are any)",
                a->tables.items[i]);
    if (!status)
        status = cli_answer_print(&answers,
                                  &(cli_answer_out){.kind = "ranks",
                                                    .version = RANKS_VERSION,
                                                    .format = a->format,
                                                    .tables = &a->tables,
                                                    .output = a->output},
                                  err);
    answer_free(&answers);
    return status;
}

static int run(int argc, char **argv)
{
    ranks_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_ranks, argc, argv, &a, &rest, &exit_status)) return exit_status;
    devlog_error err = {0};
    ranks r = {0};
    uint64_t rows = 0;
    devlog_status status = read_all(&r, &rest, &a, &err);
    if (!status) status = show(&r, &a, &err);
    if (!status && a.merge) status = ranks_merge(&r, a.merge, &rows, &err);
    if (!status && a.merge) {
        char digits[DL_GROUPED_SIZE];
        fprintf(stderr, "%s rows of %zu ranks in %s\n", dl_u64_grouped(digits, rows), r.n, a.merge);
    }
    for (size_t i = 0; i < r.n && !status; i++)
        if (r.items[i].silent)
            fprintf(stderr, "devlog ranks: rank %u is left out: %s\n", r.items[i].number, r.items[i].silent);
    if (status) fprintf(stderr, "devlog ranks: %s\n", err.text);
    exit_status = status ? CLI_FAILED : ranks_incomplete(&r) ? CLI_PARTIAL : CLI_OK;
    ranks_free(&r);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_ranks = {
    .name = "ranks",
    .summary = "Many ranks as one run: who waited for whom, where they differ, one report of all",
    .arguments = "FOLDER...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "An argument is the folder of all ranks (rank0, rank1, ..., as tt-metal's launcher leaves them below "
        "generated/profiler/ttrun), or that of one rank; of a rank its op report is read, or made of what its folder holds. "
        "The same op is found on all ranks by its id, or by the order of ops. Clocks of chips are laid beside one another by "
        "the ends of collective ops, and how well that is known is said. The time of collective ops is divided into skew, in "
        "which ranks wait for the last one, and transfer; who came last is named, with the op that took longer there.\n\n"
        "3: a rank is missing, or nothing is known of it, or it has no op in common with another, or ops have no device data, or what "
        "a report was made of had losses. What nobody knows is "
        "\"-\", null in JSON. docs/fleet.md says what the terms mean.",
    .options = options,
    .examples = "  devlog ranks generated/profiler/ttrun\n"
                "  devlog ranks --merge all.csv rank0 rank1 rank2 rank3\n"
                "  devlog ranks --format json --tables collectives,late generated/profiler/ttrun\n",
    .see_also = "devlog-ops(1), devlog-report(1), devlog-diff(1)",
    .run = run,
};
