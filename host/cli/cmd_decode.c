/* devlog decode: device logs into durations, statistics and artifacts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/date.h"
#include "cli/decode_print.h"
#include "cli/filters.h"
#include "cli/follow_end.h"
#include "cli/logs.h"
#include "cli/page_answers.h"
#include "cli/reading.h"
#include "decode/decode.h"
#include "decode/parts/parts.h"
#include "report/artifacts.h"

typedef struct decode_args {
    const char *folder, *suffix, *analyses, *elf_folder;
    bool files, tar, date, print, defaults, print_analyses, subtract_cost;
    bool wanted[DL_ARTIFACT_KINDS];
    int format; /* DECODE_TEXT, ... */
    int sort;   /* dl_table_sort */
    uint64_t max_launches, top, idle, jobs, least;
    bool follow, latest;
    cli_filters filters;
} decode_args;

static const cli_option options[] = {
    CLI_TITLE("Files"),
    {CLI_STRING, "output", 'o', "FOLDER", "where files go; generated/profiler/output/device unless told",
     offsetof(decode_args, folder)},
    {CLI_FLAG, "date", 0, NULL, "put date and time in front of the files' names",
     offsetof(decode_args, date)},
    {CLI_STRING, "name", 'n', "SUFFIX", "add _SUFFIX to the files' names", offsetof(decode_args, suffix)},
    {CLI_OFF, "no-files", 0, NULL, "write no files at all", offsetof(decode_args, files)},
    {CLI_OFF, "no-stats", 0, NULL, "do not write device_stats.txt",
     offsetof(decode_args, wanted[DL_ARTIFACT_STATS])},
    {CLI_OFF, "no-rearranged", 0, NULL, "do not write device_rearranged_timestamps.csv",
     offsetof(decode_args, wanted[DL_ARTIFACT_REARRANGED])},
    {CLI_OFF, "no-page", 0, NULL, "do not write device_perf.html",
     offsetof(decode_args, wanted[DL_ARTIFACT_PAGE])},
    {CLI_OFF, "no-tar", 0, NULL, "do not write device_perf_results.tar, which holds the others",
     offsetof(decode_args, tar)},
    CLI_TITLE("Analyses"),
    {CLI_STRING, "analyses", 'a', "FILE",
     "compute the analyses of this JSON file besides the default ones, and print all of them",
     offsetof(decode_args, analyses)},
    {CLI_OFF, "no-default-analyses", 0, NULL, "compute only those of --analyses",
     offsetof(decode_args, defaults)},
    {CLI_FLAG, "print-analyses", 0, NULL, "print the analyses as a JSON file for --analyses, and end",
     offsetof(decode_args, print_analyses)},
    CLI_TITLE("Captures"),
    {CLI_FLAG, "subtract-cost", 0, NULL,
     "leave out of every zone what the markers inside it cost (docs/markers.md says how that is known)",
     offsetof(decode_args, subtract_cost)},
    {CLI_STRING, "elf", 0, "FOLDER", "where to look for ELF files of kernels that have been moved",
     offsetof(decode_args, elf_folder)},
    CLI_TITLE("Printing"),
    {CLI_CHOICE, "format", 'f', DECODE_FORMATS,
     "what to print: tables for people, or everything for programs; md: the tables, for the comment of a pull request; with "
     "json, csv and md no files are written unless --output says where",
     offsetof(decode_args, format)},
    {CLI_OFF, "no-print", 0, NULL, "print no tables, only what was lost and which files were written",
     offsetof(decode_args, print)},
    {CLI_NUMBER, "max-launches", 0, "N", "launches in the table per launch; 20 unless told, 0: no such table",
     offsetof(decode_args, max_launches), 0, UINT32_MAX},
    {CLI_CHOICE, "sort", 0, DECODE_SORTS, "what the rows of tables are sorted by; total unless told",
     offsetof(decode_args, sort)},
    {CLI_NUMBER, "top", 0, "N", "rows in a table; 50 unless told, 0: all of them", offsetof(decode_args, top),
     0, UINT32_MAX},
    CLI_TITLE("Threads"),
    {CLI_NUMBER, "jobs", 'j', "N",
     "cut device logs and captures into N parts and decode them at the same time; without the page and filters "
     "(docs/parts.md); the same bytes come out",
     offsetof(decode_args, jobs), 1, 1024},
    {CLI_SIZE, "least", 0, "BYTES", "with --jobs: a part has so many bytes at least; 4M unless told",
     offsetof(decode_args, least)},
    CLI_TITLE("Logs that grow"),
    {CLI_FLAG, "follow", 'F', NULL,
     "wait for more at the log's end, until a signal (Ctrl-C), and report then; files are written where --output says",
     offsetof(decode_args, follow)},
    {CLI_NUMBER, "idle", 0, "SECONDS", "with --follow: end when nothing has come for so long",
     offsetof(decode_args, idle), 1, 1000000},
    CLI_LATEST(decode_args, latest),
    CLI_FILTERS(decode_args, filters),
    {0},
};

