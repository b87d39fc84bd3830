/* A report from its input to its sections. See report_job.h. */
#include "answers/report_job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/run_select.h"

void report_job_free(report_job *j)
{
    answer_free(&j->a);
    rules_free(j->rules);
    if (j->has_run) answer_run_free(&j->run);
    run_log_free(j->log);
    causes_saves_free(&j->saves);
    causes_reading_free(&j->causes);
    memory_job_free(&j->memory);
    op_table_free(&j->table);
    run_inputs_free(&j->in);
    dl_str_free(&j->troubles);
}

/* The log of a run, with zones of host code of its programs. */
static devlog_status read_logs(report_job *j, const run_input *in, const answer_run *r, bool made,
                               const dl_filter *parts, devlog_error *err)
{
    const char **paths = malloc((in->n_hosts + 1) * sizeof *paths);
    if (!paths) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    paths[0] = in->log;
    for (size_t i = 0; i < in->n_hosts; i++)
        paths[i + 1] = in->hosts[i];
    const devlog_status status = run_log_read(&j->log, paths, in->n_hosts + 1, r, made, parts, err);
    free(paths);
    return status;
}

/* From an op report. It numbers ops; which launches were theirs stands in the log, or their times tell. Where neither does, launches
 * have the numbers of their ops. */
static devlog_status read_table(report_job *j, const run_input *in, const report_options *o,
                                devlog_error *err)
{
    answer_run_options how = {.selection = o->selection, .by_fw = o->by_fw, .touched = o->touched};
    op_selection rest = *o->selection;
    run_touched asked = {0};
    bool told = false;
    devlog_status status = op_table_read_wide(&j->table, in->report, err);
    if (!status) status = run_input_call(in, &j->table, err);
    if (!status && rest.filter.n_launches && in->log && !o->touched) {
        devlog_error why = {0};
        status = run_launches_asked(&asked, &told, in->log, &rest.filter, &why);
        if (told || op_table_is_apart(&j->table)) {
            rest.filter.n_launches = 0;
            how.selection = &rest;
            how.touched = &asked;
            *err = why;
        } else if (status == DEVLOG_ERR_NOT_FOUND) {
            status = DEVLOG_OK; /* the report may have launches that the log lost */
        } else if (status) {
            *err = why;
        }
    }
    if (!status) status = answer_run_make(&j->run, &j->table, &how, err);
    if (!status && how.touched == &asked && !j->run.n_ops) {
        answer_run_free(&j->run);
        status = op_select_nothing(o->selection, err);
    }
    run_touched_free(&asked);
    j->has_run = !status;
    return status;
}

/* From an op report, with what a log beside it adds. */
static devlog_status read_report(report_job *j, const run_input *in, const report_options *o,
                                 devlog_error *err)
{
    devlog_status status = j->has_run ? DEVLOG_OK : read_table(j, in, o, err);
    if (status || !in->log) return status;
    return j->has_begun ? run_log_end(j->log, err) : read_logs(j, in, &j->run, false, o->parts, err);
}

/* From a log alone: its launches. Where not all of them are wanted, it is read once more for the zones of those that are. */
static devlog_status read_log(report_job *j, const run_input *in, answer_run_options *o,
                              const dl_filter *parts, devlog_error *err)
{
    const char *log = in->log;
    devlog_status status = j->has_begun ? run_log_end(j->log, err) : read_logs(j, in, NULL, false, NULL, err);
    o->made = true;
    if (!status) status = run_log_no_rows(j->log, log, in->n_hosts + 1, err);
    if (status == DEVLOG_ERR_FORMAT) {
        const devlog_error as_log = *err;
        status = dl_fail(err, status, "%s is neither an op report nor a device log or capture (%s)", log,
                         as_log.text);
    }
    if (!status) status = op_table_new(&j->table, log, err);
    if (!status) status = run_log_rows(j->log, &j->table, &o->cycles, err);
    if (!status) status = answer_run_make(&j->run, &j->table, o, err);
    j->has_run = !status;
    if (status || (!j->run.left_out && !parts)) return status;
    if (strcmp(log, "-") == 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "a selection wants a log that is a file: standard input can be read once");
    run_log_free(j->log);
    j->log = NULL;
    /* Through filters launches have other numbers: then they are known by their ids. */
    return read_logs(j, in, &j->run, !parts, parts, err);
}

