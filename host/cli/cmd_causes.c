/* devlog causes: why RISCs waited, and the path of work that decided how long launches took. */
#include <stdio.h>

#include "answers/causes_job.h"
#include "cli/answer_out.h"
#include "cli/filters.h"
#include "cli/logs.h"
#include "report/decode_table.h"

typedef struct causes_args {
    cli_filters filters;
    cli_list tables;
    int format;
    uint64_t top;
    const char *elf_folder;
    bool latest;
} causes_args;

static const cli_option options[] = {
    CLI_TITLE("What is shown"),
    {CLI_LIST, "tables", 't', "NAME,...",
     "only these, by the names that they have in JSON: causes, path, path_zones, waits, noc, slack, launches, run, run_path",
     offsetof(causes_args, tables)},
    {CLI_NUMBER, "top", 0, "N", "lines of each table; 20 unless told (json and csv: all), 0: all",
     offsetof(causes_args, top), 0, UINT32_MAX},
    {CLI_STRING, "elf", 0, "FOLDER", "where to look for ELF files of kernels that have been moved",
     offsetof(causes_args, elf_folder)},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS,
     "json has a schema (share/devlog/schema); csv: one table after the other, an empty line between",
     offsetof(causes_args, format)},
    CLI_LATEST(causes_args, latest),
    CLI_SELECTION(causes_args, filters),
    {0},
};

static devlog_status check_tables(const causes_args *a, const answer *answers, devlog_error *err)
{
    for (size_t i = 0; i < a->tables.n; i++)
        if (!answer_find(answers, a->tables.items[i]))
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                           "--tables: there is no table '%s' (devlog causes --help)", a->tables.items[i]);
    return DEVLOG_OK;
}

static void say_warm_up(const causes_job *j)
{
    dl_str said = {0};
    dl_warm_up_describe(&j->selected.warm_up, "devlog causes: ", &said);
    if (said.text && !said.failed) fputs(said.text, stderr);
    dl_str_free(&said);
}

static devlog_status show(causes_job *j, const causes_args *a, devlog_error *err)
{
    devlog_status status = cli_filters_check(&a->filters, &j->filter, j->reading.d, err);
    if (!status) status = causes_job_answer(j, cli_answer_top(a->format, a->top), err);
    if (!status) status = check_tables(a, &j->a, err);
    if (status) return status;
    return cli_answer_print(
        &j->a,
        &(cli_answer_out){
            .kind = "causes", .version = CAUSES_FORMAT_VERSION, .format = a->format, .tables = &a->tables},
        err);
}

static int run(int argc, char **argv)
{
    causes_args a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_causes, argc, argv, &a, &rest, &exit_status)) return exit_status;
    dl_filter filter = {0};
    devlog_error err = {0};
    causes_job j = {0};
    dl_str losses = {0};
    exit_status = CLI_USAGE;
    char *newest[1];
    if ((a.latest || !rest.n) && cli_logs_latest("causes", &rest, newest, true, &err)) {
        fprintf(stderr, "devlog causes: %s\n", err.text);
        exit_status = CLI_FAILED;
    } else if (cli_filter_of(&cmd_causes, &a.filters, &rest, &filter)) {
        const op_selection selection = cli_selection_of(&a.filters, &filter);
        devlog_status status = cli_folder_option("elf", a.elf_folder, &err);
        if (!status) status = causes_job_read(&j, rest.items[0], &selection, a.elf_folder, &err);
        if (!status) say_warm_up(&j);
        if (!status) status = show(&j, &a, &err);
        const bool lost = !status && dl_losses_any(dl_decode_losses(j.reading.d));
        if (lost) dl_report_losses(dl_decode_losses(j.reading.d), false, &losses);
        if (losses.text && !losses.failed) fputs(losses.text, stderr);
        if (status) fprintf(stderr, "devlog causes: %s\n", err.text);
        exit_status = status ? CLI_FAILED : lost ? CLI_PARTIAL : CLI_OK;
    }
    causes_job_free(&j);
    dl_str_free(&losses);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_causes = {
    .name = "causes",
    .temporary = true,
    .summary = "Why RISCs waited: who ended each wait, the path of each launch, what would save time",
    .arguments = "[INPUT]",
    .min_arguments = 0,
    .max_arguments = 1,
    .description =
        "An input is a capture, a device log (plain, compressed or packed), or the folder of a run, or a tar or zip of it. For every wait "
        "in a kernel it tells which RISC ended it and for how long that was late, and follows the chain back from "
        "the end of each launch to its start: the path of work that decided how long the launch took. Of what is on "
        "the path it says how much the launch would be shorter without it, up to where another path is the longest; "
        "of what is not, how much longer it may take.\n\n"
        "What RISCs wait for is recorded with DEVLOG_WAITS=1 (devlog run --waits). Where records do not say it, the "
        "cause is unknown, and never guessed. docs/causes.md says what the terms mean.",
    .options = options,
    .examples = "  DEVLOG_WAITS=1 TT_METAL_DEVICE_PROFILER=1 build/release/bin/demo 2\n"
                "  devlog causes generated/profiler/logs\n"
                "  devlog causes --launches 3 --tables path capture.devlog\n"
                "  devlog causes --format json capture.devlog\n",
    .see_also = "devlog-decode(1), devlog-report(1), devlog-run(1)",
    .run = run,
};