typedef struct watching {
    dl_progress progress;
    const dl_artifacts *set; /* NULL: it is not known how much there will be */
    uint64_t next;           /* bytes of the log at which room is asked for again */
} watching;

/* A disk that is too small for the files is told while the log is read, not hours later. Once: tables need no disk. */
static void ask_for_room(watching *w, uint64_t taken, uint64_t size)
{
    enum { FIRST = 4 * 1024 * 1024 };
    devlog_error err;
    if (!w->set || !size || taken < w->next || (taken < FIRST && taken < size / 16)) return;
    w->next = taken * 2;
    if (!dl_artifacts_room(w->set, (double)taken / (double)size, &err)) return;
    w->set = NULL;
    dl_progress_end(&w->progress);
    fprintf(stderr, "devlog decode: after %d %% of the log: %s\n", (int)(taken * 100 / size), err.text);
}

static void on_progress(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows)
{
    ask_for_room(ctx, taken, size);
    cli_show_reading(&((watching *)ctx)->progress, input, taken, size, rows);
}

/* In parts, which say why there is one only, or why some were decoded again. */
static devlog_status read_parts(dl_decode *d, const dl_decode_options *how, const decode_args *a,
                                const cli_args *rest, bool *done, devlog_error *err)
{
    dl_parts parts;
    uint32_t again;
    const char *why;
    devlog_status status =
        dl_parts_plan(&parts, rest->items, (size_t)rest->n, (uint32_t)a->jobs, a->least, err);
    *done = !status && parts.n > 1;
    if (!status && parts.why[0]) fprintf(stderr, "devlog decode: %s: it is decoded as a whole\n", parts.why);
    if (*done) status = dl_parts_run(&parts, d, how, &again, &why, err);
    if (*done && !status && again)
        fprintf(stderr, "devlog decode: %u of %u parts were decoded again, one behind the other: %s\n", again,
                parts.n, why);
    if (*done && !status) status = dl_decode_finish(d, err);
    dl_parts_free(&parts);
    return status;
}

static devlog_status read_inputs(dl_decode *d, const cli_args *rest, devlog_error *err)
{
    devlog_status status = dl_decode_prepare(d, rest->items, (size_t)rest->n, err);
    for (int i = 0; i < rest->n && !status; i++)
        status = dl_decode_file(d, rest->items[i], err);
    return status ? status : dl_decode_finish(d, err);
}

static devlog_status print(dl_decode *d, const decode_args *a, const dl_artifacts *set, devlog_error *err)
{
    const char *files[DL_ARTIFACT_KINDS + 2] = {NULL};
    for (size_t i = 0; i <= DL_ARTIFACT_KINDS; i++)
        files[i] = dl_artifacts_path(set, i);
    const decode_shown shown = {.format = a->format,
                                .sort = a->sort,
                                .tables = a->print,
                                .analyses = a->analyses != NULL,
                                .max_launches = a->max_launches,
                                .top = a->top,
                                .analyzer = dl_artifacts_analyzer(set),
                                .files = files};
    return decode_print(d, &shown, err);
}

