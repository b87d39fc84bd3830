/* Logs below a folder. */
#include "cli/logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers/inputs.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/settings.h"
#include "cli/log_names.h"
#include "tt_metal/archive.h"

typedef struct search {
    cli_logs *logs;
    size_t cap, entries;
    bool failed, reports; /* reports: op reports are wanted, too */
} search;

static int64_t time_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Of more than are kept the newest stay. False: all that are there are newer than this one. */
static bool leave_oldest(cli_logs *logs, const struct stat *st)
{
    size_t oldest = 0;
    logs->more = true;
    for (size_t i = 1; i < logs->n_all; i++)
        if (logs->items[i].time_ns < logs->items[oldest].time_ns) oldest = i;
    if (time_of(st) <= logs->items[oldest].time_ns) return false;
    free(logs->items[oldest].path);
    free(logs->items[oldest].name);
    logs->items[oldest] = logs->items[--logs->n_all];
    return true;
}

static void add(search *s, const char *path, const char *name, bool capture, bool report,
                const struct stat *st)
{
    cli_logs *logs = s->logs;
    for (size_t i = 0; i < logs->n_all; i++) /* one folder may lie in another that is looked through, too */
        if (logs->items[i].inode == st->st_ino && logs->items[i].device == st->st_dev) return;
    if (logs->n_all == CLI_MAX_LOGS && !leave_oldest(logs, st)) return;
    if (logs->n_all == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 16;
        cli_log *items = realloc(logs->items, cap * sizeof *items);
        if (!items) {
            s->failed = true;
            return;
        }
        logs->items = items;
        s->cap = cap;
    }
    cli_log *l = &logs->items[logs->n_all];
    *l = (cli_log){.path = strdup(path),
                   .name = strdup(name),
                   .capture = capture,
                   .report = report,
                   .bytes = (uint64_t)st->st_size,
                   .device = st->st_dev,
                   .inode = st->st_ino,
                   .time_ns = time_of(st)};
    logs->n_all++;
    if (!l->path || !l->name) s->failed = true;
    snprintf(l->id, sizeof l->id, "%016llx", (unsigned long long)dl_hash_bytes(name, strlen(name)));
}

static void walk(search *s, const char *folder, const char *below, int depth)
{
    DIR *dir = opendir(folder);
    if (!dir) return; /* gone, or not ours to read */
    for (struct dirent *e; (e = readdir(dir)) && !s->failed;) {
        struct stat st;
        bool capture;
        if (e->d_name[0] == '.' && strcmp(e->d_name, ".logs") != 0) continue; /* tt-metal's folder of logs */
        if (++s->entries > CLI_MAX_ENTRIES) {
            s->logs->more = true;
            break;
        }
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        bool inside = S_ISDIR(st.st_mode), log = S_ISREG(st.st_mode) && cli_is_log_name(e->d_name, &capture);
        const bool report = !log && s->reports && S_ISREG(st.st_mode) && cli_is_report_name(e->d_name);
        if (!inside && !log && !report) continue;
        char *path = dl_path_join(folder, e->d_name), *name = dl_path_join(below, e->d_name);
        if (!path || !name)
            s->failed = true;
        else if (log || report)
            add(s, path, name, log && capture, report, &st);
        else if (depth < CLI_MAX_DEPTH)
            walk(s, path, name, depth + 1);
        else
            s->logs->more = true;
        free(path);
        free(name);
    }
    closedir(dir);
}

static int newest_first(const void *a, const void *b)
{
    const cli_log *p = a, *q = b;
    if (p->time_ns != q->time_ns) return p->time_ns > q->time_ns ? -1 : 1;
    return strcmp(p->name, q->name);
}

static bool is_of_host(const cli_log *l)
{
    return run_is_host_log(l->path);
}

/* Whether a log lies where the run whose op report this is has it: beside it, or in a folder for logs there. */
static bool is_of_run(const cli_log *report, const cli_log *log)
{
    static const char *const folders[] = {"", "logs_device/", "logs/", ".logs/"};
    const char *slash = strrchr(report->path, '/'), *end = strrchr(log->path, '/');
    const size_t n = slash ? (size_t)(slash - report->path) + 1 : 0,
                 m = end ? (size_t)(end - log->path) + 1 : 0;
    if (m < n || memcmp(report->path, log->path, n) != 0) return false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (m - n == strlen(folders[i]) && memcmp(log->path + n, folders[i], m - n) == 0) return true;
    return false;
}

