/* Causes of a run from its input to their sums. See causes_job.h. */
#include "answers/causes_job.h"

#include <stdint.h>
#include <stdlib.h>

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
                       "%s: name a capture or a device log: %s, which says nothing of waits", path,
                       j->in.items[0].temporary ? "it has a log of ops" : "it is an op report");
    j->path = log;
    j->selection = selection;
    j->filter = selection->filter;
    status = run_select(&j->selected, selection, &j->filter, &log, 1, err);
    if (status) return run_inputs_failed(&j->in, status, err);
    status = causes_read_some(&j->reading, log, &j->filter, elf_folder, err);
    if (!status) status = dl_losses_no_rows(dl_decode_losses(j->reading.d), log, 1, err);
    return run_inputs_failed(&j->in, status, err);
}

static bool all_chips_are_there(const dl_filter *f, const dl_tables *t)
{
    size_t met = 0;
    for (size_t i = 0; i < f->n_chips; i++) {
        uint32_t k = 0;
        while (k < t->n_chips && !dl_filter_in(&f->chips[i], 1, t->chips[k].id))
            k++;
        met += k < t->n_chips;
    }
    return met == f->n_chips;
}

/* Whether each part of the selection leaves something, and all of them together. */
static devlog_status check_selection(const causes_job *j, devlog_error *err)
{
    const dl_launches *l = dl_decode_launches(j->reading.d);
    const dl_tables *t = dl_decode_tables(j->reading.d);
    const dl_filter *f = &j->selection->filter;
    uint32_t *chips = malloc((t->n_chips + (size_t)1) * sizeof *chips);
    if (!chips) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < t->n_chips; i++)
        chips[i] = t->chips[i].id;
    const bool there = all_chips_are_there(f, t); /* some may be without a launch */
    const devlog_status status = op_select_check(f, l->items, l->count, there ? NULL : chips, err);
    free(chips);
    return status || j->reading.sums.n_launches ? status : op_select_nothing(j->selection, err);
}

devlog_status causes_job_answer(causes_job *j, size_t top, devlog_error *err)
{
    devlog_status status = op_selection_any(j->selection) ? check_selection(j, err) : DEVLOG_OK;
    if (!status && !j->reading.sums.n_launches)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s has no launch in it", j->path);
    if (!status) status = answer_begin(&j->a, err);
    status = run_inputs_failed(&j->in, status, err);
    return status ? status : causes_answer(&j->a, &j->reading.sums, top, err);
}
