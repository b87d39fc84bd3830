/* The command lines of devlog-mpi. */
#include "cli/cmd_mpi.h"

#include "cli/answer_out.h"
#include "cli/decode_print.h"

static const cli_option options[] = {
    CLI_TITLE("Parts"),
    {CLI_NUMBER, "parts", 'p', "N",
     "cut the logs into N parts; as many as there are ranks unless told, eight times as many with --resume",
     offsetof(cli_mpi_decode, parts), 1, 1 << 20},
    {CLI_SIZE, "least", 0, "BYTES", "a part has so many bytes at least; 4M unless told",
     offsetof(cli_mpi_decode, least)},
    {CLI_STRING, "resume", 0, "FOLDER",
     "keep what each part has come to in this folder, which all ranks can write, and decode only the parts that are not there: "
     "for a job that is started again",
     offsetof(cli_mpi_decode, resume)},
    {CLI_FLAG, "stats", 0, NULL,
     "say on standard error, of each rank, what it read, sent and received, its processor time, how much of that MPI took (to start and to wait), its memory, and what it put on its disk",
     offsetof(cli_mpi_decode, stats)},
    CLI_TITLE("Files"),
    {CLI_STRING, "output", 'o', "FOLDER",
     "write files there, which all ranks can write: the statistics, the rearranged table and the tar of devlog decode --no-page",
     offsetof(cli_mpi_decode, folder)},
    {CLI_FLAG, "date", 0, NULL, "put date and time in front of the files' names",
     offsetof(cli_mpi_decode, date)},
    {CLI_STRING, "name", 'n', "SUFFIX", "add _SUFFIX to the files' names", offsetof(cli_mpi_decode, suffix)},
    {CLI_OFF, "no-files", 0, NULL, "write no files, as it is without --output",
     offsetof(cli_mpi_decode, files)},
    {CLI_OFF, "no-stats", 0, NULL, "do not write device_stats.txt",
     offsetof(cli_mpi_decode, wanted[DL_ARTIFACT_STATS])},
    {CLI_OFF, "no-rearranged", 0, NULL, "do not write device_rearranged_timestamps.csv",
     offsetof(cli_mpi_decode, wanted[DL_ARTIFACT_REARRANGED])},
    {CLI_OFF, "no-page", 0, NULL, "as it is: no page is written",
     offsetof(cli_mpi_decode, wanted[DL_ARTIFACT_PAGE])},
    {CLI_OFF, "no-tar", 0, NULL, "do not write device_perf_results.tar, which holds the others",
     offsetof(cli_mpi_decode, tar)},
    CLI_TITLE("Analyses"),
    {CLI_STRING, "analyses", 'a', "FILE",
     "compute the analyses of this JSON file, which rank 0 reads, besides the default ones, and print all of them",
     offsetof(cli_mpi_decode, analyses)},
    {CLI_OFF, "no-default-analyses", 0, NULL, "compute only those of --analyses",
     offsetof(cli_mpi_decode, defaults)},
    CLI_TITLE("Printing"),
    {CLI_CHOICE, "format", 'f', DECODE_FORMATS,
     "what to print: tables for people, or everything for programs; md: the tables, as Markdown",
     offsetof(cli_mpi_decode, format)},
    {CLI_OFF, "no-print", 0, NULL, "print no tables, only what was lost", offsetof(cli_mpi_decode, print)},
    {CLI_NUMBER, "max-launches", 0, "N", "launches in the table per launch; 20 unless told, 0: no such table",
     offsetof(cli_mpi_decode, max_launches), 0, UINT32_MAX},
    {CLI_CHOICE, "sort", 0, DECODE_SORTS, "what the rows of tables are sorted by; total unless told",
     offsetof(cli_mpi_decode, sort)},
    {CLI_NUMBER, "top", 0, "N", "rows in a table; 50 unless told, 0: all of them",
     offsetof(cli_mpi_decode, top), 0, UINT32_MAX},
    {0},
};

