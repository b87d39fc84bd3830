/* Finding the files of tt-metal's profiler: its own layout (generated/profiler/.logs, .logs), a report's
 * folder, ttnn-visualizer's, and a flat one. */
#include "tt_metal/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "tt_metal/exec.h"
#include "tt_metal/zones.h"

#define DEVICE_LOG_NAME "profile_log_device.csv"
#define TRACY_NAME      "tracy_profile_log_host.tracy"

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* How a file's name goes on when it is packed. */
static const char *const endings[] = {"", ".zst", ".gz", ".xz", ".pack"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

char *tt_file_find(const char *folder, const char *name, bool *no_memory)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        char packed[128];
        snprintf(packed, sizeof packed, "%s%s", name, endings[i]);
        char *path = dl_path_join(folder, packed);
        *no_memory |= path == NULL;
        if (path && is_file(path)) return path;
        free(path);
    }
    return NULL;
}

static bool look_in(tt_files *f, const char *folder);

/* A report: ops_perf_results*.csv, or packed. */
static bool is_report(const char *name)
{
    static const char prefix[] = "ops_perf_results";
    const char *csv = strncmp(name, prefix, sizeof prefix - 1) == 0 ? strstr(name, ".csv") : NULL;
    for (size_t i = 0; csv && i < ENDINGS; i++)
        if (strcmp(csv + 4, endings[i]) == 0) return true;
    return false;
}

/* The last by name, which has its date in tt-metal's; a folder lists them in any order. */
static void find_reports(tt_files *f, const char *folder, bool *no_memory)
{
    DIR *d = opendir(folder);
    char last[NAME_MAX + 1] = "";
    f->n_ops_reports = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (!is_report(e->d_name)) continue;
        f->n_ops_reports++;
        if (strcmp(e->d_name, last) > 0) snprintf(last, sizeof last, "%s", e->d_name);
    }
    if (d) closedir(d);
    if (!*last) return;
    f->ops_report = dl_path_join(folder, last);
    *no_memory |= !f->ops_report;
}

/* A capture of Tracy's under another name, when there is one and no more. */
static char *find_capture(const char *folder)
{
    DIR *d = opendir(folder);
    char *found = NULL;
    size_t n_found = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (!tt_is_tracy(e->d_name)) continue;
        free(found);
        found = n_found++ ? NULL : dl_path_join(folder, e->d_name);
    }
    if (d) closedir(d);
    return found;
}

bool tt_is_tracy(const char *path)
{
    static const char ending[] = ".tracy";
    const size_t n = strlen(path);
    return n >= sizeof ending && strcmp(path + n - (sizeof ending - 1), ending) == 0;
}

bool tt_files_find_beside(tt_files *f, const char *tracy)
{
    const char *slash = strrchr(tracy, '/');
    char *folder = slash ? strndup(tracy, (size_t)(slash - tracy) + (slash == tracy)) : strdup(".");
    *f = (tt_files){0};
    bool ok = folder && look_in(f, folder);
    free(folder);
    free(f->tracy);
    free(f->data);
    free(f->times);
    f->data = f->times = NULL;
    f->tracy = strdup(tracy);
    if (ok && f->tracy) return true;
    tt_files_free(f);
    return false;
}

/* The beginning of a text file, unpacked; false: it cannot be read. */
static bool begins(const char *path, char *text, size_t cap)
{
    dl_input *in;
    const void *bytes = NULL;
    size_t n = cap - 1;
    if (dl_input_open(&in, path, NULL)) return false;
    bool ok = dl_input_peek(in, &bytes, &n, NULL) == DEVLOG_OK;
    if (ok && n) memcpy(text, bytes, n);
    text[ok ? n : 0] = 0;
    dl_input_close(in);
    return ok;
}

/* devlog's own logs name their run. */
static bool is_log_of_metals(const char *path)
{
    char text[1024];
    if (!begins(path, text, sizeof text)) return false;
    text[strcspn(text, "\n")] = 0;
    return !strstr(text, "Run: ");
}

/* TT_METAL_STREAMING_PROFILER_OPS_CSV, _ZONE_CSV. */
tt_streamed tt_streamed_begins(const char *text, size_t n)
{
    static const char ops[] = "DEVICE ID,GLOBAL CALL COUNT,EXECUTION",
                      zones[] = "ARCH:", header[] = "meta data, logical_x";
    enum { HEAD = 1024 };
    if (n > HEAD) n = HEAD;
    if (n >= sizeof ops - 1 && memcmp(text, ops, sizeof ops - 1) == 0) return TT_STREAMED_OPS;
    const bool is_log = n >= sizeof zones - 1 && memcmp(text, zones, sizeof zones - 1) == 0;
    return is_log && memmem(text, n, header, sizeof header - 1) ? TT_STREAMED_ZONES : TT_STREAMED_NOT;
}

tt_streamed tt_streamed_is(const char *path)
{
    char text[1024];
    return is_file(path) && begins(path, text, sizeof text) ? tt_streamed_begins(text, strlen(text))
                                                            : TT_STREAMED_NOT;
}

static int may_be_streamed(const struct dirent *e)
{
    return strstr(e->d_name, ".csv") && strcmp(e->d_name, TT_OPS_TIMES_NAME) != 0;
}

