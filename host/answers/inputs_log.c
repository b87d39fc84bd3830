/* From a log to the run that it is of. See inputs.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/inputs_internal.h"

static const char *const places[] = {RUN_PLACES};
enum { PLACES = sizeof places / sizeof places[0] };

bool run_in_one_folder(const char *a, const char *b)
{
    const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
    const size_t n = end_a ? (size_t)(end_a - a) : 0, m = end_b ? (size_t)(end_b - b) : 0;
    return !end_a == !end_b && n == m && memcmp(a, b, n) == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool run_log_of_capture(const char *capture, const char *log)
{
    return run_in_one_folder(capture, log) && strcmp(name_of(capture), RUN_CAPTURE) == 0 &&
           strncmp(name_of(log), RUN_DEVICE_LOG, strlen(RUN_DEVICE_LOG)) == 0;
}

/* A capture and the CSV beside it are of one run. */
static bool same_run(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino) return true;
    return run_log_of_capture(a, b) || run_log_of_capture(b, a);
}

static bool holds(run_ages *known, const char *folder, const char *log)
{
    char *found = folder ? run_log_in(folder) : NULL;
    bool is = found && same_run(found, log);
    if (folder && run_is_host_log(log)) {
        char *beside = found ? found : run_op_log_in(folder);
        is = beside && run_in_one_folder(beside, log) && run_host_is_of(known, log, beside);
        if (beside != found) free(beside);
    }
    free(found);
    return is;
}

/* The folder that a path lies in. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
}

char *run_folder_of_log(run_ages *known, const char *log)
{
    char *own = folder_of(log), *above = NULL;
    const char *last = own ? strrchr(own, '/') : NULL;
    for (int i = 1; i < PLACES && last && !above; i++)
        if (strcmp(last + 1, places[i]) == 0) above = folder_of(own);
    char *found = holds(known, above, log) ? above : holds(known, own, log) ? own : NULL;
    if (found != above) free(above);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is found is one of the two, and the caller's */
    if (found != own) free(own);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the same */
    return found;
}

/* The log becomes the run's. Of a run of the host alone, whose log is that of one of its processes, the one before is that of another. */
static void swap_log(run_input *r, char *log)
{
    for (size_t i = 0; i < r->n_hosts; i++) {
        if (!same_run(r->hosts[i], log)) continue;
        free(r->hosts[i]);
        r->hosts[i] = r->log;
        r->log = NULL;
        break;
    }
    free(r->log);
    r->log = log;
}

devlog_status run_inputs_of_log(run_inputs *in, const char *log, devlog_error *why, devlog_error *err)
{
    char *folder = run_folder_of_log(NULL, log);
    bool is_one = false;
    devlog_error failed = {0};
    devlog_status status = DEVLOG_OK, made = DEVLOG_OK;
    /* Only a folder that is this run: of others no report is made. */
    if (folder) made = run_inputs_add_run(in, folder, 0, &is_one, &failed);
    if (folder && !made && is_one && in->items[0].report && in->items[0].log) {
        char *kept = strdup(log);
        if (kept)
            swap_log(&in->items[0], kept);
        else
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    } else {
        run_inputs_free(in);
        status = run_inputs_add_file(in, log, 0, true, err);
    }
    *why = made && !status ? failed : (devlog_error){0};
    free(folder);
    return status;
}