/* What the page calls the log: names without folders, so that the same log gives the same page anywhere. */
static void title_of(const cli_args *rest, char out[200])
{
    const char *slash = strrchr(rest->items[0], '/'), *name = slash ? slash + 1 : rest->items[0];
    if (rest->n == 1)
        snprintf(out, 200, "%s", name);
    else
        snprintf(out, 200, "%.150s and %d more", name, rest->n - 1);
}

/* The analyses that were asked for. */
static devlog_status list_analyses(const decode_args *a, dl_analysis_list *list, devlog_error *err)
{
    devlog_status status = a->defaults ? dl_analyses_defaults(list, err) : DEVLOG_OK;
    return !status && a->analyses ? dl_analyses_read(list, a->analyses, err) : status;
}

static int print_analyses(void)
{
    dl_str out = {0};
    dl_analyses_default_text(&out);
    devlog_error err = {0};
    devlog_status status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog decode: %s\n", err.text);
    dl_str_free(&out);
    return status ? CLI_FAILED : CLI_OK;
}

/* What an earlier decode has left beside the files of this one, which is not of the same log. */
static void tell_older(const decode_args *a, const char *prefix)
{
    static const char *const names[DL_ARTIFACT_KINDS + 1][2] = {
        [DL_ARTIFACT_STATS] = {"device_stats", ".txt"},
        [DL_ARTIFACT_REARRANGED] = {"device_rearranged_timestamps", ".csv"},
        [DL_ARTIFACT_PAGE] = {"device_perf", ".html"},
        [DL_ARTIFACT_KINDS] = {"device_perf_results", ".tar"}};
    for (size_t i = 0; i <= DL_ARTIFACT_KINDS; i++) {
        dl_str path = {0};
        if (i < DL_ARTIFACT_KINDS ? a->wanted[i] : a->tar) continue;
        dl_str_fmt(&path, "%s/%s%s%s%s%s", a->folder, prefix, names[i][0], a->suffix ? "_" : "",
                   a->suffix ? a->suffix : "", names[i][1]);
        if (!path.failed && access(path.text, F_OK) == 0)
            fprintf(stderr, "devlog decode: %s is of an earlier decode: this one wrote none\n", path.text);
        dl_str_free(&path);
    }
}

static bool writes_files(const decode_args *a)
{
    bool any = false;
    for (size_t i = 0; i < DL_ARTIFACT_KINDS; i++)
        any |= a->wanted[i];
    return any;
}

/* From the first input to the last line of the report. */
static devlog_status decode(const decode_args *a, const cli_args *rest, const dl_decode_options *how,
                            dl_decode *d, dl_artifacts *set, watching *watch, devlog_error *err)
{
    const dl_filter *filter = &how->filter;
    dl_progress *progress = &watch->progress;
    bool done = false;
    devlog_status status = DEVLOG_OK;
    dl_progress_start(progress);
    if (a->jobs > 1) {
        dl_parts_collected(d, dl_artifacts_analyzer(set), dl_artifacts_stamps(set));
        status = read_parts(d, how, a, rest, &done, err);
    }
    if (!status && !done) status = read_inputs(d, rest, err);
    dl_progress_end(progress);
    if (!status) status = dl_losses_no_rows(dl_decode_losses(d), rest->items[0], (size_t)rest->n, err);
    if (!status) status = cli_filters_check(&a->filters, filter, d, err);
    if (!status) status = dl_artifacts_finish(set, err);
    if (status) return status;
    devlog_status written = dl_artifacts_write(set, err);
    if (dl_artifacts_note(set)) fprintf(stderr, "devlog decode: %s\n", dl_artifacts_note(set));
    /* Printed whatever happens to files; of two failures the first is told. */
    devlog_error unheard;
    devlog_error *heard = written ? &unheard : err;
    status = print(d, a, set, heard);
    return written ? written : status;
}

/* Where what a long log needs for medians and analyses may be instead of in memory: where its files will be, in that of the
 * folders that is there already; else where temporary files are. NULL: in memory. */
