/* What lies in a run's folder, and whether it is of that run: its report, periodic captures. See inputs_internal.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/inputs_internal.h"
#include "base/file.h"
#include "ops/op_log.h"

static const char *const places[] = {RUN_PLACES};
enum { PLACES = sizeof places / sizeof places[0] };

char *run_op_log_of(const char *folder, const char *place)
{
    char *inner = *place ? dl_path_join(folder, place) : strdup(folder);
    bool above;
    char *there = inner ? op_log_of(inner, &above) : NULL;
    struct stat st;
    free(inner);
    if (there && stat(there, &st) == 0 && st.st_size) return there;
    free(there); /* a run without one has emptied it (ops_forget) */
    return NULL;
}

/* When the first op of a report began that says it, in ns of the host; false: none does. */
static bool first_start(const char *report, uint64_t *start)
{
    op_table t = {0};
    devlog_error unheard;
    bool found = false;
    if (op_table_read(&t, report, &unheard)) t.n = 0;
    for (size_t i = 0; i < t.n && !found; i++) {
        found = t.rows[i].has & OP_HAS_HOST_START && !(t.rows[i].has & OP_IS_POINT);
        *start = t.rows[i].host_start;
    }
    op_table_free(&t);
    return found;
}

static bool has_begun(const op_log *log, uint64_t start)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < log->n_ops; i++) {
        first = log->ops[i].start < first ? log->ops[i].start : first;
        last = log->ops[i].start > last ? log->ops[i].start : last;
    }
    return start >= first && start <= last;
}

bool run_report_is_before(const char *report, const char *folder)
{
    struct stat of_report, st;
    bool older = false, same = false;
    uint64_t start;
    for (size_t i = 0; i < PLACES && !older; i++) {
        char *there = stat(report, &of_report) == 0 ? run_op_log_of(folder, places[i]) : NULL;
        older =
            there && stat(there, &st) == 0 &&
            (st.st_mtim.tv_sec != of_report.st_mtim.tv_sec ? st.st_mtim.tv_sec > of_report.st_mtim.tv_sec
                                                           : st.st_mtim.tv_nsec > of_report.st_mtim.tv_nsec);
        free(there);
    }
    if (!older || !first_start(report, &start)) return false;
    for (size_t i = 0; i < PLACES && !same; i++) {
        op_log log;
        devlog_error unheard;
        char *there = run_op_log_of(folder, places[i]);
        if (!there) continue;
        same = op_log_read(&log, there, &unheard) == DEVLOG_OK && has_begun(&log, start);
        op_log_free(&log);
        free(there);
    }
    return !same;
}

static int is_periodic(const struct dirent *e)
{
    return strncmp(e->d_name, "capture-", 8) == 0;
}

devlog_status run_tell_captures(run_input *r, const char *ops, devlog_error *err)
{
    struct dirent **found = NULL;
    const char *slash = strrchr(ops, '/');
    char *folder = slash ? strndup(ops, (size_t)(slash - ops)) : NULL;
    const int n = folder && !r->log ? scandir(folder, &found, is_periodic, alphasort) : 0;
    if (n > 0)
        dl_str_fmt(&r->doubt,
                   n > 1 ? "%s: the device was recorded now and then, in %s and others: name one of them"
                         : "%s: the device was recorded now and then, in %s: name that",
                   r->name, found[n - 1]->d_name);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    free(folder);
    return dl_str_status(&r->doubt, err);
}
