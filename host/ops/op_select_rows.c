/* Rows of an op report that a selection leaves. Not for making rows (op_rows.c) and for what is selected (select.c). */
#include <stdlib.h>

#include "ops/select.h"
#include "ops/select_rows.h"

static bool host_row_is_kept(const op_stitch *s, const op_row *row, const dl_filter *f, uint32_t first)
{
    const op_log *log = s->device;
    const op_entry *op = row->device_op == DL_NONE ? NULL : &log->ops[row->device_op];
    if (!op || !dl_filter_picks(f, op->id, DL_FILTER_OP, 0)) return false;
    if ((f->skip_launches || f->n_skips) && op->id < first) return false;
    if (f->n_traces || f->n_sessions) return false;
    if (!f->n_chips && !f->n_launches) return true;
    for (uint32_t at = op->launch; at; at = log->launches[at - 1].next) {
        const op_launch *l = &log->launches[at - 1];
        if (dl_filter_in(f->chips, f->n_chips, l->chip) &&
            dl_filter_in(f->launches, f->n_launches, l->launch))
            return true;
    }
    return false;
}

bool op_select_launch(const op_stitch *s, const dl_filter *f, uint32_t launch)
{
    const dl_tables *t = dl_decode_tables(s->decode);
    const dl_launch *l = &dl_decode_launches(s->decode)->items[launch];
    return dl_filter_in(f->chips, f->n_chips, t->chips[l->chip].id) && dl_filter_launch(f, t, l);
}

static devlog_status check(const op_stitch *s, const dl_filter *f, devlog_error *err)
{
    if (!s->decode) return DEVLOG_OK;
    const dl_tables *t = dl_decode_tables(s->decode);
    const dl_launches *launches = dl_decode_launches(s->decode);
    uint32_t chips[DL_MAX_CHIPS] = {0};
    for (uint32_t i = 0; i < t->n_chips; i++)
        chips[i] = t->chips[i].id;
    return op_select_check(f, launches->items, launches->count, chips, err);
}

devlog_status op_select_rows(op_stitch *s, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err)
{
    size_t kept = 0;
    uint32_t first = UINT32_MAX;
    devlog_status status = check(s, &wanted->filter, err);
    if (status) return status;
    if (op_select_by_host(&wanted->host)) {
        s->points_from = (uint32_t)selected->from;
        s->points_to = selected->to < UINT32_MAX ? (uint32_t)selected->to : UINT32_MAX;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        const op_row *row = &s->rows[i];
        op_stitch_passed(s, i);
        if (row->launch == DL_NONE || row->device_op == DL_NONE || !op_select_launch(s, f, row->launch))
            continue;
        if (s->device->ops[row->device_op].id < first) first = s->device->ops[row->device_op].id;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        const op_row *row = &s->rows[i];
        op_stitch_passed(s, i);
        const bool keep =
            row->launch == DL_NONE ? host_row_is_kept(s, row, f, first) : op_select_launch(s, f, row->launch);
        if (keep) s->rows[kept++] = *row;
    }
    s->n_rows = kept;
    return kept ? DEVLOG_OK : op_select_nothing(wanted, err);
}
