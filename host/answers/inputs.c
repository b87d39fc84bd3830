/* The runs in what a user names. See inputs.h. */
#include "answers/inputs_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "decode/input.h"
#include "ops/op_job.h"
#include "tt_metal/archive.h"
#include "tt_metal/job.h"

void run_inputs_free(run_inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        run_input *r = &in->items[i];
        if (r->temporary) dl_folder_remove(r->temporary);
        free(r->temporary);
        free(r->folder);
        free(r->name);
        free(r->report);
        free(r->log);
        dl_str_free(&r->doubt);
        for (size_t k = 0; k < r->n_hosts; k++)
            free(r->hosts[k]);
        free(r->hosts);
    }
    free(in->items);
    for (size_t i = 0; i < in->n_archives; i++) {
        tt_unpacked_remove(in->archives[i].folder);
        free(in->archives[i].folder);
        free(in->archives[i].path);
    }
    free(in->archives);
    *in = (run_inputs){0};
}

static run_input *add(run_inputs *in, const char *name, uint32_t side)
{
    if (in->n == in->cap) {
        size_t cap = in->cap ? in->cap * 2 : 16;
        run_input *grown = realloc(in->items, cap * sizeof *grown);
        if (!grown) return NULL;
        in->items = grown;
        in->cap = cap;
    }
    run_input *r = &in->items[in->n];
    *r = (run_input){.name = strdup(name), .side = side};
    if (!r->name) return NULL;
    in->n++;
    return r;
}

/* ---- Files --- */

typedef enum file_kind { FILE_OTHER, FILE_REPORT, FILE_LOG } file_kind;

static bool contains(const char *text, size_t n, const char *what)
{
    return memmem(text, n, what, strlen(what)) != NULL;
}

enum { FIRST_LINE = 64 * 1024 };

/* The first line, or so much of it; *n 0: there is none. */
static devlog_status first_line(dl_input *in, char *text, size_t *n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    size_t got = 1;
    *n = 0;
    while (*n < FIRST_LINE && got && !memchr(text, '\n', *n)) {
        status = dl_input_read(in, text + *n, FIRST_LINE - *n, &got, err);
        if (status) break;
        *n += got;
    }
    const char *end = memchr(text, '\n', *n);
    if (*n) status = DEVLOG_OK; /* what is wrong behind it, its reader says */
    if (end) *n = (size_t)(end - text) + 1;
    return status;
}

/* By its first line. What is neither is taken for a log when the user named it: its reader says what is wrong. */
static devlog_status kind_of(const char *path, file_kind *kind, devlog_error *err)
{
    static const char *const of_logs[] = {"ARCH:", "Chip clock is at", "PCIe slot", "DEVLOG"};
    dl_input *in = NULL;
    devlog_error damage;
    size_t n = 0;
    *kind = FILE_OTHER;
    char *text = malloc(FIRST_LINE);
    devlog_status status =
        text ? dl_input_open(&in, path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) {
        free(text);
        return status;
    }
    if (first_line(in, text, &n, &damage))
        *kind =
            FILE_LOG; /* an archive with damage at its beginning: its reader says what, and none in a folder is passed over */
    else if (n == 0)
        status = dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "%s: the file is empty; did the program end before it wrote its log, or was the disk full?",
            path);
    if (contains(text, n, "OP CODE") && contains(text, n, ",")) *kind = FILE_REPORT;
    for (size_t i = 0; i < sizeof of_logs / sizeof of_logs[0] && *kind == FILE_OTHER; i++)
        if (contains(text, n < 400 ? n : 400, of_logs[i])) *kind = FILE_LOG;
    dl_input_close(in);
    free(text);
    return status;
}

bool run_inputs_know(const char *path)
{
    file_kind kind;
    devlog_error unheard;
    return kind_of(path, &kind, &unheard) == DEVLOG_OK && kind != FILE_OTHER;
}

/* ---- Folders --- */

static char *joined(const char *folder, const char *below, const char *name)
{
    char *inner = *below ? dl_path_join(folder, below) : strdup(folder), *path = NULL;
    if (inner) path = dl_path_join(inner, name);
    free(inner);
    return path;
}

