/* The trace of a log that is looked at; see trace.h. */
#include "cli/trace.h"

#include "cli/op_names.h"
#include "report/decode_table.h"
#include "report/export.h"

devlog_status cli_trace_write(const cli_trace *t, dl_str *lost, devlog_error *err)
{
    dl_decode *d = NULL;
    dl_view *v = NULL;
    cli_op_names names = {0};
    const dl_decode_options how = {
        .filter = t->shown->filter, .only_input = t->n == 1, .no_samples = true, .keep_meta = true};
    const dl_view_options viewing = {.op_name = cli_op_name, .op_ctx = &names};
    devlog_status status = cli_op_names_read(&names, NULL, t->logs, t->n, err);
    if (!status) status = dl_decode_new(&d, &how, err);
    if (!status) status = dl_view_new(&v, d, &viewing, err);
    if (!status) status = dl_decode_run_sink(d, dl_view_runs(v), err);
    if (!status) status = dl_decode_prepare(d, t->logs, t->n, err);
    for (size_t i = 0; i < t->n && !status; i++)
        status = dl_decode_file(d, t->logs[i], err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) status = dl_losses_no_rows(dl_decode_losses(d), t->logs[0], t->n, err);
    if (!status) status = cli_shown_check(t->shown, d, err);
    if (!status) cli_op_names_tell(&names, d);
    if (!status) status = dl_view_ready(v, err);
    if (!status) status = dl_export_find(t->format)->write(v, t->output, err);
    if (!status && t->command) cli_op_names_say(&names, t->command);
    if (!status && lost && dl_losses_any(dl_decode_losses(d)))
        dl_report_losses(dl_decode_losses(d), false, lost);
    dl_view_free(v);
    dl_decode_free(d);
    cli_op_names_free(&names);
    return status;
}
