/* devlog ops of a folder of tt-metal's. */
#include "cli/tt_ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/op_names.h"
#include "cli/op_report.h"
#include "cli/tidier.h"
#include "cli/tt_tracy.h"
#include "tt_metal/archive.h"
#include "tt_metal/job.h"
#include "tt_metal/made.h"

static void on_progress(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows)
{
    dl_progress *progress = ctx;
    if (!dl_progress_due(progress)) return;
    char text[160], digits[DL_GROUPED_SIZE];
    snprintf(text, sizeof text, "%.80s: %d %%, %s rows", input, size ? (int)(taken * 100 / size) : 0,
             dl_u64_grouped(digits, rows));
    dl_progress_show(progress, text);
}

static tt_report_options options_of(const op_job_options *o)
{
    return (tt_report_options){.json = o->report.json,
                               .reference = o->report.columns == OP_COLUMNS_REFERENCE};
}

static devlog_status flush(void *ctx, devlog_error *err)
{
    (void)err;
    dl_file_flush(ctx);
    return DEVLOG_OK;
}

static devlog_status write_made(const char *from, const op_job_options *o, const char *to,
                                tt_made_counts *counts, devlog_error *err)
{
    struct stat a, b;
    dl_file_writer w;
    const tt_report_options options = options_of(o);
    if (o->selection)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "%s is a report, of which no part can be chosen; devlog ops takes the files that it was made of",
            from);
    if (stat(from, &a) == 0 && stat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%s is the report that it would be made of; -o says where else", from);
    devlog_status status = dl_file_create(&w, to, err);
    if (status) return status;
    status = tt_made_write(from, &options, &w.buffer, flush, &w, counts, err);
    if (!status) return dl_file_commit(&w, err);
    dl_file_abandon(&w);
    return status;
}

/* A report that was made before is all there is. */
static int report_made(const tt_files *files, const op_job_options *o, const char *output)
{
    devlog_error err = {0};
    tt_made_counts counts;
    char name[4096], digits[DL_GROUPED_SIZE];
    size_t there = dl_folder_there(output);
    snprintf(name, sizeof name, "%s%s", o->name, o->report.json ? ".json" : ".csv");
    char *to = dl_path_join(output, name);
    devlog_status status =
        to ? dl_folder_make(output, &err) : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = write_made(files->ops_report, o, to, &counts, &err);
    if (status) {
        dl_folder_unmake(output, there);
        cli_op_failed("ops", o, &err);
        free(to);
        return CLI_FAILED;
    }
    dl_str out = {0};
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): what was written has been counted */
    dl_str_fmt(&out, "%s rows of ", dl_u64_grouped(digits, counts.rows));
    dl_str_shown(&out, files->ops_report, strlen(files->ops_report));
    dl_str_add(&out, ", the report that is there; no file that one could be made of.\n");
    if (files->n_ops_reports > 1)
        dl_str_fmt(&out, "It is the last by name of %s reports in that folder; the others were not read.\n",
                   dl_u64_grouped(digits, files->n_ops_reports));
    if (counts.short_rows)
        dl_str_fmt(&out, "  %12s  rows with fewer cells than the header: the file is cut, or damaged\n",
                   dl_u64_grouped(digits, counts.short_rows));
    dl_str_add(&out, "\nFiles:\n  ");
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without a name status is not OK */
    dl_str_shown(&out, to, strlen(to));
    dl_str_char(&out, '\n');
    status = cli_op_markdown(o, to, &out, &err);
    cli_op_call(o, &out);
    if (!status) status = dl_print(&out, &err);
    if (status) cli_op_failed("ops", o, &err);
    if (!status) cli_op_tell_older("ops", o, output, false);
    dl_str_free(&out);
    free(to);
    return status ? CLI_FAILED : counts.short_rows ? CLI_PARTIAL : CLI_OK;
}

/* As the visualizer looks for them; a link that is there is made anew. */
static devlog_status link_log(const char *log, const char *output, const char *name, devlog_error *err)
{
    if (!log) return DEVLOG_OK;
    char *at = dl_path_join(output, name), *whole = realpath(log, NULL);
    struct stat st, there;
    devlog_status status = at && whole ? DEVLOG_OK : dl_fail_errno(err, errno, "cannot link %s", log);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without both status is not OK */
    bool known = !status && lstat(at, &st) == 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the same */
    bool same = known && stat(at, &there) == 0 && stat(whole, &st) == 0 && st.st_dev == there.st_dev &&
                st.st_ino == there.st_ino;
    if (known && !same && lstat(at, &st) == 0 && S_ISLNK(st.st_mode)) unlink(at);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the same */
    if (!status && !same && symlink(whole, at) != 0)
        status = dl_fail_errno(err, errno, "cannot link %s to %s", at, whole);
    free(at);
    free(whole);
    return status;
}

static devlog_status link_logs(const tt_files *files, const char *output, devlog_error *err)
{
    devlog_status status = link_log(files->log, output, "profile_log_device.csv", err);
    return status ? status : link_log(files->tracy, output, "tracy_profile_log_host.tracy", err);
}

