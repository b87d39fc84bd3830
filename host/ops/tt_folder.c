/* Finding the files of tt-metal's profiler: its own layout (generated/profiler/.logs, .logs), a report's
 * folder, ttnn-visualizer's, and a flat one. */
#include "ops/tt_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "ops/tt_exec.h"

#define DEVICE_LOG_NAME "profile_log_device.csv"
#define TRACY_NAME      "tracy_profile_log_host.tracy"

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* The file of this name, or packed. NULL: none, or no memory (*no_memory). */
static char *find(const char *folder, const char *name, bool *no_memory)
{
    static const char *const endings[] = {"", ".zst", ".gz", ".xz", ".pack"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char packed[128];
        snprintf(packed, sizeof packed, "%s%s", name, endings[i]);
        char *path = dl_path_join(folder, packed);
        *no_memory |= path == NULL;
        if (path && is_file(path)) return path;
        free(path);
    }
    return NULL;
}

/* A report: ops_perf_results*.csv. */
static char *find_report(const char *folder)
{
    static const char prefix[] = "ops_perf_results";
    DIR *d = opendir(folder);
    char *found = NULL;
    for (struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strncmp(e->d_name, prefix, sizeof prefix - 1) == 0 &&
            strcmp(e->d_name + n - 4, ".csv") == 0)
            found = dl_path_join(folder, e->d_name);
    }
    if (d) closedir(d);
    return found;
}

static bool look_in(tt_files *f, const char *folder)
{
    bool no_memory = false;
    f->data = find(folder, TT_OPS_DATA_NAME, &no_memory);
    f->times = find(folder, TT_OPS_TIMES_NAME, &no_memory);
    f->report = find(folder, TT_PERF_NAME, &no_memory);
    f->log = find(folder, DEVICE_LOG_NAME, &no_memory);
    f->tracy = find(folder, TRACY_NAME, &no_memory);
    f->folder = strdup(folder);
    return !no_memory && f->folder;
}

bool tt_files_are_metals(const tt_files *f)
{
    return f->data || f->times || f->report;
}

bool tt_files_find(tt_files *f, const char *folder)
{
    static const char *const places[] = {"", ".logs", "generated/profiler/.logs", "profiler/.logs", "logs"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *place = places[i][0] ? dl_path_join(folder, places[i]) : strdup(folder);
        if (!place) return false;
        *f = (tt_files){0};
        bool ok = look_in(f, place);
        free(place);
        if (!ok) {
            tt_files_free(f);
            return false;
        }
        if (tt_files_are_metals(f) || f->tracy) return true;
        tt_files_free(f);
    }
    if (!look_in(f, folder)) {
        tt_files_free(f);
        return false;
    }
    f->ops_report = find_report(folder);
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
    free(f->ops_report);
    *f = (tt_files){0};
}

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