/* Where kernels recorded what they waited for, the log is read once more for why. */
static devlog_status read_causes(report_job *j, const char *log, devlog_error *err)
{
    struct stat st;
    if (j->run.left_out || !run_log_has_waits(j->log) || stat(log, &st) != 0 || !S_ISREG(st.st_mode))
        return DEVLOG_OK;
    devlog_status status = causes_read(&j->causes, log, err);
    if (status) return status;
    j->run.causes = &j->causes.sums;
    j->run.saves = &j->saves;
    return causes_find_saves(&j->saves, j->causes.log, j->causes.d, run_log_op_of, j->log, err);
}

/* The buffers of the run in a folder, where its log of ops has any. */
static devlog_status read_memory(report_job *j, const run_input *in, const char *before, devlog_error *err)
{
    struct stat st;
    const char *path = in->folder ? in->folder : in->name;
    char *log = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? memory_log_in(path) : NULL;
    const bool wanted = log && memory_log_has_buffers(log);
    devlog_status status = wanted ? memory_job_read(&j->memory, log, err) : DEVLOG_OK;
    if (!status && wanted && in->folder) status = memory_job_call(&j->memory, in->name, err);
    if (!status && wanted) {
        j->run.memory = &j->memory.run;
        j->lost |= j->memory.lost;
        memory_job_troubles(&j->memory, before, &j->troubles);
    }
    free(log);
    return status;
}

static devlog_status read_input(report_job *j, const report_options *o, const char *before, devlog_error *err)
{
    const run_input *in = &j->in.items[0];
    answer_run_options how = {.selection = o->selection, .by_fw = o->by_fw, .touched = o->touched};
    devlog_status status = in->report ? read_report(j, in, o, err) : read_log(j, in, &how, o->parts, err);
    if (status) return status;
    if (j->log) answer_run_add_log(&j->run, j->log);
    if (j->log && !o->parts) status = read_causes(j, in->log, err);
    if (status) return status;
    status = read_memory(j, in, before, err);
    if (status) return status;
    run_input_doubts(in, before, &j->troubles);
    if (in->report) j->lost |= op_table_troubles(&j->table, before, &j->troubles);
    j->lost |= in->lost || (j->log && (run_log_lost(j->log) || run_log_violated(j->log)));
    j->run.name = in->name;
    j->run.folder = in->folder;
    return DEVLOG_OK;
}

answer_wishes report_job_wishes(const report_job *j, const report_options *o)
{
    return (answer_wishes){
        .group = o->group, .sort = o->sort, .peaks = &j->peaks, .rules = j->rules, .top = o->top};
}

devlog_status report_job_begin(report_job *j, const report_options *o, dl_decode *decode, bool *takes_runs,
                               devlog_error *err)
{
    const run_input *in = &j->in.items[0];
    devlog_status status = rules_read(&j->rules, o->rules, o->thresholds, err);
    *takes_runs = in->log && !in->n_hosts && !o->parts;
    if (status || !*takes_runs) return status;
    if (in->report) status = read_table(j, in, o, err);
    if (!status) status = run_log_begin(&j->log, decode, j->has_run ? &j->run : NULL, err);
    j->has_begun = !status;
    return status;
}

dl_run_sink report_job_runs(report_job *j)
{
    return run_log_runs(j->log);
}

devlog_status report_job_read(report_job *j, const report_options *o, const char *before, devlog_error *err)
{
    devlog_status status = j->rules ? DEVLOG_OK : rules_read(&j->rules, o->rules, o->thresholds, err);
    if (!status) status = read_input(j, o, before, err);
    const flops_options flops = {.table = o->ops_table, .board = o->board, .dram = o->dram};
    if (!status) status = flops_apply(&j->run, &flops, &j->peaks, err);
    return run_inputs_failed(&j->in, status, err);
}

devlog_status report_job_run(report_job *j, const char *path, const report_options *o, const char *before,
                             devlog_error *err)
{
    devlog_status status = run_inputs_one(&j->in, path, err);
    if (!status) status = report_job_read(j, o, before, err);
    const answer_wishes wishes = report_job_wishes(j, o);
    return status ? status : answer_make(&j->a, &j->run, &wishes, err);
}
