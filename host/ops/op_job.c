/* One op report from beginning to end. Not for the words it ends with (op_job_text.c). */
#include "ops/op_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/log/log_write.h"
#include "ops/select_rows.h"
#include "report/bundle.h"

static bool readable(const char *path)
{
    return path && access(path, R_OK) == 0;
}

static char *existing(const char *folder, const char *name)
{
    char *path = dl_path_join(folder, name);
    if (readable(path)) return path;
    free(path);
    return NULL;
}

static const char *const packed[] = {"", ".zst", ".gz", ".xz", ".pack"};
enum { N_PACKED = sizeof packed / sizeof packed[0] };

/* The ending of a packed file; "". */
static const char *packed_as(const char *path)
{
    const size_t n = strlen(path);
    for (size_t k = 1; k < N_PACKED; k++)
        if (n > strlen(packed[k]) && strcmp(path + n - strlen(packed[k]), packed[k]) == 0) return packed[k];
    return packed[0];
}

static char *device_log_in(const char *folder)
{
    static const char *const names[] = {DL_DEVICE_LOG_NAME, DL_CAPTURE_NAME};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < N_PACKED; k++) {
            char name[80];
            snprintf(name, sizeof name, "%s%s", names[i], packed[k]);
            char *path = existing(folder, name);
            if (path) return path;
        }
    }
    return NULL;
}

/* "logs_device" beside "logs", without the slashes that may end it. */
static char *sibling(const char *folder)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    dl_str s = {0};
    dl_str_add_n(&s, folder, n);
    dl_str_add(&s, "_device");
    if (!s.failed) return s.text;
    dl_str_free(&s);
    return NULL;
}

static bool has_logs(const char *folder)
{
    char *device = device_log_in(folder), *ops = device ? NULL : op_log_in(folder);
    const bool any = device || ops;
    free(device);
    free(ops);
    return any;
}

/* Where the logs are: in the folder itself, or, as `devlog run` leaves them, in "logs" and "logs_device" in
 * it. NULL: no memory. */
static char *log_folder(const char *folder)
{
    char *inside = dl_path_join(folder, "logs"), *beside = inside ? sibling(inside) : NULL;
    bool of_a_run = beside && !has_logs(folder) && (has_logs(inside) || has_logs(beside));
    char *found = of_a_run ? inside : strdup(folder);
    if (!of_a_run) free(inside);
    free(beside);
    return found;
}