/* What an earlier report has left that this one has not written, which goes beside it under a name like its own. */
static void tell_older_beside(const op_job_options *o, const char *output, const char *instead,
                              const char *written)
{
    static const char report[] = "ops_perf_results";
    const char *at = strstr(o->name, report);
    dl_str path = {0};
    if (written || !at) return;
    dl_str_fmt(&path, "%s/%.*s%s%s.csv", output, (int)(at - o->name), o->name, instead,
               at + sizeof report - 1);
    if (!path.failed && access(path.text, F_OK) == 0) {
        dl_shown_line_in_place(path.text);
        fprintf(stderr, "devlog ops: %s is of an earlier report: this one wrote none\n", path.text);
    }
    dl_str_free(&path);
}

static void say_of_before(const op_job_options *o, const tt_files *files)
{
    tt_files asked = *files;
    dl_str text = {0};
    if (o->device_log) asked.log = (char *)o->device_log;
    if (!tt_files_say_before(&asked, &text)) return;
    cli_op_call(o, &text);
    if (!text.failed) dl_shown_line_in_place(text.text);
    if (!text.failed) fprintf(stderr, "devlog ops: %s\n", text.text);
    dl_str_free(&text);
}

/* One folder, one report. */
static int report(const tt_files *files, const op_job_options *o, const char *output)
{
    devlog_error err = {0};
    dl_progress progress;
    tt_job job;
    dl_str out = {0};
    const tt_job_options options = {
        .files = files,
        .no_device = o->no_device,
        .device_log = o->device_log,
        .output = output,
        .name = o->name,
        .report = options_of(o),
        .selection = o->selection,
        .progress = on_progress,
        .progress_ctx = &progress,
    };
    dl_progress_start(&progress);
    devlog_status status = tt_job_run(&job, &options, &err);
    dl_progress_end(&progress);
    int exit_status = CLI_FAILED;
    if (!status && o->link_logs) status = link_logs(files, output, &err);
    if (!status) {
        tt_job_describe(&job, dl_term_colour(stdout), &out);
        dl_str_add(&out, "\nFiles:\n  ");
        dl_str_shown(&out, job.report_path, strlen(job.report_path));
        dl_str_char(&out, '\n');
        const char *const beside[] = {job.gaps_path, job.zones_path};
        for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            if (!beside[i]) continue;
            dl_str_add(&out, "  ");
            dl_str_shown(&out, beside[i], strlen(beside[i]));
            dl_str_char(&out, '\n');
        }
        status = cli_op_markdown(o, job.report_path, &out, &err);
        cli_op_call(o, &out);
        if (!status) status = dl_print(&out, &err);
    }
    if (status)
        cli_op_failed("ops", o, &err);
    else
        exit_status = tt_job_lost(&job) ? CLI_PARTIAL : CLI_OK;
    if (!status && !o->no_device) say_of_before(o, files);
    if (!status) {
        cli_op_tell_older("ops", o, output, false);
        tell_older_beside(o, output, "per_core_op_to_op_times", job.gaps_path);
        tell_older_beside(o, output, "noc_zones", job.zones_path);
    }
    dl_str_free(&out);
    tt_job_free(&job);
    return exit_status;
}

static int no_memory(void)
{
    fprintf(stderr, "devlog ops: out of memory\n");
    return CLI_FAILED;
}

static void say_none(const op_job_options *o, const char *folder)
{
    dl_str text = {0};
    dl_str_fmt(&text, "  no files of tt-metal's profiler in %s\n", folder);
    cli_op_call(o, &text);
    if (!text.failed) fputs(text.text, stdout);
    dl_str_free(&text);
}

/* Each rank's report in a folder of its name. */
static int report_ranks(const tt_ranks *ranks, const op_job_options *o)
{
    int worst = CLI_OK;
    for (size_t i = 0; i < ranks->n; i++) {
        tt_files files;
        char name[32];
        snprintf(name, sizeof name, "rank%u", ranks->numbers[i]);
        char *output = dl_path_join(o->output, name);
        if (!output || !tt_files_find(&files, ranks->folders[i])) {
            free(output);
            return no_memory();
        }
        printf("%srank %u:\n", i ? "\n" : "", ranks->numbers[i]);
        int status = CLI_PARTIAL;
        if (tt_files_are_a_report(&files))
            status = report_made(&files, o, output);
        else if (tt_files_are_metals(&files))
            status = report(&files, o, output);
        else
            say_none(o, ranks->folders[i]);
        if (status == CLI_FAILED || worst == CLI_OK) worst = status;
        tt_files_free(&files);
        free(output);
        fflush(stdout);
    }
    return worst;
}

