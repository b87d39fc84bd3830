/* Figures of a run. See the header. */
#include "answers/run_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "answers/report_job.h"
#include "base/file.h"
#include "base/settings.h"
#include "ops/op_job.h"

/* Of ops with ids from..to - 1; to 0: of all. */
static double flops_of(const answer_run *r, uint64_t from, uint64_t to)
{
    double sum = NAN;
    for (size_t i = 0; i < r->n_ops; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        if (to && (!(row->has & OP_HAS_ID) || row->id < from || row->id >= to)) continue;
        if (isfinite(r->ops[i].flops)) sum = (isfinite(sum) ? sum : 0) + r->ops[i].flops;
    }
    return sum;
}

devlog_status run_figures_of(run_figures *f, const char *input, devlog_error *err)
{
    static const op_selection all;
    const report_options o = {.selection = &all};
    report_job j = {0};
    *f = (run_figures){.busy = NAN, .memory = NAN, .flops = NAN};
    devlog_status status = run_inputs_one(&j.in, input, err);
    if (!status) status = report_job_read(&j, &o, "", err);
    for (size_t i = 0; !status && !j.run.cycles && i < j.run.n_chips; i++)
        if (!(f->busy >= j.run.chips[i].busy)) f->busy = j.run.chips[i].busy;
    if (!status) f->flops = flops_of(&j.run, 0, 0);
    if (!status && j.run.memory) f->memory = (double)j.run.memory->chip_peak;
    f->lost = j.lost;
    report_job_free(&j);
    return status;
}

/* Of an op report without device data, in a folder of its own. */
static devlog_status flops_in(const char *logs, const char *output, const uint64_t *first, size_t n,
                              double *flops, devlog_error *err)
{
    static const op_selection all;
    op_job job;
    op_table table = {0};
    answer_run run = {0};
    flops_peaks peaks;
    const flops_options by_board = {0};
    const op_job_options o = {
        .logs = logs, .output = output, .name = "report", .no_tar = true, .no_device = true};
    const answer_run_options how = {.selection = &all};
    devlog_status status = op_job_run(&job, &o, err);
    if (!status) status = op_table_read_wide(&table, job.report_path, err);
    bool made = false;
    if (!status) made = !(status = answer_run_make(&run, &table, &how, err));
    if (!status) status = flops_apply(&run, &by_board, &peaks, err);
    for (size_t i = 0; i < n && !status; i++)
        flops[i] = flops_of(&run, first[i], first[i + 1]);
    if (job.report_path) unlink(job.report_path);
    if (made) answer_run_free(&run);
    op_table_free(&table);
    op_job_free(&job);
    return status;
}

devlog_status run_figures_flops(const char *folder, const uint64_t *first, size_t n, double *flops,
                                devlog_error *err)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    char *output = dl_path_join(tmp ? tmp : "/tmp", "devlog-timed-XXXXXX");
    devlog_status status = output ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status && !mkdtemp(output))
        status = dl_fail_errno(err, errno, "cannot make the temporary folder %s", output);
    if (!status) {
        status = flops_in(folder, output, first, n, flops, err);
        rmdir(output);
    }
    free(output);
    return status;
}