/* Zones of host code of a run without a device: those of the process that wrote last show the others. */
static bool is_of_newer(const cli_logs *logs, size_t i, run_ages *known)
{
    const cli_log *newer = NULL, *l = &logs->items[i];
    for (size_t k = 0; k < i && !newer; k++)
        if (is_of_host(&logs->items[k]) && run_in_one_folder(logs->items[k].path, l->path))
            newer = &logs->items[k];
    char *mine = newer ? run_folder_of_log(known, l->path) : NULL,
         *its = newer ? run_folder_of_log(known, newer->path) : NULL;
    const bool is = mine && its ? strcmp(mine, its) == 0
                                : newer && !mine && !its && run_hosts_overlap(l->path, newer->path);
    free(mine);
    free(its);
    return is;
}

/* Whether what a log is of is shown by another, which lies beside it. */
static bool has_capture(const cli_logs *logs, const cli_log *l, run_ages *known)
{
    for (size_t i = 0; i < logs->n_all && l->report; i++)
        if (!logs->items[i].report && is_of_run(l, &logs->items[i])) return true;
    if (l->report) return false;
    const bool of_host = is_of_host(l);
    for (size_t i = 0; i < logs->n_all && (!l->capture || of_host); i++) {
        const cli_log *c = &logs->items[i];
        int64_t apart = l->time_ns > c->time_ns ? l->time_ns - c->time_ns : c->time_ns - l->time_ns;
        if (is_of_host(c) || c->report) continue;
        if (!run_in_one_folder(c->path, l->path)) continue;
        if (of_host ? run_host_is_of(known, l->path, c->path)
                    : c->capture && apart <= CLI_RUN_SECONDS * INT64_C(1000000000))
            return true;
    }
    return of_host && is_of_newer(logs, (size_t)(l - logs->items), known);
}

/* Newest first, and device logs of captures behind all others. */
static bool put_in_order(cli_logs *logs)
{
    cli_log *behind = malloc((logs->n_all + 1) * sizeof *behind);
    size_t n_behind = 0;
    if (!behind) return false;
    if (logs->n_all) qsort(logs->items, logs->n_all, sizeof *logs->items, newest_first);
    bool *twin = calloc(logs->n_all + 1, sizeof *twin);
    run_ages known = {0};
    for (size_t i = 0; twin && i < logs->n_all; i++)
        twin[i] = has_capture(logs, &logs->items[i], &known);
    run_ages_free(&known);
    for (size_t i = 0; twin && i < logs->n_all; i++)
        for (size_t k = 0; k < logs->n_all && twin[i] && is_of_host(&logs->items[i]); k++)
            if (run_in_one_folder(logs->items[k].path, logs->items[i].path))
                logs->items[k].bytes_of_hosts += logs->items[i].bytes;
    for (size_t i = 0; twin && i < logs->n_all; i++) {
        if (twin[i])
            behind[n_behind++] = logs->items[i];
        else
            logs->items[logs->n++] = logs->items[i];
    }
    for (size_t i = 0; i < n_behind; i++)
        logs->items[logs->n + i] = behind[i];
    bool done = twin != NULL;
    free(twin);
    free(behind);
    return done;
}

static devlog_status end_search(search *s, const char *where, devlog_error *err)
{
    if (s->failed || !put_in_order(s->logs))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while looking through %s", where);
    return DEVLOG_OK;
}

/* Many files, of which the reader of a log would make one. */
static devlog_status no_archive(const char *path, devlog_error *err)
{
    if (!tt_is_archive(path)) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_ARGUMENT,
        "%s is an archive, which devlog ops, report, diff, causes and memory read: unpack it, and name a "
        "log in it",
        path);
}

static devlog_status find_in(const char *folder, bool reports, cli_logs *logs, devlog_error *err)
{
    search s = {.logs = logs, .reports = reports};
    struct stat st;
    memset(logs, 0, sizeof *logs);
    if (stat(folder, &st) != 0) {
        if (errno != ENOENT) return dl_fail_errno(err, errno, "%s", folder);
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s: there is no such file or folder", folder);
    }
    if (S_ISDIR(st.st_mode)) {
        walk(&s, folder, "", 0);
    } else {
        const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
        const devlog_status status = no_archive(folder, err);
        if (status) return status;
        bool capture;
        (void)cli_is_log_name(name, &capture);
        add(&s, folder, name, capture, reports && cli_is_report_name(name), &st);
    }
    return end_search(&s, folder, err);
}

devlog_status cli_logs_find(const char *folder, cli_logs *logs, devlog_error *err)
{
    return find_in(folder, false, logs, err);
}

devlog_status cli_logs_find_all(const char *folder, cli_logs *logs, devlog_error *err)
{
    return find_in(folder, true, logs, err);
}

