/* One op report of a folder of tt-metal's. */
#include "tt_metal/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/decode_table.h"
#include "tt_metal/noc_zones.h"
#include "tt_metal/tell.h"
#include "tt_metal/zones.h"

static void progressed(void *ctx, uint64_t taken, uint64_t size)
{
    const tt_job *j = ctx;
    if (j->o->progress) j->o->progress(j->o->progress_ctx, j->input, taken, size, j->host.n_ops);
}

/* A file beside the others that cannot be opened is no reason to have no report. */
static devlog_status without(tt_job *j, devlog_status status, const devlog_error *err)
{
    if (!status || status == DEVLOG_ERR_MEMORY) return status;
    tt_found_add(&j->found, TT_STOPPED, "%s", err->text);
    return DEVLOG_OK;
}

static devlog_status read_host(tt_job *j, devlog_error *err)
{
    const tt_files *f = j->o->files;
    const tt_progress progress = {progressed, j};
    devlog_status status = DEVLOG_OK;
    if (!f->data && !f->times) {
        tt_found_add(&j->found, TT_DEVICE_ONLY, "%s", f->folder);
        return status;
    }
    if (f->data) {
        j->input = f->data;
        status = tt_host_read_data(&j->host, f->data, &progress, err);
        if (!status && !j->host.messages) tt_found_add(&j->found, TT_NO_OPS_DATA, "%s is empty", f->data);
    } else {
        tt_found_add(&j->found, TT_NO_OPS_DATA, "%s", f->folder);
    }
    if (status) return status;
    if (f->times) {
        j->input = f->times;
        status = tt_host_read_times(&j->host, f->times, &progress, err);
    } else {
        tt_found_add(&j->found, TT_NO_OPS_TIMES, "%s", f->folder);
    }
    return status;
}

/* Launches are numbered as the device log has them, where there is one: the C++ report leaves out those of the runtime
 * itself. */
static bool takes_the_log(const tt_job_options *o)
{
    const op_selection *s = o->selection;
    return o->device_log || (s && op_select_by_order(s));
}

/* What a device log says besides: ends that are missing. */
static void look_at_log(tt_job *j)
{
    const dl_losses *l = dl_decode_losses(j->execs.decode);
    const char *detail = l->details[DL_SKIPS + DL_FOUND_UNPAIRED_START][0];
    tt_found_amount(&j->found, TT_ENDS, l->found[DL_FOUND_UNPAIRED_START], detail ? detail : "");
}

static devlog_status read_zones(tt_job *j, devlog_error *err)
{
    const tt_files *f = j->o->files;
    const char *const paths[] = {f->zones, f->new_zones};
    tt_zones *z = tt_zones_new(&j->found);
    devlog_status status = z ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (int i = 0; i < 2 && !status; i++)
        if (paths[i]) status = without(j, tt_zones_read(z, paths[i], err), err);
    tt_zones_free(z);
    return status;
}

static devlog_status read_device(tt_job *j, devlog_error *err)
{
    const tt_files *f = j->o->files;
    const char *log = j->o->device_log ? j->o->device_log : f->log;
    const tt_progress progress = {progressed, j};
    if (j->o->no_device) return DEVLOG_OK;
    devlog_status status = tt_nocs_read(&j->execs.nocs, f->folder, &j->found, err);
    if (!status) status = read_zones(j, err);
    if (!status && f->sync) status = without(j, tt_sync_read(&j->execs.sync, f->sync, &j->found, err), err);
    if (status) return status;
    if (f->report && !(takes_the_log(j->o) && log)) {
        j->input = f->report;
        status = tt_execs_read_report(&j->execs, f->report, &progress, err);
        j->input = log;
        if (status || !j->execs.no_report || !log)
            return status || !log ? status
                                  : without(j, tt_execs_read_rows(&j->execs, log, &progress, err), err);
    }
    if (log) {
        const dl_decode_options options = {.no_samples = true,
                                           .scratch = j->o->output,
                                           .progress = j->o->progress,
                                           .progress_ctx = j->o->progress_ctx};
        status = tt_execs_read_log(&j->execs, log, &options, err);
        if (!status) look_at_log(j);
        return status;
    }
    tt_found_add(&j->found, TT_NO_DEVICE_FILE, "%s", f->folder);
    return DEVLOG_OK;
}

static devlog_status flush(void *ctx, devlog_error *err)
{
    (void)err;
    dl_file_flush(ctx);
    return DEVLOG_OK;
}

