/* What an op report has found, for a person. */
#include <string.h>

#include "ops/op_job.h"
#include "report/decode_table.h"

static void line(dl_str *out, uint64_t n, const char *text)
{
    char digits[DL_GROUPED_SIZE];
    if (n) dl_str_fmt(out, "  %12s  %s\n", dl_u64_grouped(digits, n), text);
}

static void ms(dl_str *out, const char *what, uint64_t ns)
{
    char digits[DL_GROUPED_SIZE];
    dl_str_fmt(out, "  %-28s %16s ns\n", what, dl_u64_grouped(digits, ns));
}

/* What a log or a name says is shown, not obeyed by the terminal. */
static void detail(dl_str *out, const char *text)
{
    dl_str_add(out, "                ");
    dl_str_shown(out, text, strlen(text));
    dl_str_char(out, '\n');
}

static void troubles(const op_log *log, dl_str *out)
{
    for (int i = 0; i < OP_TROUBLES; i++) {
        if (!log->found[i]) continue;
        line(out, log->found[i], op_trouble_text((op_trouble)i));
        for (int k = 0; k < OP_DETAILS && log->details[i][k]; k++)
            detail(out, log->details[i][k]);
    }
}

static void stitched(const op_job *j, dl_str *out)
{
    const op_stitch *s = &j->stitch;
    char digits[DL_GROUPED_SIZE];
    if (!j->has_host && !s->host)
        dl_str_add(out, "No op log was found: every launch of the device log is a row of its own.\n");
    if (!s->decode) dl_str_add(out, "No device log was found: the report has host data only.\n");
    if (s->runs_differ) {
        dl_str_add(out, "The two runs did not do the same: ");
        dl_str_shown(out, s->difference, strlen(s->difference));
        dl_str_add(
            out,
            ". The report is of the run with device profiling alone; its host times include the download "
            "of device data.\n");
    }
    if (s->launches_of_other_runs)
        dl_str_fmt(
            out,
            "%s launches in the device log are of another run (%016llx, the op log is of %016llx): not "
            "stitched, left out.\n",
            dl_u64_grouped(digits, s->launches_of_other_runs), (unsigned long long)s->other_run,
            (unsigned long long)(s->device ? s->device->run : 0));
    line(out, s->launches_missing, "launches that the op log has and the device log has not");
    line(out, s->launches_twice,
         "launches that are in the device log twice, to the cycle; one of both is left out");
    line(out, s->launches_with_other_cores,
         "launches with other cores in the device log than were launched; kept, marked");
    line(out, s->ops_not_recorded, "ops that launched nothing in this periodic capture, left out");
    line(out, s->ops_without_device, "ops launched programs and have no device data; kept, marked");
    line(out, s->launches_without_op, "launches that no op asked for; kept, marked");
    line(out, s->launches_without_ids,
         "of them in a log that carries no ids (styles L0, L2): never joined by order");
    line(out, s->launches_of_unknown_ops, "launches of ops that are not in the op log; kept, marked");
    line(out, s->contradictions,
         "launches whose op is another one in the op log; the device's word is taken");
    line(out, j->counts.points_left_out,
         "signposts and steps: the reference's columns have no place for them");
    line(out, j->counts.tensors_left_out, "tensors of ops with more than 255 inputs or outputs, left out");
    line(out, j->counts.damaged, "lines of the op log that could not be read to their end");
}

void op_job_describe(const op_job *j, bool colour, dl_str *out)
{
    const op_report_counts *c = &j->counts;
    char a[DL_GROUPED_SIZE], b[DL_GROUPED_SIZE], d[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%s ops, %s rows with device data of an op, %s launches in the device log.\n",
               dl_u64_grouped(a, c->ops), dl_u64_grouped(b, c->ops_with_device),
               dl_u64_grouped(d, j->stitch.launches));
    if (c->host_ns) ms(out, "host, inside ops", c->host_ns);
    if (c->fw_ns) ms(out, "device FW", c->fw_ns);
    if (c->overlap_ns) ms(out, "  of it beside another", c->overlap_ns);
    if (c->kernel_ns) ms(out, "device kernels", c->kernel_ns);
    dl_warm_up_describe(&j->selected.warm_up, "  ", out);
    stitched(j, out);
    troubles(&j->host, out);
    troubles(&j->device, out);
    if (j->decode) {
        dl_str_add(out, "Device log: ");
        dl_report_losses(dl_decode_losses(j->decode), colour, out);
    }
}