/* The first of these that is there; NULL: none. */
static char *first_of(const char *folder, const char *const *below, size_t n_below, const char *const *names,
                      size_t n_names)
{
    for (size_t i = 0; i < n_below; i++) {
        for (size_t k = 0; k < n_names; k++) {
            struct stat st;
            char *path = joined(folder, below[i], names[k]);
            if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) return path;
            free(path);
        }
    }
    return NULL;
}

static const char *const places[] = {RUN_PLACES};
enum { PLACES = sizeof places / sizeof places[0] };

char *run_log_in(const char *folder)
{
    static const char *const names[] = {RUN_CAPTURE,           RUN_DEVICE_LOG,       RUN_DEVICE_LOG ".pack",
                                        RUN_DEVICE_LOG ".zst", RUN_DEVICE_LOG ".gz", RUN_DEVICE_LOG ".xz"};
    return first_of(folder, places, PLACES, names, sizeof names / sizeof names[0]);
}

char *run_op_log_in(const char *folder)
{
    char *found = NULL;
    for (int i = 0; i < PLACES && !found; i++)
        found = run_op_log_of(folder, places[i]);
    return found;
}

/* NULL: *err says why. */
static char *temporary_folder(devlog_error *err)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    char *path = dl_path_join(tmp ? tmp : "/tmp", "devlog-diff-XXXXXX");
    if (path && mkdtemp(path)) return path;
    if (path)
        dl_fail_errno(err, errno, "cannot make the temporary folder %s", path);
    else
        dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    free(path);
    return NULL;
}