/* The report's name with another beginning. */
static char *path_of(const tt_job *j, const char *instead, const char *ending)
{
    static const char report[] = "ops_perf_results";
    dl_str name = {0};
    const char *at = instead ? strstr(j->o->name, report) : NULL;
    if (at) {
        dl_str_add_n(&name, j->o->name, (size_t)(at - j->o->name));
        dl_str_add(&name, instead);
        dl_str_add(&name, at + sizeof report - 1);
    } else {
        dl_str_add(&name, instead ? instead : j->o->name);
    }
    dl_str_add(&name, ending);
    char *path = name.failed ? NULL : dl_path_join(j->o->output, name.text);
    dl_str_free(&name);
    return path;
}

typedef enum written { WRITE_REPORT, WRITE_GAPS, WRITE_NOC_ZONES } written;

static devlog_status write_one(tt_job *j, dl_file_set *files, const char *path, written what,
                               devlog_error *err)
{
    if (!path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_file_writer w;
    devlog_status status = dl_file_create(&w, path, err);
    if (status) return status;
    status = what == WRITE_GAPS ? tt_gaps_write(&j->execs.gaps, &w.buffer, flush, &w, err)
             : what == WRITE_NOC_ZONES
                 ? tt_noc_zones_write(&j->join, &w.buffer, flush, &w, err)
                 : tt_report_write(&j->join, &j->o->report, &w.buffer, flush, &w, &j->counts, err);
    if (!status) return dl_file_set_take(files, &w, err);
    dl_file_abandon(&w);
    return status;
}

/* What the host knows of a selection, and the part of a device log that it needs. */
static devlog_status select_by_host(tt_job *j, const op_selection *s, bool whole, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (op_select_by_host(&s->host)) status = tt_select(&j->selected, &j->host, &s->host, err);
    if (!status && !whole && !j->o->no_device)
        status = tt_part_make(&j->part, &j->host, s, &j->selected, err);
    j->execs.part = &j->part;
    return status;
}

static devlog_status select_rows(tt_job *j, const op_selection *s, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    dl_filter filter = s->filter;
    j->selected.warm_up.by_rule = s->skip_warm_up;
    if (op_select_by_order(s))
        status = tt_select_warm_up(&j->selected.warm_up, &j->execs, s->filter.skip_launches, err);
    op_selected_apply(&j->selected, op_select_by_host(&s->host), &filter);
    return status ? status : tt_select_rows(&j->join, s, &j->selected, &filter, err);
}

/* The report and what stands beside it, or nothing. */
static devlog_status write_report(tt_job *j, devlog_error *err)
{
    dl_file_set files = {0};
    bool gaps = j->execs.gaps.n > 0 && !j->o->selection; /* which are of the whole run */
    j->report_path = path_of(j, NULL, j->o->report.json ? ".json" : ".csv");
    if (gaps) j->gaps_path = path_of(j, "per_core_op_to_op_times", ".csv");
    const bool zones = j->execs.nocs.n_zones > 0;
    if (zones) j->zones_path = path_of(j, "noc_zones", ".csv");
    devlog_status status = write_one(j, &files, j->report_path, WRITE_REPORT, err);
    if (!status && gaps) status = write_one(j, &files, j->gaps_path, WRITE_GAPS, err);
    if (!status && zones) status = write_one(j, &files, j->zones_path, WRITE_NOC_ZONES, err);
    if (!status) return dl_file_set_commit(&files, err);
    dl_file_set_abandon(&files);
    return status;
}

/* *enough: false when more of the device log must be read than the part that was, and nothing was written. */
static devlog_status make_report(tt_job *j, bool whole, bool *enough, devlog_error *err)
{
    const op_selection *s = j->o->selection;
    *enough = true;
    devlog_status status = dl_folder_make(j->o->output, err);
    if (!status) status = tt_host_begin(&j->host, &j->found, j->o->output, err);
    tt_execs_begin(&j->execs, &j->found, j->o->output);
    if (!status) status = read_host(j, err);
    if (!status && s) status = select_by_host(j, s, whole, err);
    if (!status) status = read_device(j, err);
    if (!status) status = tt_join_make(&j->join, &j->host, &j->execs, j->o->output, err);
    if (!status && s) status = select_rows(j, s, err);
    /* What there is, when what was asked for is not there, is known only of all of it. */
    if (j->part.any &&
        (status == DEVLOG_ERR_NOT_FOUND || (!status && !tt_part_is_enough(&j->part, &j->join)))) {
        *enough = false;
        return DEVLOG_OK;
    }
    if (!status) tt_tell_rows(&j->join, s != NULL, j->part.any && !j->execs.from_report);
    if (!status) status = write_report(j, err);
    if (!status && tt_kept_changed(&j->execs.lines))
        tt_found_add(&j->found, TT_STOPPED, "%s was changed while it was read", j->o->files->report);
    return status;
}

devlog_status tt_job_run(tt_job *job, const tt_job_options *options, devlog_error *err)
{
    *job = (tt_job){.o = options};
    size_t there = dl_folder_there(options->output);
    bool enough;
    devlog_status status = make_report(job, false, &enough, err);
    if (!status && !enough) {
        tt_job_free(job);
        *job = (tt_job){.o = options};
        status = make_report(job, true, &enough, err);
    }
    if (status) dl_folder_unmake(options->output, there);
    return status;
}

void tt_job_free(tt_job *j)
{
    tt_join_free(&j->join);
    tt_part_free(&j->part);
    op_selected_free(&j->selected);
    tt_execs_free(&j->execs);
    tt_host_free(&j->host);
    tt_found_free(&j->found);
    free(j->report_path);
    free(j->gaps_path);
    free(j->zones_path);
}

bool tt_job_lost(const tt_job *j)
{
    return tt_found_any(&j->found) || (j->execs.decode && dl_losses_any(dl_decode_losses(j->execs.decode)));
}

static void total(dl_str *out, const char *what, uint64_t ns)
{
    char digits[DL_GROUPED_SIZE];
    if (ns) dl_str_fmt(out, "  %-28s %16s ns\n", what, dl_u64_grouped(digits, ns));
}

/* Tables that are large and in memory, which they would not be in a folder with room. */
static void describe_memory(const tt_job *j, dl_str *out)
{
    enum { MUCH = 16 * 1024 * 1024 };
    const dl_big *tables[] = {&j->execs.big_items,          &j->execs.big_cycles, &j->execs.counters.pieces,
                              &j->execs.dispatch.big_marks, &j->execs.gaps.big,   &j->join.big_rows};
    size_t bytes = j->execs.scattered;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!tables[i]->file) bytes += tables[i]->bytes;
    if (bytes < MUCH) return;
    dl_str_fmt(
        out,
        "Tables of %zu MiB were in memory, as there is no room for them in %s, or its file system promises none%s.\n",
        bytes / 1024 / 1024, j->o->output,
        j->execs.scattered <= bytes / 2 ? ""
        : j->execs.all_places
            ? "; most are of cores, which do not come one after the other in this log, nor launches one after the other"
            : "; most are of cores, which do not come one after the other in this log");
}