devlog_status cli_logs_find_any(cli_logs *logs, dl_str *where, devlog_error *err)
{
    static const struct {
        dl_setting setting;
        const char *below;
    } places[] = {{DL_SET_LOG_FOLDER, ""},
                  {DL_SET_NONE, "generated/profiler"},
                  {DL_SET_PROFILER_DIR, ""},
                  {DL_SET_METAL_HOME, "/generated/profiler"}};
    enum { PLACES = sizeof places / sizeof places[0] };
    search s = {.logs = logs};
    struct stat seen[PLACES];
    size_t n = 0;
    memset(logs, 0, sizeof *logs);
    for (size_t i = 0; i < PLACES; i++) {
        const char *value = places[i].setting ? dl_setting_text(places[i].setting) : "";
        if (!value) continue;
        dl_str folder = {0};
        dl_str_fmt(&folder, "%s%s", value, places[i].below);
        bool again = folder.failed || stat(folder.text, &seen[n]) != 0 || !S_ISDIR(seen[n].st_mode);
        for (size_t k = 0; k < n && !again; k++)
            again = seen[k].st_dev == seen[n].st_dev && seen[k].st_ino == seen[n].st_ino;
        if (!again) {
            dl_str_fmt(where, "%s%s", n ? ", " : "", folder.text);
            walk(&s, folder.text, "", 0);
            n++;
        }
        s.failed |= folder.failed;
        dl_str_free(&folder);
    }
    if (n == 0) dl_str_add(where, "generated/profiler");
    return end_search(&s, "the folders of logs", err);
}

const cli_log *cli_logs_choose(const cli_logs *logs, const char *where, bool latest, const char *ways,
                               devlog_error *err)
{
    if (logs->n == 1 || (logs->n && latest)) return &logs->items[0];
    if (logs->n)
        dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%zu logs are in %s: %s", logs->n, where, ways);
    else
        dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                "there is no log in %s; run the program with TT_METAL_DEVICE_PROFILER=1 and kernels compiled "
                "with -DPROFILE_DEVICE, or name a log or a folder",
                where);
    return NULL;
}

/* Arguments as they become. */
typedef struct paths {
    char **items;
    int n, cap;
} paths;

static devlog_status add_path(paths *p, char *path, devlog_error *err)
{
    if (p->n == p->cap) {
        const int cap = p->cap ? 2 * p->cap : 16;
        char **items = realloc(p->items, (size_t)cap * sizeof *items);
        if (items) p->items = items;
        if (items) p->cap = cap;
    }
    if (p->n == p->cap || !path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    p->items[p->n++] = path;
    return DEVLOG_OK;
}

char **cli_logs_with_hosts(const cli_logs *logs, const cli_log *log, size_t *n)
{
    char **found = calloc(logs->n_all + 1, sizeof *found);
    if (!found) return NULL;
    *n = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has found one */
    found[(*n)++] = log->path;
    if (log >= logs->items + logs->n) return found;
    for (size_t i = logs->n; i < logs->n_all; i++) {
        const cli_log *l = &logs->items[i];
        if (is_of_host(l) && run_in_one_folder(l->path, log->path)) found[(*n)++] = l->path;
    }
    return found;
}

/* The device log beside a capture; the capture where there is none. */
static const cli_log *that_grows(const cli_logs *logs, const cli_log *capture)
{
    for (size_t i = logs->n; i < logs->n_all && capture->capture; i++)
        if (!logs->items[i].capture && run_in_one_folder(logs->items[i].path, capture->path))
            return &logs->items[i];
    return capture;
}

/* The log of a folder, or of all places, and the zones of host code of its run. */
static devlog_status add_found(paths *p, const cli_logs_wanted *w, const char *folder, cli_args *rest,
                               devlog_error *err)
{
    const bool latest = w->latest || !folder;
    cli_logs logs;
    dl_str where = {0};
    devlog_status status = folder ? cli_logs_find(folder, &logs, err) : cli_logs_find_any(&logs, &where, err);
    const char *in = folder ? folder : where.failed || !where.text ? "" : where.text;
    char ways[160];
    snprintf(ways, sizeof ways,
             "name those to %s, or add --latest; devlog view --list-only FOLDER lists them", w->command);
    const cli_log *log = status ? NULL : cli_logs_choose(&logs, in, latest, ways, err);
    if (!log) status = err->status;
    if (log && w->grows) log = that_grows(&logs, log);
    if (log) status = add_path(p, cli_args_own(rest, strdup(log->path)), err);
    size_t n = 0;
    char **all = status || w->grows ? NULL : cli_logs_with_hosts(&logs, log, &n);
    if (!status && !w->grows && !all) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const int hosts = all ? (int)n - 1 : 0;
    for (size_t i = 1; i < n && !status; i++)
        status = add_path(p, cli_args_own(rest, strdup(all[i])), err);
    free(all);
    if (!status && (latest || hosts || w->grows)) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without a log status is not OK */
        fprintf(stderr, "devlog %s: %s", w->command, log->path);
        if (latest && logs.n > 1) fprintf(stderr, ", the newest of %zu logs", logs.n);
        if (hosts)
            fprintf(stderr, ", with zones of host code of %d %sprocess%s", hosts,
                    is_of_host(log) ? "more " : "", hosts > 1 ? "es" : "");
        fputc('\n', stderr);
    }
    dl_str_free(&where);
    cli_logs_free(&logs);
    return status;
}

