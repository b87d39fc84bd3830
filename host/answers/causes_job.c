/* Causes of a run from its input to their sums. See causes_job.h. */
#include "answers/causes_job.h"

#include <stdint.h>

void causes_job_free(causes_job *j)
{
    answer_free(&j->a);
    causes_reading_free(&j->reading);
    op_selected_free(&j->selected);
    run_inputs_free(&j->in);
}

devlog_status causes_job_read(causes_job *j, const char *path, const op_selection *selection,
                              const char *elf_folder, devlog_error *err)
{
    devlog_status status = run_inputs_one(&j->in, path, err);
    if (status) return status;
    char *log = j->in.items[0].log;
    if (!log)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%s is an op report, which says nothing of waits: name a capture or a device log",
                       path);
    j->path = log;
    j->filter = selection->filter;
    status = run_select(&j->selected, selection, &j->filter, &log, 1, err);
    if (status) return status;
    status = causes_read_some(&j->reading, log, &j->filter, elf_folder, err);
    return status ? status : dl_losses_no_rows(dl_decode_losses(j->reading.d), log, 1, err);
}

devlog_status causes_job_answer(causes_job *j, size_t top, devlog_error *err)
{
    if (!j->reading.sums.n_launches)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s has no launch in it", j->path);
    const devlog_status status = answer_begin(&j->a, err);
    return status ? status : causes_answer(&j->a, &j->reading.sums, top, err);
}