/* Of several the first by name, which does not depend on the folder's order. */
static bool find_streamed(tt_files *f, const char *folder)
{
    struct dirent **files = NULL;
    const int n = scandir(folder, &files, may_be_streamed, alphasort);
    bool ok = n >= 0 || errno != ENOMEM;
    for (int i = 0; i < n; i++) {
        char *path = ok && (!f->report || !f->log) ? dl_path_join(folder, files[i]->d_name) : NULL;
        const tt_streamed kind = path ? tt_streamed_is(path) : TT_STREAMED_NOT;
        char **to = kind == TT_STREAMED_OPS ? &f->report : kind == TT_STREAMED_ZONES ? &f->log : NULL;
        ok = ok && (path || (f->report && f->log));
        if (to && !*to)
            *to = path;
        else
            free(path);
        free(files[i]);
    }
    free(files);
    return ok;
}

static bool look_in(tt_files *f, const char *folder)
{
    bool no_memory = false;
    struct stat st;
    f->folder = strdup(folder);
    /* A folder that is not there is not asked for forty names, each of which is a question to a network's disk. */
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) return f->folder;
    f->data = tt_file_find(folder, TT_OPS_DATA_NAME, &no_memory);
    f->times = tt_file_find(folder, TT_OPS_TIMES_NAME, &no_memory);
    f->report = tt_file_find(folder, TT_PERF_NAME, &no_memory);
    f->log = tt_file_find(folder, DEVICE_LOG_NAME, &no_memory);
    f->tracy = tt_file_find(folder, TRACY_NAME, &no_memory);
    f->sync = tt_file_find(folder, TT_SYNC_NAME, &no_memory);
    f->zones = tt_file_find(folder, TT_ZONES_NAME, &no_memory);
    f->new_zones = tt_file_find(folder, TT_NEW_ZONES_NAME, &no_memory);
    if (!f->report && !f->log) no_memory |= !find_streamed(f, folder);
    find_reports(f, folder, &no_memory);
    return !no_memory && f->folder;
}

static bool has_capture(const char *folder)
{
    char *path = dl_path_join(folder, DL_CAPTURE_NAME);
    bool there = path && is_file(path);
    free(path);
    return there;
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): look_in fills what tt_files_free has freed and forgotten */
bool tt_files_are_metals(const tt_files *f)
{
    return f->data || f->times || f->report ||
           (f->log && is_log_of_metals(f->log) && !has_capture(f->folder));
}

bool tt_files_are_a_report(const tt_files *f)
{
    return f->ops_report && !f->data && !f->times && !f->report && (!f->log || is_log_of_metals(f->log)) &&
           !has_capture(f->folder);
}

bool tt_files_find(tt_files *f, const char *folder)
{
    static const char *const places[] = {"", ".logs", "generated/profiler/.logs", "profiler/.logs", "logs"};
    /* A report, which may be devlog's own of last time, only where there is nothing that one could be made of. */
    for (size_t i = 0; i < 2 * (sizeof places / sizeof places[0]); i++) {
        const char *at = places[i % (sizeof places / sizeof places[0])];
        bool first = i < sizeof places / sizeof places[0];
        char *place = at[0] ? dl_path_join(folder, at) : strdup(folder);
        if (!place) return false;
        *f = (tt_files){0};
        bool ok = look_in(f, place);
        free(place);
        if (!ok) {
            tt_files_free(f);
            return false;
        }
        if (first ? tt_files_are_metals(f) || f->tracy : tt_files_are_a_report(f)) return true;
        tt_files_free(f);
    }
    if (!look_in(f, folder)) {
        tt_files_free(f);
        return false;
    }
    f->tracy = find_capture(folder);
    return true;
}

void tt_files_free(tt_files *f)
{
    free(f->folder);
    free(f->data);
    free(f->times);
    free(f->report);
    free(f->log);
    free(f->tracy);
    free(f->sync);
    free(f->zones);
    free(f->new_zones);
    free(f->ops_report);
    *f = (tt_files){0};
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

static bool add_rank(tt_ranks *r, const char *folder, const char *name, unsigned number)
{
    char **folders = realloc(r->folders, (r->n + 1) * sizeof *folders);
    if (folders) r->folders = folders;
    unsigned *numbers = realloc(r->numbers, (r->n + 1) * sizeof *numbers);
    if (numbers) r->numbers = numbers;
    char *path = folders && numbers ? dl_path_join(folder, name) : NULL;
    if (!path) return false;
    size_t at = r->n++;
    for (; at && r->numbers[at - 1] > number; at--) {
        r->folders[at] = r->folders[at - 1];
        r->numbers[at] = r->numbers[at - 1];
    }
    r->folders[at] = path;
    r->numbers[at] = number;
    return true;
}

bool tt_ranks_find(tt_ranks *r, const char *folder)
{
    *r = (tt_ranks){0};
    DIR *d = opendir(folder);
    bool ok = true;
    for (struct dirent *e; d && ok && (e = readdir(d)) != NULL;) {
        unsigned number;
        int end = 0;
        if (sscanf(e->d_name, "rank%5u%n", &number, &end) == 1 && !e->d_name[end])
            ok = add_rank(r, folder, e->d_name, number);
    }
    if (d) closedir(d);
    if (!ok) tt_ranks_free(r);
    return ok;
}

void tt_ranks_free(tt_ranks *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->folders[i]);
    free(r->folders);
    free(r->numbers);
    *r = (tt_ranks){0};
}
