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

#include "base/file.h"
#include "base/intern.h"

typedef struct search {
    cli_logs *logs;
    size_t cap, entries;
    bool failed;
} search;

static bool ends_with(const char *name, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && memcmp(name + n - m, end, m) == 0;
}

/* profile_log_device.csv and whatever stands in front of or behind that stem, compressed or not; *.devlog. */
static bool is_log(const char *name, bool *capture)
{
    static const char *const packed[] = {".gz", ".zst", ".xz"};
    size_t n = strlen(name);
    *capture = ends_with(name, n, ".devlog");
    if (*capture) return true;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (ends_with(name, n, packed[i])) n -= strlen(packed[i]);
    return ends_with(name, n, ".csv") && strstr(name, "profile_log_device");
}

static void add(search *s, const char *path, const char *name, bool capture, const struct stat *st)
{
    cli_logs *logs = s->logs;
    if (logs->n == CLI_MAX_LOGS) {
        logs->more = true;
        return;
    }
    if (logs->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 16;
        cli_log *items = realloc(logs->items, cap * sizeof *items);
        if (!items) {
            s->failed = true;
            return;
        }
        logs->items = items;
        s->cap = cap;
    }
    cli_log *l = &logs->items[logs->n];
    *l = (cli_log){.path = strdup(path),
                   .name = strdup(name),
                   .capture = capture,
                   .bytes = (uint64_t)st->st_size,
                   .time_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec};
    logs->n++;
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
        if (e->d_name[0] == '.') continue;
        if (++s->entries > CLI_MAX_ENTRIES) {
            s->logs->more = true;
            break;
        }
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        bool inside = S_ISDIR(st.st_mode), log = S_ISREG(st.st_mode) && is_log(e->d_name, &capture);
        if (!inside && !log) continue;
        char *path = dl_path_join(folder, e->d_name), *name = dl_path_join(below, e->d_name);
        if (!path || !name)
            s->failed = true;
        else if (log)
            add(s, path, name, capture, &st);
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

devlog_status cli_logs_find(const char *folder, cli_logs *logs, devlog_error *err)
{
    search s = {.logs = logs};
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
        add(&s, folder, name, ends_with(name, strlen(name), ".devlog"), &st);
    }
    if (s.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while looking through %s", folder);
    if (logs->n) qsort(logs->items, logs->n, sizeof *logs->items, newest_first);
    return DEVLOG_OK;
}

void cli_logs_free(cli_logs *logs)
{
    for (size_t i = 0; i < logs->n; i++) {
        free(logs->items[i].path);
        free(logs->items[i].name);
    }
    free(logs->items);
    memset(logs, 0, sizeof *logs);
}

const cli_log *cli_logs_by_id(const cli_logs *logs, const char *id, size_t n)
{
    if (n != 16) return NULL;
    for (size_t i = 0; i < logs->n; i++)
        if (memcmp(logs->items[i].id, id, 16) == 0) return &logs->items[i];
    return NULL;
}