/* A capture of Tracy's without its exported files. */
static int report_tracy(tt_files *files, const op_job_options *o)
{
    devlog_error err = {0};
    tt_files exported;
    size_t there = dl_folder_there(o->output);
    devlog_status status = cli_tracy_export(files->tracy, o->output, &err);
    if (status) {
        dl_folder_unmake(o->output, there);
        if (status != DEVLOG_ERR_NOT_FOUND) {
            fprintf(stderr, "devlog ops: %s\n", err.text);
            return CLI_FAILED;
        }
        fprintf(
            stderr,
            "devlog ops: %s must be exported first: csvexport-release -m -s \";\" %s > %s/tracy_ops_data.csv; "
            "csvexport-release -u -t TT_ %s > %s/tracy_ops_times.csv\n",
            files->tracy, files->tracy, files->folder, files->tracy, files->folder);
        return CLI_FAILED;
    }
    if (!tt_files_find(&exported, o->output)) return no_memory();
    /* What the device did lies beside the capture, and all that is looked for there. */
    tt_files all = *files;
    all.data = exported.data;
    all.times = exported.times;
    int exit_status = report(&all, o, o->output);
    tt_files_free(&exported);
    return exit_status;
}

static bool any_metals(const tt_ranks *ranks)
{
    bool any = false;
    for (size_t i = 0; i < ranks->n && !any; i++) {
        tt_files files;
        if (!tt_files_find(&files, ranks->folders[i])) return false;
        any = tt_files_are_metals(&files) || tt_files_are_a_report(&files);
        tt_files_free(&files);
    }
    return any;
}

/* The folder that `devlog run` made has a report and the logs below it. */
static bool has_logs_of_a_run(const char *folder)
{
    char *one = dl_path_join(folder, "logs"), *two = dl_path_join(folder, "logs_device");
    bool any = (one && access(one, R_OK) == 0) || (two && access(two, R_OK) == 0);
    free(one);
    free(two);
    return any;
}

typedef struct unpacked_archive {
    char *folder; /* below the output */
    const char *output;
    size_t there; /* so much of the output's path was there before */
} unpacked_archive;

static void remove_unpacked(void *ctx)
{
    const unpacked_archive *u = ctx;
    tt_unpacked_remove(u->folder);
    dl_folder_unmake(u->output, u->there);
}

/* A tar or zip: unpacked beside the report, and removed when that is made. */
static int report_archive(const op_job_options *o, tt_made_ranks *made)
{
    devlog_error err = {0};
    char name[40];
    snprintf(name, sizeof name, ".unpacked-%ld", (long)getpid());
    char *folder = dl_path_join(o->output, name);
    unpacked_archive u = {folder, o->output, dl_folder_there(o->output)};
    cli_tidier tidier;
    int exit_status = CLI_FAILED;
    if (!folder) return no_memory();
    cli_tidier_begin(&tidier, remove_unpacked, &u);
    devlog_status status = o->link_logs ? dl_fail(&err, DEVLOG_ERR_UNSUPPORTED,
                                                  "--link-logs: %s must be unpacked first", o->logs)
                                        : tt_unpack(o->logs, folder, TT_UNPACK_ALL, &err);
    if (status) {
        fprintf(stderr, "devlog ops: %s\n", err.text);
    } else {
        op_job_options inside = *o;
        inside.logs = folder;
        inside.archive = o->logs;
        if (!cli_tt_ops(&inside, made, &exit_status))
            exit_status = cli_op_report("ops", &inside, STDOUT_FILENO);
    }
    cli_tidier_end(&tidier);
    free(folder);
    return exit_status;
}

/* Whether a report is the one that this command made last time, or will make. */
static bool is_in(const char *report, const char *output)
{
    const char *slash = strrchr(report, '/');
    struct stat a, b;
    char *folder = slash ? strndup(report, (size_t)(slash - report) + 1) : strdup("./");
    bool same = folder && stat(folder, &a) == 0 && stat(output, &b) == 0 && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino;
    free(folder);
    return same;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool cli_tt_ops(const op_job_options *o, tt_made_ranks *made_ranks, int *exit_status)
{
    if (tt_is_archive(o->logs)) {
        *exit_status = report_archive(o, made_ranks);
        return true;
    }
    tt_files files;
    tt_ranks ranks;
    if (tt_is_tracy(o->logs) && is_file(o->logs)) {
        if (tt_files_find_beside(&files, o->logs)) {
            *exit_status = report_tracy(&files, o);
            tt_files_free(&files);
        } else {
            *exit_status = no_memory();
        }
        return true;
    }
    bool above;
    char *own = op_log_of(o->logs, &above);
    const bool ours = own != NULL;
    free(own);
    if (ours) return false;
    if (!tt_files_find(&files, o->logs) || !tt_ranks_find(&ranks, o->logs)) {
        tt_files_free(&files);
        *exit_status = no_memory();
        return true;
    }
    bool taken = true;
    bool made = tt_files_are_a_report(&files) && !has_logs_of_a_run(files.folder) &&
                !(files.log && is_in(files.ops_report, o->output));
    if (made)
        *exit_status = report_made(&files, o, o->output);
    else if (files.tracy && !files.data && !files.times)
        *exit_status = report_tracy(&files, o);
    else if (tt_files_are_metals(&files))
        *exit_status = report(&files, o, o->output);
    else if (any_metals(&ranks)) {
        *exit_status = report_ranks(&ranks, o);
        *made_ranks = (tt_made_ranks){ranks.numbers, ranks.n};
        ranks.numbers = NULL;
    } else
        taken = false;
    tt_ranks_free(&ranks);
    tt_files_free(&files);
    return taken;
}