const cli_command cmd_mpi_decode = {
    .program = "devlog-mpi",
    .name = "decode",
    .summary =
        "Decode device logs and captures on many ranks of Open MPI: the output of devlog decode --no-page",
    .arguments = "LOG-OR-FOLDER...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "Cuts device logs and captures into parts, decodes each on a rank, and puts them together in a tree of ranks. Rank 0 "
        "prints the bytes that devlog decode --no-files prints of the same logs, for every number of ranks and parts. With --output FOLDER "
        "the files of devlog decode --no-page are written, the same bytes, too: the rearranged table and its copy in the tar by all ranks at the same time, each what it "
        "has decoded. What "
        "does not follow a cut exactly is decoded again by rank 0, which a line on standard error says. Every rank must be able "
        "to read the logs, under the same names.\n\n"
        "Packed logs are cut as plain ones are, and captures behind launches. Compressed logs, logs in disorder, and captures beside device logs are decoded by rank 0 alone, which is said.\n\n"
        "A rank that fails ends the job with one line that names it and its host; nothing is printed then. With --resume FOLDER the "
        "same command decodes only what that job has not, by any number of ranks.",
    .options = options,
    .files =
        "device_stats.txt, device_rearranged_timestamps.csv, device_perf_results.tar: as of devlog decode --no-page. Of each there is all, or what was "
        "there before.\n\n"
        "device_perf.html is not written: it is made of runs in their order, which no rank has.",
    .examples = "  mpirun -n 4 devlog-mpi decode profile_log_device.csv\n"
                "  mpirun -n 4 devlog-mpi decode -o out profile_log_device.csv\n"
                "  mpirun -n 4 devlog-mpi decode --resume kept profile_log_device.csv\n"
                "  mpirun -n 16 --hostfile hosts devlog-mpi decode --stats runs/*/profile_log_device.csv\n",
    .see_also = "devlog-decode(1), mpirun(1)",
};

#define FINDING                                                                                                                 \
    "Each rank of Open MPI looks at some of the folders, makes the op reports of those that have only what one is made of "     \
    "(logs of devlog, .logs of tt-metal), and hands those on to rank 0. All ranks must be able to read the folders, under the " \
    "same names."

static const cli_option ops_options[] = {
    {CLI_STRING, "output", 'o', "FOLDER", "where files go; generated/profiler/output/ops unless told",
     offsetof(cli_mpi_ranks, output)},
    {CLI_STRING, "name", 'n', "SUFFIX", "add _SUFFIX to the files' names", offsetof(cli_mpi_ranks, suffix)},
    {0},
};

const cli_command cmd_mpi_ops = {
    .program = "devlog-mpi",
    .name = "ops",
    .summary = "One op report of many ranks' folders: the output of devlog ops",
    .arguments = "RANK-FOLDER...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "Writes and prints what devlog ops does of the same folders of ranks, to the byte.\n\n" FINDING,
    .options = ops_options,
    .examples = "  mpirun -n 8 devlog-mpi ops -o all runs/rank*\n",
    .see_also = "devlog-ops(1), devlog-ranks(1), mpirun(1)",
};

static const cli_option report_options[] = {
    {CLI_LIST, "tables", 't', "NAME,...", "only these (devlog ranks --help names them)",
     offsetof(cli_mpi_ranks, tables)},
    {CLI_NUMBER, "top", 'n', "N", "lines of a table; 0: all. 20 unless told, all in JSON and CSV",
     offsetof(cli_mpi_ranks, top), 0, UINT32_MAX},
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS, "what to print", offsetof(cli_mpi_ranks, format)},
    {CLI_STRING, "output", 'o', "FILE", "write there, not to standard output",
     offsetof(cli_mpi_ranks, output)},
    {0},
};

const cli_command cmd_mpi_report = {
    .program = "devlog-mpi",
    .name = "report",
    .summary = "Many ranks as one run: the output of devlog report of their folders",
    .arguments = "RANK-FOLDER...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "Prints what devlog report (devlog ranks) does of the same folders of ranks, to the byte.\n\n" FINDING,
    .options = report_options,
    .examples = "  mpirun -n 8 devlog-mpi report --format json runs/rank*\n",
    .see_also = "devlog-report(1), devlog-ranks(1), mpirun(1)",
};

const cli_command *const cli_mpi_commands[] = {&cmd_mpi_decode, &cmd_mpi_ops, &cmd_mpi_report, NULL};
