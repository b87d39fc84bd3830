/* What lies in a run's folder, and whether it is of that run: its report, zones of host code, periodic captures. See inputs_internal.h and
 * inputs.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/inputs_internal.h"
#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/input.h"
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

/* ---- Zones of host code --- */

static devlog_status on_clocks(void *ctx, const dl_capture_host_clocks *clocks, devlog_error *err)
{
    uint64_t *real = ctx;
    if (clocks->n) *real = clocks->items[0].real;
    return dl_fail(err, DEVLOG_ERR_STATE, "it is known");
}

/* CLOCK_REALTIME in ns when the process began to record; 0: its file does not say. */
static uint64_t recorded_from(const char *path)
{
    uint64_t real = 0;
    const dl_capture_sink sink = {.ctx = &real, .host_clocks = on_clocks};
    dl_capture_state state = {0};
    dl_input *in;
    devlog_error unheard;
    const void *first;
    size_t n = DL_CAPTURE_MAGIC_BYTES;
    if (dl_input_open(&in, path, &unheard)) return 0;
    if (dl_input_peek(in, &first, &n, &unheard) == DEVLOG_OK && dl_capture_is(first, n))
        (void)dl_capture_read(in, &sink, false, &state, &unheard);
    dl_input_close(in);
    return real;
}

bool run_host_is_of(const char *host, const char *log)
{
    enum { SECONDS = 60 };
    struct stat of_host, of_log;
    if (stat(host, &of_host) != 0 || stat(log, &of_log) != 0) return false;
    const int64_t later = (int64_t)of_host.st_mtime - (int64_t)of_log.st_mtime;
    if (later <= SECONDS) return later >= -SECONDS;
    const uint64_t from = recorded_from(host);
    return from && from / 1000000000 <= (uint64_t)of_log.st_mtime;
}

bool run_is_host_log(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    return strncmp(name, "host_", 5) == 0 && n > 7 && strcmp(name + n - 7, ".devlog") == 0;
}

static int of_host(const struct dirent *e)
{
    return run_is_host_log(e->d_name);
}

devlog_status run_add_hosts(run_input *r, const char *ops, devlog_error *err)
{
    struct dirent **found = NULL;
    devlog_status status = DEVLOG_OK;
    const char *log = r->log ? r->log : ops, *slash = log ? strrchr(log, '/') : NULL;
    char *folder = slash ? strndup(log, (size_t)(slash - log)) : NULL;
    const int n = folder ? scandir(folder, &found, of_host, alphasort) : 0;
    if (n > 0 && !(r->hosts = calloc((size_t)n, sizeof *r->hosts)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (int i = 0; i < n; i++) {
        char *path = status ? NULL : dl_path_join(folder, found[i]->d_name);
        if (path && r->hosts && run_host_is_of(path, log)) {
            r->hosts[r->n_hosts++] = path;
            path = NULL;
        }
        free(path);
        free(found[i]);
    }
    free(found);
    free(folder);
    if (!r->log && r->hosts && r->n_hosts) {
        r->log = r->hosts[0];
        memmove(r->hosts, r->hosts + 1, --r->n_hosts * sizeof *r->hosts);
    }
    return status;
}

static uint64_t written(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

bool run_hosts_overlap(const char *a, const char *b)
{
    const uint64_t from_a = recorded_from(a), from_b = recorded_from(b);
    return from_a && from_b && from_a <= written(b) && from_b <= written(a);
}

devlog_status run_join_hosts(run_inputs *in, size_t from, const char *folder, devlog_error *err)
{
    size_t last = from, n = from;
    for (size_t i = from; i < in->n; i++) {
        const run_input *r = &in->items[i];
        if (r->report || !r->log || !run_is_host_log(r->log)) return DEVLOG_OK;
        if (written(r->log) > written(in->items[last].log)) last = i;
    }
    if (in->n < from + 2) return DEVLOG_OK;
    run_input *whole = &in->items[last];
    const run_input none = {0};
    whole->hosts = calloc(in->n - from, sizeof *whole->hosts);
    if (!whole->hosts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = from; i < in->n; i++) {
        run_input *r = &in->items[i];
        if (r == whole || !run_hosts_overlap(r->log, whole->log)) continue;
        whole->hosts[whole->n_hosts++] = r->log;
        free(r->name);
        *r = none;
    }
    for (size_t i = from; i < in->n; i++)
        if (in->items[i].name) in->items[n++] = in->items[i];
    in->n = n;
    if (n > from + 1) return DEVLOG_OK;
    free(in->items[from].name);
    in->items[from].name = strdup(folder);
    return in->items[from].name ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
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