static devlog_status keep(char **to, const char *path, devlog_error *err)
{
    *to = strdup(path);
    return *to ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status run_input_call(const run_input *r, op_table *table, devlog_error *err)
{
    if (!r->temporary && !r->folder) return DEVLOG_OK;
    free(table->name);
    return keep(&table->name, r->name, err);
}

void run_input_doubts(const run_input *r, const char *before, dl_str *out)
{
    if (!r->doubt.len) return;
    dl_str_add(out, before);
    dl_str_shown(out, r->doubt.text, r->doubt.len);
    dl_str_char(out, '\n');
}

/* The report of a run of devlog's that has only its logs. */
static devlog_status make_report(run_input *r, const char *folder, devlog_error *err)
{
    op_job job;
    r->temporary = temporary_folder(err);
    if (!r->temporary) return err->status;
    const op_job_options o = {.logs = folder, .output = r->temporary, .name = "report", .no_tar = true};
    devlog_status status = op_job_run(&job, &o, err);
    if (!status && job.has_host) status = keep(&r->report, job.report_path, err);
    if (!status && job.has_host) r->lost = op_job_lost(&job);
    if (!status && job.stitch.launches && job.stitch.launches_of_other_runs == job.stitch.launches) {
        free(r->log); /* the run has none: this one was there before */
        r->log = NULL;
    }
    op_job_free(&job);
    return status;
}

/* The same of tt-metal's. */
static devlog_status make_tt_report(run_input *r, const tt_files *files, devlog_error *err)
{
    tt_job job;
    r->temporary = temporary_folder(err);
    if (!r->temporary) return err->status;
    const tt_job_options o = {.files = files, .output = r->temporary, .name = "report"};
    devlog_status status = tt_job_run(&job, &o, err);
    if (!status) status = keep(&r->report, job.report_path, err);
    if (!status) r->lost = tt_job_lost(&job);
    tt_job_free(&job);
    if (!status && tt_files_say_before(files, &r->doubt)) status = dl_str_status(&r->doubt, err);
    return status;
}

static devlog_status add_metals(run_inputs *in, const char *folder, const tt_files *files, uint32_t side,
                                devlog_error *err)
{
    run_input *r = add(in, folder, side);
    if (!r) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = files->log ? keep(&r->log, files->log, err) : DEVLOG_OK;
    if (status) return status;
    if (tt_files_are_a_report(files)) return keep(&r->report, files->ops_report, err);
    return make_tt_report(r, files, err);
}

/* Whether the folder is one run; then it is added. */
devlog_status run_inputs_add_run(run_inputs *in, const char *folder, uint32_t side, bool *is_one,
                                 devlog_error *err)
{
    static const char *const report[] = {"ops_perf_results.csv"}, *const here[] = {""};
    tt_files files;
    devlog_status status = DEVLOG_OK;
    *is_one = true;
    if (!tt_files_find(&files, folder)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    char *made = first_of(folder, here, 1, report, 1), *log = run_log_in(folder),
         *ops = run_op_log_in(folder);
    if (made && run_report_is_before(made, folder)) {
        free(made);
        made = NULL;
    }
    /* Of a device log alone the launches are as good as a report, which would have no names. */
    const bool of_host = files.data || files.times || files.report || files.ops_report;
    if (!made && of_host && tt_files_are_metals(&files)) {
        status = add_metals(in, folder, &files, side, err);
    } else if (made || log || ops) {
        run_input *r = add(in, folder, side);
        if (!r) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        if (r) r->report = made;
        if (r) r->log = log;
        if (r) made = log = NULL;
        if (r && !r->report && ops) status = make_report(r, folder, err);
        if (r && !status && ops) status = run_tell_captures(r, ops, err);
        if (r && !status) status = run_add_hosts(r, ops, err);
    } else {
        *is_one = false;
    }
    free(made);
    free(log);
    free(ops);
    tt_files_free(&files);
    return status;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name); /* run2 before run10 */
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

devlog_status run_inputs_add_file(run_inputs *in, const char *path, uint32_t side, bool named,
                                  devlog_error *err)
{
    file_kind kind;
    devlog_status status = kind_of(path, &kind, err);
    if (status || (kind == FILE_OTHER && !named)) return status;
    run_input *r = add(in, path, side);
    if (!r) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return keep(kind == FILE_REPORT ? &r->report : &r->log, path, err);
}

void run_call_in_text(dl_str *text, const char *folder, const char *name)
{
    dl_str called = {0};
    const char *at = text->len ? text->text : NULL;
    if (!at) return;
    for (const char *found; (found = strstr(at, folder)); at = found + strlen(folder)) {
        dl_str_add_n(&called, at, (size_t)(found - at));
        dl_str_add(&called, name);
    }
    dl_str_add(&called, at);
    dl_str_free(text);
    *text = called;
}

devlog_status run_inputs_call(run_inputs *in, size_t first, const char *folder, const char *path,
                              devlog_error *err)
{
    const size_t n = strlen(folder);
    for (size_t i = first; i < in->n; i++) {
        run_input *r = &in->items[i];
        dl_str name = {0};
        if (strncmp(r->name, folder, n) != 0 || (r->name[n] && r->name[n] != '/')) continue;
        dl_str_fmt(&name, "%s%s", path, r->name + n);
        if (name.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        run_call_in_text(&r->doubt, folder, path);
        if (r->doubt.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        free(r->folder);
        r->folder = r->name;
        r->name = name.text;
    }
    return DEVLOG_OK;
}

void run_call_in(devlog_error *err, const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    char text[sizeof err->text];
    for (char *at = err->text; (at = strstr(at, folder)) != NULL; at += strlen(name)) {
        snprintf(text, sizeof text, "%s", at + n);
        const size_t there = (size_t)(at - err->text);
        if (there + strlen(name) >= sizeof err->text) return;
        snprintf(at, sizeof err->text - there, "%s%s", name, text);
    }
}

devlog_status run_inputs_failed(const run_inputs *in, devlog_status status, devlog_error *err)
{
    for (size_t i = 0; i < in->n_archives && status; i++)
        run_call_in(err, in->archives[i].folder, in->archives[i].path);
    for (size_t i = 0; i < in->n && status; i++)
        if (in->items[i].folder) run_call_in(err, in->items[i].folder, in->items[i].name);
    return status;
}

static devlog_status add_entries(run_inputs *in, const char *folder, uint32_t side, devlog_error *err);

static devlog_status add_archive(run_inputs *in, const char *path, uint32_t side, devlog_error *err)
{
    struct run_archive *grown = realloc(in->archives, (in->n_archives + 1) * sizeof *grown);
    const size_t before = in->n;
    bool is_one = true;
    if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    in->archives = grown;
    struct run_archive made = {strdup(path), temporary_folder(err)};
    if (!made.folder || !made.path) {
        if (made.folder) rmdir(made.folder);
        if (made.folder) dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        free(made.folder);
        free(made.path);
        return err->status;
    }
    in->archives[in->n_archives++] = made;
    devlog_status status = tt_unpack(path, made.folder, TT_UNPACK_ALL, err);
    if (!status) status = run_inputs_add_run(in, made.folder, side, &is_one, err);
    if (!status && !is_one) status = add_entries(in, made.folder, side, err);
    if (!status) status = run_inputs_call(in, before, made.folder, path, err);
    return run_inputs_failed(in, status, err);
}

/* devlog ops packs the logs that a report is made of in a tar beside it: they are one run. */
static bool is_of_report(const char *path)
{
    const size_t n = strlen(path);
    char *report = n > 4 && strcmp(path + n - 4, ".tar") == 0 ? strdup(path) : NULL;
    if (report) memcpy(report + n - 4, ".csv", 4);
    const bool is = report && access(report, F_OK) == 0;
    free(report);
    return is;
}

/* A folder of runs. */
static devlog_status add_entries(run_inputs *in, const char *folder, uint32_t side, devlog_error *err)
{
    struct dirent **entries;
    devlog_status status = DEVLOG_OK;
    const int n = scandir(folder, &entries, is_visible, by_name);
    if (n < 0) return dl_fail_errno(err, errno, "cannot read the folder %s", folder);
    for (int i = 0; i < n; i++) {
        struct stat st;
        bool is_one;
        char *path = status ? NULL : dl_path_join(folder, entries[i]->d_name);
        if (path && stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                status = run_inputs_add_run(in, path, side, &is_one, err);
            else if (S_ISREG(st.st_mode) && st.st_size && !tt_is_archive(path))
                status = run_inputs_add_file(in, path, side, false, err);
            else if (S_ISREG(st.st_mode) && st.st_size && !is_of_report(path))
                status = add_archive(in, path, side, err);
            if (status == DEVLOG_ERR_NOT_FOUND) status = DEVLOG_OK; /* an archive of something else */
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

devlog_status run_inputs_add(run_inputs *in, const char *path, uint32_t side, devlog_error *err)
{
    struct stat st;
    bool is_one;
    const size_t before = in->n;
    const bool there = stat(path, &st) == 0;
    if (there ? !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) : strcmp(path, "-") == 0)
        return dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "%s is neither a file nor a folder: an input is read more than once, so a pipe will not do",
            strcmp(path, "-") == 0 ? "standard input" : path);
    if (!there && errno == ENOENT) return dl_fail(err, DEVLOG_ERR_NOT_FOUND, DL_NOT_THERE, path);
    if (!there) return dl_fail_errno(err, errno, "cannot read %s", path);
    const bool is_folder = S_ISDIR(st.st_mode), is_archive = !is_folder && tt_is_archive(path);
    if (!is_folder && !is_archive) return run_inputs_add_file(in, path, side, true, err);
    devlog_status status =
        is_archive ? add_archive(in, path, side, err) : run_inputs_add_run(in, path, side, &is_one, err);
    if (!status && is_folder && !is_one) status = add_entries(in, path, side, err);
    if (!status && is_folder) status = run_join_hosts(in, before, path, err);
    if (status || in->n > before) return status;
    return dl_fail(
        err, DEVLOG_ERR_NOT_FOUND,
        "%s holds no run: no op report, op log, device log or capture, nor folders or files that are; run the program "
        "with TT_METAL_DEVICE_PROFILER=1, or name its folder (devlog view --list-only FOLDER lists the logs below one)",
        path);
}

devlog_status run_inputs_one(run_inputs *in, const char *path, devlog_error *err)
{
    const devlog_status status = run_inputs_add(in, path, 0, err);
    if (status || in->n == 1) return status;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s holds %zu runs (%s, %s, ...): %s", path, in->n,
                   in->items[0].name, in->items[1].name,
                   in->items[0].folder ? "unpack it, and name one of them, or their folder"
                                       : "name one of them");
}