static char *scratch_folder(const decode_args *a)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    if (!writes_files(a) || a->follow) return strdup(tmp ? tmp : "/tmp");
    const size_t there = dl_folder_there(a->folder);
    return there ? strndup(a->folder, there) : strdup(".");
}

static int run_with(const decode_args *a, const cli_args *rest, dl_filter *filter)
{
    devlog_error err = {0};
    dl_decode *d = NULL;
    dl_artifacts *set = NULL;
    dl_analyzer *analyzer = NULL;
    dl_analysis_list list = {0};
    watching watch = {0};
    op_selected selected;
    char prefix[32] = "", title[200];
    int exit_status = CLI_FAILED;
    title_of(rest, title);
    cli_page_asked page = cli_page_ask(rest->items, (size_t)rest->n, title, &a->filters, filter);
    page.once = a->follow;
    page.all = page.all && !a->subtract_cost && !a->elf_folder;
    devlog_status status =
        cli_select(&cmd_decode, &a->filters, filter, rest->items, (size_t)rest->n, &selected, &err);
    char *scratch = scratch_folder(a);
    const dl_follow following = {.stop = cli_follow_ended, .idle_ms = a->idle * 1000};
    if (a->follow) cli_follow_catch();
    const dl_decode_options how = {.filter = *filter,
                                   .only_input = rest->n == 1,
                                   .follow = a->follow ? &following : NULL,
                                   .scratch = scratch,
                                   .subtract_cost = a->subtract_cost,
                                   .elf_folder = a->elf_folder,
                                   .progress = on_progress,
                                   .progress_ctx = &watch};
    bool analyse = a->wanted[DL_ARTIFACT_STATS] || a->analyses || a->format != DECODE_TEXT;
    if (!status) status = cli_date_prefix(a->date, prefix, &err);
    if (!status) status = cli_folder_option("elf", a->elf_folder, &err);
    if (!status && analyse) status = list_analyses(a, &list, &err);
    if (!status) status = dl_decode_new(&d, &how, &err);
    if (!status && analyse) status = dl_analyzer_new(&analyzer, d, &list, &err);
    const dl_artifacts_options artifacts = {.folder = a->folder,
                                            .prefix = prefix,
                                            .title = title,
                                            .suffix = a->suffix,
                                            .wanted = a->wanted,
                                            .answers = cli_page_answers,
                                            .answers_runs = cli_page_runs,
                                            .answers_ctx = &page,
                                            .tar = a->tar,
                                            .analyzer = analyzer};
    if (!status) status = dl_artifacts_new(&set, d, &artifacts, &err);
    if (how.only_input && !a->follow) watch.set = set;
    if (!status) status = decode(a, rest, &how, d, set, &watch, &err);
    if (!status && writes_files(a)) tell_older(a, prefix);
    if (status)
        fprintf(stderr, "devlog decode: %s\n", err.text);
    else
        exit_status = dl_losses_or_violations(dl_decode_losses(d)) ? CLI_PARTIAL : CLI_OK;
    dl_artifacts_free(set);
    cli_page_asked_free(&page);
    dl_analyzer_free(analyzer);
    dl_analyses_free(&list);
    dl_decode_free(d);
    op_selected_free(&selected);
    free(scratch);
    return exit_status;
}