/* Whether a device log is that of the run of a capture beside it. */
static bool are_twins(const char *capture, const char *log)
{
    struct stat a, b;
    if (!run_log_of_capture(capture, log) || stat(capture, &a) != 0 || stat(log, &b) != 0) return false;
    return llabs((long long)a.st_mtime - (long long)b.st_mtime) <= CLI_RUN_SECONDS;
}

/* Of what is no file, such as a pipe, each opening has something else. */
static bool are_one_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && S_ISREG(b->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static devlog_status no_file_twice(char *const *all, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    struct stat *of = calloc(n + 1, sizeof *of);
    if (!of) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n && !status; i++) {
        if (stat(all[i], &of[i]) != 0) of[i] = (struct stat){0}; /* that is said where it is read */
        for (size_t k = 0; k < i && !status; k++)
            if (are_one_file(&of[i], &of[k]))
                status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                                 "%s and %s are one file, which would count twice: leave one of them out",
                                 all[k], all[i]);
    }
    free(of);
    return status;
}

devlog_status cli_logs_apart(char *const *all, size_t n, devlog_error *err)
{
    const devlog_status status = no_file_twice(all, n, err);
    if (status) return status;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && strstr(all[i], "capture.devlog"); k++)
            if (are_twins(all[i], all[k]))
                return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                               "%s and %s are of one run, which would count twice: name one of them, or the "
                               "folder",
                               all[i], all[k]);
    return DEVLOG_OK;
}

devlog_status cli_logs_of_folders(const cli_logs_wanted *w, cli_args *rest, devlog_error *err)
{
    paths p = {0};
    devlog_status status = rest->n ? DEVLOG_OK : add_found(&p, w, NULL, rest, err);
    for (int i = 0; i < rest->n && !status; i++) {
        struct stat st;
        const bool folder = stat(rest->items[i], &st) == 0 && S_ISDIR(st.st_mode);
        if (!folder) status = no_archive(rest->items[i], err);
        if (!status)
            status = folder ? add_found(&p, w, rest->items[i], rest, err) : add_path(&p, rest->items[i], err);
    }
    if (!status) status = cli_logs_apart(p.items, (size_t)p.n, err);
    if (!p.items) return status;
    if (!cli_args_own(rest, p.items)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) rest->items = p.items;
    if (!status) rest->n = p.n;
    return status;
}

/* The folder of the run that a log belongs to, or the log, where it is by itself. */
static char *run_of(const char *path)
{
    char *folder = run_folder_of_log(NULL, path);
    return folder ? folder : strdup(path);
}

static devlog_status newest(const char *command, const char *folder, cli_args *rest, bool run, char **item,
                            devlog_error *err)
{
    cli_logs logs;
    dl_str where = {0};
    devlog_status status = folder ? cli_logs_find(folder, &logs, err) : cli_logs_find_any(&logs, &where, err);
    const char *in = folder ? folder : where.failed || !where.text ? "" : where.text;
    const cli_log *log = status ? NULL : cli_logs_choose(&logs, in, true, "", err);
    if (!status && !log) status = err->status;
    if (log && !(*item = cli_args_own(rest, run ? run_of(log->path) : strdup(log->path))))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) {
        fprintf(stderr, "devlog %s: %s", command, *item);
        if (logs.n > 1) fprintf(stderr, ", the newest of %zu logs", logs.n);
        fputc('\n', stderr);
    }
    dl_str_free(&where);
    cli_logs_free(&logs);
    return status;
}

devlog_status cli_logs_latest(const char *command, cli_args *rest, char *one[1], bool run, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (rest->n == 0) {
        status = newest(command, NULL, rest, run, one, err);
        if (!status) rest->items = one;
        if (!status) rest->n = 1;
        return status;
    }
    for (int i = 0; i < rest->n && !status; i++) {
        struct stat st;
        if (stat(rest->items[i], &st) == 0 && S_ISDIR(st.st_mode))
            status = newest(command, rest->items[i], rest, run, &rest->items[i], err);
    }
    return status;
}

void cli_logs_free(cli_logs *logs)
{
    for (size_t i = 0; i < logs->n_all; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as many items as n says */
        free(logs->items[i].path);
        free(logs->items[i].name);
    }
    free(logs->items);
    memset(logs, 0, sizeof *logs);
}

const cli_log *cli_logs_by_id(const cli_logs *logs, const char *id, size_t n)
{
    if (n != 16) return NULL;
    for (size_t i = 0; i < logs->n_all; i++)
        if (memcmp(logs->items[i].id, id, 16) == 0) return &logs->items[i];
    return NULL;
}