void tt_job_describe(const tt_job *j, bool colour, dl_str *out)
{
    char a[DL_GROUPED_SIZE], b[DL_GROUPED_SIZE], c[DL_GROUPED_SIZE], d[DL_GROUPED_SIZE];
    const bool all = !j->o->selection;
    dl_str_fmt(out, "%s ops of tt-metal's host, %s signposts, %s replays of traces",
               dl_u64_grouped(a, j->host.n_ops), dl_u64_grouped(b, j->host.n_signposts),
               dl_u64_grouped(c, j->host.n_replays));
    if (all) dl_str_fmt(out, "; %s programs ran on devices", dl_u64_grouped(d, j->execs.n));
    if (all && j->execs.without_id)
        dl_str_fmt(out, " for it, and %s for the runtime itself", dl_u64_grouped(a, j->execs.without_id));
    dl_str_fmt(out, ".\n%s rows%s, %s of them with device data of an op.\n",
               dl_u64_grouped(a, j->counts.rows), all ? "" : " of what is selected",
               dl_u64_grouped(b, j->join.with_device));
    total(out, "device FW", j->counts.fw_ns);
    total(out, "device kernels", j->counts.kernel_ns);
    dl_warm_up_describe(&j->selected.warm_up, "  ", out);
    tt_found_describe(&j->found, out);
    describe_memory(j, out);
    if (j->execs.decode) {
        const dl_losses *l = dl_decode_losses(j->execs.decode);
        dl_str_add(out, j->part.any ? "Device log, what is selected of it: " : "Device log: ");
        if (j->part.any)
            dl_report_losses_of_part(l, colour, out);
        else
            dl_report_losses(l, colour, out);
    } else if (!tt_found_any(&j->found)) {
        dl_str_add(out, "Nothing was lost.\n");
    }
}
