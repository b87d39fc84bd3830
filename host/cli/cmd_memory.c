/* devlog memory: who held what memory of devices, when, and what was not freed. */
#include <stdio.h>

#include "answers/memory_answer.h"
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "cli/logs.h"

enum { MOST_STEPS = 10000 };

typedef struct memory_args {
    cli_list tables;
    int format;
    uint64_t top, steps;
    const char *output;
    bool latest;
} memory_args;

static const cli_option options[] = {
    CLI_TITLE("What is shown"),
    {CLI_LIST, "tables", 't', "NAME,...",
     "only these, by the names that they have in JSON: memory, at_peak, sources, timeline, leaks, buffers",
     offsetof(memory_args, tables)},
    {CLI_NUMBER, "top", 0, "N",
     "lines of each table but the first and TIMELINE; 20 unless told (json and csv: all), 0: all",
     offsetof(memory_args, top), 0, UINT32_MAX},
    {CLI_NUMBER, "steps", 0, "N", "parts of equal length that TIMELINE divides the run into; 10 unless told",
     offsetof(memory_args, steps), 1, MOST_STEPS},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS,
     "json has a schema (share/devlog/schema); csv: one table after the other, an empty line between; md: for the "
     "comment of a pull request",
     offsetof(memory_args, format)},
    {CLI_STRING, "output", 'o', "FILE", "write there, not to standard output", offsetof(memory_args, output)},
    CLI_LATEST(memory_args, latest),
    {0},
};

static devlog_status check_tables(const memory_args *a, const answer *answers, devlog_error *err)
{
    for (size_t i = 0; i < a->tables.n; i++)
        if (!answer_find(answers, a->tables.items[i]))
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                           "--tables: there is no table '%s' (devlog memory --help)", a->tables.items[i]);
    return DEVLOG_OK;
}

static devlog_status show(memory_job *j, const memory_args *a, devlog_error *err)
{
    const memory_wishes wishes = {.top = cli_answer_top(a->format, a->top), .steps = (size_t)a->steps};
    devlog_status status = memory_job_answer(j, &wishes, err);
    if (!status) status = check_tables(a, &j->a, err);
    if (status) return status;
    return cli_answer_print(&j->a,
                            &(cli_answer_out){.kind = "memory",
                                              .version = MEMORY_FORMAT_VERSION,
                                              .format = a->format,
                                              .tables = &a->tables,
                                              .output = a->output},
                            err);
}

static int run(int argc, char **argv)
{
    memory_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_memory, argc, argv, &a, &rest, &exit_status)) return exit_status;
    devlog_error err = {0};
    memory_job j = {0};
    dl_str troubles = {0};
    char *newest[1];
    devlog_status status =
        a.latest || !rest.n ? cli_logs_latest("memory", &rest, newest, true, &err) : DEVLOG_OK;
    if (!status) status = memory_job_read(&j, rest.items[0], &err);
    if (!status) status = show(&j, &a, &err);
    if (!status) memory_job_troubles(&j, "devlog memory: ", &troubles);
    if (troubles.text && !troubles.failed) fputs(troubles.text, stderr);
    if (status) fprintf(stderr, "devlog memory: %s\n", err.text);
    exit_status = status ? CLI_FAILED : j.lost ? CLI_PARTIAL : CLI_OK;
    memory_job_free(&j);
    dl_str_free(&troubles);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_memory = {
    .name = "memory",
    .temporary = true,
    .summary = "Who held what memory of devices, when, and what was not freed",
    .arguments = "[INPUT]",
    .min_arguments = 0,
    .max_arguments = 1,
    .description =
        "An input is a log of ops (profile_log_ops.jsonl, plain, compressed or packed), a folder of a run, a device log, capture or op report "
        "beside which that log is, or a tar or zip of any; without one, the newest run in DEVLOG_LOG_FOLDER and generated/profiler. Allocators write every allocation and every "
        "free of a buffer there, with the op that was open and the line of the program (devlog_buffer_create). For each chip's L1 "
        "and DRAM it tells what is held at the end and at most, when that was and by whom, how much of the free memory is in "
        "pieces, who held what at the peak, a timeline, and what was not freed with the place where it was made.\n\n"
        "3: buffers were not freed before their device was closed, or lines of the log are missing or do not go together. "
        "What nobody knows is \"-\", null in JSON. docs/memory.md says what the terms mean.",
    .options = options,
    .examples = "  devlog memory logs\n"
                "  devlog memory --tables leaks,at_peak logs/profile_log_ops.jsonl\n"
                "  devlog memory logs/capture.devlog  by the log beside it\n"
                "  devlog memory --format json --steps 100 --tables timeline logs\n",
    .see_also = "devlog-report(1), devlog-ops(1), devlog-run(1)",
    .run = run,
};