/* Whether the device log is a periodic capture, whose op log is that of the folder above. */
static bool is_periodic(const char *device_log, const char *ops)
{
    const char *slash = strrchr(device_log, '/');
    char *folder = slash ? strndup(device_log, (size_t)(slash - device_log) + 1) : strdup(".");
    bool above = false;
    char *there = folder ? op_log_of(folder, &above) : NULL;
    struct stat x, y;
    const bool is =
        above && stat(there, &x) == 0 && stat(ops, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    free(there);
    free(folder);
    return is;
}

/* Which files there are. */
static devlog_status find_logs(op_job *j, const op_job_options *o, devlog_error *err)
{
    char *logs = j->folder = log_folder(o->logs);
    if (!logs) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    j->op_log_path = op_log_of(logs, &j->periodic);
    if (o->no_device) {
        if (j->op_log_path) return DEVLOG_OK;
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "no " OP_LOG_NAME
                       " in %s; does the program open an op log (devlog_ops_open), and was it run "
                       "with DEVLOG_OPS=1?",
                       logs);
    }
    char *beside = NULL;
    const char *device = o->device_logs ? o->device_logs : logs;
    j->device_log_path = o->device_log ? strdup(o->device_log) : device_log_in(device);
    if (!j->device_log_path && !o->device_logs) {
        beside = sibling(logs);
        char *there = beside ? device_log_in(beside) : NULL;
        if (there) {
            j->device_log_path = there;
            device = beside;
        }
    }
    if (strcmp(device, logs) != 0) j->device_op_log_path = op_log_in(device);
    free(beside);
    j->periodic = j->op_log_path && j->device_log_path && !j->device_op_log_path &&
                  is_periodic(j->device_log_path, j->op_log_path);
    if (j->op_log_path || j->device_log_path) return DEVLOG_OK;
    struct stat st;
    if (stat(logs, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", logs);
    if (!S_ISDIR(st.st_mode))
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s is a file: give the folder that it is in, with the others of its run", logs);
    return dl_fail(
        err, DEVLOG_ERR_NOT_FOUND,
        "neither " OP_LOG_NAME " nor " DL_DEVICE_LOG_NAME
        " in %s; run the program with DEVLOG_OPS=1 and TT_METAL_DEVICE_PROFILER=1, or by 'devlog run'",
        logs);
}

static devlog_status read_device_log(op_job *j, const op_job_options *o, devlog_error *err)
{
    const dl_decode_options options = {
        .no_samples = true, .scratch = o->output, .progress = o->progress, .progress_ctx = o->progress_ctx};
    devlog_status status = dl_decode_new(&j->decode, &options, err);
    if (!status) status = op_device_new(&j->cycles, j->decode, o->output, err);
    if (!status) status = dl_decode_file(j->decode, j->device_log_path, err);
    if (!status) status = dl_decode_finish(j->decode, err);
    return status;
}

static devlog_status flush(void *ctx, devlog_error *err)
{
    (void)err;
    dl_file_flush(ctx);
    return DEVLOG_OK;
}

static devlog_status write_report(op_job *j, const op_job_options *o, dl_file_set *files, devlog_error *err)
{
    dl_file_writer w;
    devlog_status status = dl_file_create(&w, j->report_path, err);
    if (status) return status;
    status = op_report_write(&j->stitch, &o->report, &w.buffer, flush, &w, &j->counts, err);
    if (!status) return dl_file_set_take(files, &w, err);
    dl_file_abandon(&w);
    return status;
}

static devlog_status write_tar(op_job *j, dl_file_set *files, devlog_error *err)
{
    const char *log = j->device_log_path, *slash = log ? strrchr(log, '/') : NULL;
    const bool two = j->two_runs, capture = log && strncmp(slash ? slash + 1 : log, DL_CAPTURE_NAME,
                                                           strlen(DL_CAPTURE_NAME)) == 0;
    const struct {
        const char *path, *folder, *name;
    } files_there[] = {{j->op_log_path, two ? "logs/" : "", OP_LOG_NAME},
                       {j->device_op_log_path, "logs_device/", OP_LOG_NAME},
                       {log, two ? "logs_device/" : "", capture ? DL_CAPTURE_NAME : DL_DEVICE_LOG_NAME}};
    dl_file_writer w;
    devlog_status status = dl_file_create(&w, j->tar_path, err);
    if (status) return status;
    dl_bundle tar = {.out = &w};
    for (size_t i = 0; i < sizeof files_there / sizeof files_there[0] && !status; i++) {
        char name[80];
        if (!files_there[i].path) continue;
        snprintf(name, sizeof name, "%s%s%s", files_there[i].folder, files_there[i].name,
                 packed_as(files_there[i].path));
        status = dl_bundle_file(&tar, files_there[i].path, name, err);
    }
    if (!status) {
        dl_bundle_close(&tar);
        return dl_file_set_take(files, &w, err);
    }
    dl_file_abandon(&w);
    return status;
}

static char *named(const char *folder, const char *name, const char *extension)
{
    dl_str s = {0};
    dl_str_add(&s, name);
    dl_str_add(&s, extension);
    char *path = s.failed ? NULL : dl_path_join(folder, s.text);
    dl_str_free(&s);
    return path;
}

/* The report and the tar, or neither. */
static devlog_status write_files(op_job *j, const op_job_options *o, devlog_error *err)
{
    dl_file_set files = {0};
    j->report_path = named(o->output, o->name, o->report.json ? ".json" : ".csv");
    j->tar_path = o->no_tar ? NULL : named(o->output, o->name, ".tar");
    if (!j->report_path || (!o->no_tar && !j->tar_path))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = write_report(j, o, &files, err);
    if (!status && !o->no_tar) status = write_tar(j, &files, err);
    if (!status) return dl_file_set_commit(&files, err);
    dl_file_set_abandon(&files);
    return status;
}

/* What the selection means in these logs. */
static devlog_status select_launches(op_job *j, const op_selection *s, op_log *log, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const bool by_host = op_select_by_host(&s->host);
    if (by_host && !log)
        status =
            dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                    "ops and signposts are the host's, and there is no " OP_LOG_NAME " in %s", j->folder);
    else if (by_host)
        status = op_select_log(&j->selected, log, &s->host, err);
    j->selected.warm_up.by_rule = s->skip_warm_up;
    if (!status && op_select_by_order(s) && j->decode)
        status = dl_warm_up_find(&j->selected.warm_up, dl_decode_launches(j->decode),
                                 dl_decode_tables(j->decode), s->filter.skip_launches, err);
    j->filter = s->filter;
    op_selected_apply(&j->selected, by_host, &j->filter);
    return status;
}

/* The log of ops above a periodic capture is that of the run that came last, which need not be the capture's. */
static void drop_another_runs(op_job *j)
{
    const dl_launches *all = dl_decode_launches(j->decode);
    uint32_t others = 0;
    for (uint32_t i = 0; i < all->count && j->host.run; i++)
        others += all->items[i].run && all->items[i].run != j->host.run;
    if (!others || others < all->count) return;
    op_log_free(&j->host);
    j->host = (op_log){.fd = -1};
    free(j->op_log_path);
    j->op_log_path = NULL;
    j->has_host = j->periodic = false;
}

static devlog_status make_report(op_job *j, const op_job_options *o, devlog_error *err)
{
    devlog_status status = dl_folder_make(o->output, err);
    if (status) return status;
    if (j->op_log_path) {
        status = op_log_read_large(&j->host, j->op_log_path, o->output, err);
        j->has_host = true;
    }
    if (!status && j->device_op_log_path) {
        status = op_log_read_large(&j->device, j->device_op_log_path, o->output, err);
        j->two_runs = j->has_host;
    }
    if (!status && j->device_log_path) status = read_device_log(j, o, err);
    if (status) return status;
    if (j->periodic && !o->device_log) drop_another_runs(j);
    op_log *host = j->has_host ? &j->host : NULL, *device = j->device_op_log_path ? &j->device : NULL;
    if (o->selection) status = select_launches(j, o->selection, device ? device : host, err);
    if (status) return status;
    status = op_stitch_make(&j->stitch, host, device, j->decode, j->cycles, o->selection ? &j->filter : NULL,
                            j->periodic, o->output, err);
    if (!status && o->selection)
        status = op_select_rows(&j->stitch, o->selection, &j->selected, &j->filter, err);
    return status ? status : write_files(j, o, err);
}

devlog_status op_job_run(op_job *job, const op_job_options *o, devlog_error *err)
{
    *job = (op_job){.host = {.fd = -1}, .device = {.fd = -1}};
    devlog_status status = find_logs(job, o, err);
    if (status) return status;
    size_t there = dl_folder_there(o->output);
    status = make_report(job, o, err);
    if (status) dl_folder_unmake(o->output, there);
    return status;
}

void op_job_free(op_job *j)
{
    op_stitch_free(&j->stitch);
    op_selected_free(&j->selected);
    op_device_free(j->cycles);
    dl_decode_free(j->decode);
    op_log_free(&j->host);
    op_log_free(&j->device);
    free(j->folder);
    free(j->op_log_path);
    free(j->device_op_log_path);
    free(j->device_log_path);
    free(j->report_path);
    free(j->tar_path);
}

static bool log_lost(const op_log *log)
{
    bool lost = false;
    for (int i = 0; i < OP_TROUBLES; i++)
        lost |= log->found[i] && op_trouble_is_loss((op_trouble)i);
    return lost;
}

bool op_job_lost(const op_job *j)
{
    return log_lost(&j->host) || log_lost(&j->device) || op_stitch_lost(&j->stitch) || j->counts.damaged ||
           j->counts.tensors_left_out || (j->decode && dl_losses_any(dl_decode_losses(j->decode)));
}