static int run(int argc, char **argv)
{
    decode_args a = {.files = true,
                     .tar = true,
                     .print = true,
                     .defaults = true,
                     .max_launches = 20,
                     .top = 50,
                     .least = DL_PARTS_LEAST};
    cli_args rest;
    dl_filter filter;
    devlog_error err = {0};
    int exit_status;
    memset(a.wanted, true, sizeof a.wanted);
    if (!cli_parse(&cmd_decode, argc, argv, &a, &rest, &exit_status)) return exit_status;
    const bool no_files = !a.files || ((a.format != DECODE_TEXT || a.follow) && !a.folder);
    const bool file_options = a.folder || a.suffix || a.date;
    if (no_files) memset(a.wanted, false, sizeof a.wanted);
    if (!a.folder) a.folder = "generated/profiler/output/device";
    exit_status = CLI_FAILED;
    if (a.print_analyses)
        exit_status = print_analyses();
    else if (no_files && file_options)
        exit_status = cli_wrong(&cmd_decode,
                                a.files ? "--name and --date are for files, which --format json, csv "
                                          "and md and --follow write only with --output"
                                        : "--output, --name and --date are for files: not with --no-files");
    else if (a.suffix && strchr(a.suffix, '/'))
        exit_status = cli_wrong(&cmd_decode, "--name is part of a file's name and has no '/'");
    else if (a.idle && !a.follow)
        exit_status = cli_wrong(&cmd_decode, "--idle is for --follow");
    else if (a.least != DL_PARTS_LEAST && !a.jobs)
        exit_status = cli_wrong(&cmd_decode, "--least is for --jobs");
    else if (a.follow && (rest.n != 1 || strcmp(rest.items[0], "-") == 0))
        exit_status = cli_wrong(&cmd_decode, "--follow wants one device log, by name");
    else if (a.follow && (a.filters.skip_warm_up || a.filters.skip_launches || a.filters.ops.n ||
                          a.filters.from_signpost || a.filters.to_signpost))
        exit_status = cli_wrong(
            &cmd_decode, "--follow knows neither the first launches nor the host's files of a run that "
                         "still writes them: decode the log again when it has ended");
    else if (a.jobs > 1 &&
             (a.wanted[DL_ARTIFACT_PAGE] || a.follow || a.subtract_cost || cli_filters_any(&a.filters)))
        exit_status = cli_wrong(&cmd_decode,
                                "--jobs makes no page: with --no-page or --no-files, and without --follow, "
                                "--subtract-cost and filters");
    else if (!cli_filter_of(&cmd_decode, &a.filters, &rest, &filter))
        exit_status = CLI_USAGE;
    else if (cli_logs_of_folders(&(cli_logs_wanted){"decode", a.latest, a.follow}, &rest, &err))
        fprintf(stderr, "devlog decode: %s\n", err.text);
    else
        exit_status = run_with(&a, &rest, &filter);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_decode = {
    .name = "decode",
    .summary = "Decode device logs and captures: durations, statistics, artifacts",
    .arguments = "[LOG-OR-FOLDER...]",
    .max_arguments = CLI_ANY,
    .description =
        "Reads captures (capture.devlog) and profile_log_device.csv in every form that there has been, plain "
        "or compressed (.gz, .zst, .xz), pairs its markers into zones, prints their durations and writes the "
        "files below. Several logs are one, in the order given; \"-\" is standard input. A folder stands for "
        "its only log, "
        "a capture and the device log beside it being one, with zones of host code beside it (host_*.devlog). Without a LOG it takes the newest of those in "
        "DEVLOG_LOG_FOLDER, generated/profiler, TT_METAL_PROFILER_DIR and TT_METAL_HOME/generated/profiler. "
        "With --follow it waits at the log's end for what a running program appends, in bounded memory (what medians "
        "need goes to a file without a name in TMPDIR), and reports when a signal comes, when nothing has come for --idle "
        "seconds, or when the log is removed; a log that is truncated, written anew or replaced ends it as well, with "
        "status 3. "
        "A damaged log is "
        "decoded as far as it goes, and the report ends with what was lost.",
    .options = options,
    .examples = "  devlog decode generated/profiler/logs/profile_log_device.csv\n"
                "  zstdcat old.csv.zst | devlog decode --no-files -\n"
                "  devlog decode log.csv -o out -n before --riscs BRISC,NCRISC --skip-launches 1\n",
    .files =
        "device_stats.txt: every analysis and every zone with its exact statistics, per core as a grid.\n\n"
        "device_rearranged_timestamps.csv: for every core the stamps of firmware and kernel start and end of "
        "each "
        "RISC, one row per core; stamps of repeated launches share a cell.\n\n"
        "device_perf.html: one page that needs no network: timeline, statistics, histogram, and launches by "
        "core.\n\n"
        "device_perf_results.tar: all of the files above, the same bytes for the same log.",
    .see_also = "devlog-man(1)",
    .run = run,
};
