/* A diff from its inputs to its judgement. See diff_job.h. */
#include "answers/diff_job.h"

#include <stdlib.h>

void diff_job_free(diff_job *j)
{
    for (size_t i = 0; i < j->n_gates; i++)
        gate_free(&j->gates[i]);
    free(j->gates);
    diff_free(&j->d);
    run_inputs_free(&j->in);
    dl_str_free(&j->troubles);
}

devlog_status diff_job_gates(diff_job *j, const char *const *texts, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    j->gates = calloc(n + 1, sizeof *j->gates);
    if (!j->gates) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    j->n_gates = n;
    for (size_t i = 0; i < n && !status; i++)
        status = gate_parse(&j->gates[i], texts[i], err);
    return status;
}

devlog_status diff_job_add(diff_job *j, const char *path, uint32_t side, devlog_error *err)
{
    return run_inputs_add(&j->in, path, side, err);
}

static devlog_status add_run(diff_job *j, const run_input *r, const char *before, devlog_error *err)
{
    op_table table = {0};
    const char **logs = malloc((r->n_hosts + 1) * sizeof *logs);
    size_t n = 0;
    if (!logs) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (r->log) logs[n++] = r->log;
    for (size_t i = 0; i < r->n_hosts && r->log && run_is_host_log(r->log); i++)
        logs[n++] = r->hosts[i];
    devlog_status status = r->report ? op_table_read_more(&table, r->report, err) : DEVLOG_OK;
    if (!status && r->report) status = run_input_call(r, &table, err);
    if (!status) status = diff_add_run(&j->d, r->side, r->name, r->report ? &table : NULL, logs, n, err);
    if (!status) run_input_doubts(r, before, &j->troubles);
    if (!status && r->report) j->lost |= op_table_troubles(&table, before, &j->troubles);
    j->lost |= r->lost;
    op_table_free(&table);
    free(logs);
    return status;
}

devlog_status diff_job_run(diff_job *j, const diff_job_options *options, const char *before,
                           devlog_error *err)
{
    diff_options o = {.exact = options->exact,
                      .by_fw = options->by_fw,
                      .confidence = options->confidence,
                      .min_share = options->min_share};
    for (size_t i = 0; i < j->in.n; i++) {
        o.runs[j->in.items[i].side]++;
        o.ops |= j->in.items[i].report != NULL;
    }
    devlog_status status = diff_begin(&j->d, &o, err);
    for (size_t i = 0; i < j->in.n && !status; i++)
        status = add_run(j, &j->in.items[i], before, err);
    if (!status) status = diff_finish(&j->d, err);
    for (size_t i = 0; i < j->d.n_runs && !status; i++)
        j->lost |= j->d.runs[i].lost != 0;
    for (size_t i = 0; i < j->n_gates && !status; i++)
        status = gate_judge(&j->gates[i], &j->d, err);
    return run_inputs_failed(&j->in, status, err);
}
