/* devlog ranks: the ranks of one program as one run: who waited for whom, where they differ, and one report of all. */
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "cli/ranks_job.h"

typedef struct ranks_args {
    cli_list tables, hosts;
    uint64_t top;
    int format;
    const char *output, *merge, *trace;
} ranks_args;

static const cli_option options[] = {
    {CLI_STRING, "merge", 'm', "FILE",
     "write the reports of all ranks as one CSV, op by op, with RANK and HOST", offsetof(ranks_args, merge)},
    {CLI_STRING, "trace", 0, "FILE",
     "write the ops of all ranks on one clock as a Chrome trace, for ui.perfetto.dev",
     offsetof(ranks_args, trace)},
    {CLI_LIST, "hosts", 0, "NAME,...",
     "the host of each rank, in the order of ranks; what logs of ops say unless told",
     offsetof(ranks_args, hosts)},
    {CLI_LIST, "tables", 't', "NAME,...",
     "only these, by the names that they have in JSON: verdict, ranks, clocks, imbalance, collectives, late, periods, steps, each",
     offsetof(ranks_args, tables)},
    {CLI_NUMBER, "top", 'n', "N", "lines of a table; 0: all. 20 unless told, all in JSON and CSV",
     offsetof(ranks_args, top), 0, UINT32_MAX},
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS, "what to print", offsetof(ranks_args, format)},
    {CLI_STRING, "output", 'o', "FILE", "write there, not to standard output", offsetof(ranks_args, output)},
    {0},
};

static int run(int argc, char **argv)
{
    ranks_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_ranks, argc, argv, &a, &rest, &exit_status)) return exit_status;
    exit_status = cli_ranks_run(&(cli_ranks){.command = "ranks",
                                             .tables = &a.tables,
                                             .hosts = &a.hosts,
                                             .top = a.top,
                                             .format = a.format,
                                             .output = a.output,
                                             .merge = a.merge,
                                             .trace = a.trace},
                                &rest);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_ranks = {
    .name = "ranks",
    .temporary = true,
    .summary = "Many ranks as one run: who waited for whom, where they differ, one report of all",
    .arguments = "FOLDER...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "An argument is the folder of all ranks (rank0, rank1, ..., as tt-metal's launcher leaves them below "
        "generated/profiler/ttrun), or that of one rank; of a rank its op report is read, or made of what its folder holds. "
        "The same op is found on all ranks by its id, or by the order of ops. Clocks of chips are laid beside one another by "
        "the ends of collective ops; where there are none, by the clocks of their hosts, as captures beside the reports have them: one clock where hosts are one, "
        "else by exchanges between ranks (devlog_clock_exchange, libdevlog-pmpi.so), else by CLOCK_REALTIME. How well that is known is said. The time of collective ops is divided into skew, in "
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
