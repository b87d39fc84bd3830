/* Rows of a report of tt-metal's folder that a selection leaves. Not for joining (join.c) and for what is selected
 * (select.c). */
#include <stdlib.h>

#include "tt_metal/select_rows.h"

/* What the C++ report has for the duration of an entry's firmware. */
static uint64_t duration_of(tt_execs *e, const tt_exec *x, size_t column)
{
    tt_cell cells[1024];
    size_t n = 0;
    int64_t value;
    if (x->len) tt_execs_cells(e, x, cells, 1024, &n);
    return column < n && tt_perf_int(cells[column], &value) && value >= 0 ? (uint64_t)value : DL_WARM_UP_NONE;
}

/* Entries stand device by device. */
devlog_status tt_select_warm_up(dl_warm_up *w, tt_execs *e, uint64_t first, devlog_error *err)
{
    if (e->decode)
        return dl_warm_up_find(w, dl_decode_launches(e->decode), dl_decode_tables(e->decode), first, err);
    dl_warm_launch *all = malloc((e->n + 1) * sizeof *all);
    bool ok = all != NULL;
    size_t column = 0;
    while (column < e->columns.n && strcmp(e->columns.names[column], "DEVICE FW DURATION [ns]") != 0)
        column++;
    for (size_t i = 0, to; i < e->n && ok; i = to) {
        const uint32_t device = tt_execs_at(e, i)->device;
        for (to = i; to < e->n && tt_execs_at(e, to)->device == device; to++) {
            const tt_exec *x = tt_execs_at(e, to);
            all[to - i] = (dl_warm_launch){x->start, duration_of(e, x, column), e->sorted[to]};
        }
        ok = dl_warm_up_add(w, device, all, to - i, first);
    }
    free(all);
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

typedef struct chooser {
    const tt_join *j;
    dl_filter filter; /* without what is picked */
    const dl_filter *picks;
} chooser;

/* An entry as the decoder knows launches. */
static dl_launch launch_of(const chooser *c, uint32_t exec)
{
    const tt_execs *e = c->j->execs;
    const tt_exec *x = &e->items[exec];
    if (e->decode) return dl_decode_launches(e->decode)->items[x->cycles];
    return (dl_launch){.run_host_id = x->id,
                       .trace_id = x->trace == TT_NONE ? DL_NO_ID : x->trace,
                       .trace_counter = x->session == TT_NONE ? DL_NO_ID : x->session,
                       .number = exec,
                       .has_ids = true,
                       .repeat = 1};
}

static bool exec_is_kept(const chooser *c, const tt_row *r)
{
    const tt_exec *x = &c->j->execs->items[r->exec];
    dl_launch l = launch_of(c, r->exec);
    /* What the host knows of traces is known also where the log has no ids of them. */
    if (r->trace != TT_NONE) l.trace_id = r->trace;
    if (r->session != TT_NONE) l.trace_counter = r->session;
    return dl_filter_in(c->filter.chips, c->filter.n_chips, x->device) &&
           dl_filter_launch_of(&c->filter, x->device, &l);
}

/* `first`: when the host asked for the first op whose launch is kept. */
static bool host_row_is_kept(const chooser *c, const tt_row *r, uint64_t first)
{
    const dl_filter *f = &c->filter;
    const tt_op *op = &c->j->host->ops[r->op];
    if (f->n_chips && (op->device == TT_NONE || !dl_filter_in(f->chips, f->n_chips, op->device)))
        return false;
    if (!dl_filter_in(f->launches, f->n_launches, op->id)) return false;
    if (f->n_traces && (r->trace == TT_NONE || !dl_filter_in(f->traces, f->n_traces, r->trace))) return false;
    if (f->n_sessions && (r->session == TT_NONE || !dl_filter_in(f->sessions, f->n_sessions, r->session)))
        return false;
    return !(f->skip_launches || f->n_skips) || r->time >= first;
}

static bool is_picked(const chooser *c, const tt_row *r)
{
    if (r->op == TT_NONE) {
        const tt_exec *x = &c->j->execs->items[r->exec];
        return dl_filter_picks(c->picks, x->id, x->device, r->session == TT_NONE ? 0 : r->session);
    }
    const tt_op *op = &c->j->host->ops[r->op];
    const bool replayed = op->trace != TT_NONE && tt_host_trace(c->j->host, op->device, op->trace);
    const uint32_t session = r->session != TT_NONE ? r->session : replayed ? DL_FILTER_CAPTURE : 0;
    return dl_filter_picks(c->picks, op->id, op->device, session);
}

/* Only where numbers are wanted: it takes room for all launches. */
static devlog_status check(const chooser *c, const dl_filter *f, devlog_error *err)
{
    const tt_execs *e = c->j->execs;
    uint32_t chips[DL_MAX_CHIPS] = {0};
    size_t n_chips = 0;
    if (!f->n_chips && !f->n_launches && !f->n_traces && !f->n_sessions && !f->skip_launches)
        return DEVLOG_OK;
    dl_launch *all = calloc(e->n + 1, sizeof *all);
    if (!all) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < e->n; i++) {
        size_t at = 0;
        while (at < n_chips && chips[at] != tt_execs_at(e, i)->device)
            at++;
        if (at == DL_MAX_CHIPS) at--;
        if (at == n_chips) chips[n_chips++] = tt_execs_at(e, i)->device;
        all[i] = launch_of(c, e->sorted[i]);
        all[i].chip = (uint32_t)at;
    }
    devlog_status status = op_select_check(f, all, e->n, chips, err);
    free(all);
    return status;
}

devlog_status tt_select_rows(tt_join *j, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err)
{
    chooser c = {.j = j, .filter = *f, .picks = f};
    c.filter.picks = false;
    const bool by_host = op_select_by_host(&wanted->host);
    uint8_t *keep = calloc(j->n + 1, 1);
    bool ok = keep != NULL;
    uint64_t first = UINT64_MAX;
    devlog_status status =
        ok ? check(&c, &wanted->filter, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    ok = !status;
    for (size_t i = 0; i < j->n && ok; i++) {
        const tt_row *r = &j->rows[j->order[i]];
        tt_join_passed(j, i);
        if (r->point != TT_NONE) {
            keep[i] = !by_host || (r->time >= selected->from && r->time <= selected->to);
            continue;
        }
        if (r->exec == TT_NONE || !is_picked(&c, r) || !exec_is_kept(&c, r)) continue;
        keep[i] = 1;
        if (r->op != TT_NONE && r->time < first) first = r->time;
    }
    uint64_t launches = 0;
    j->with_device = 0;
    for (size_t i = 0; i < j->n && ok; i++) {
        tt_row *r = &j->rows[j->order[i]];
        tt_join_passed(j, i);
        if (r->exec == TT_NONE && r->point == TT_NONE)
            keep[i] = is_picked(&c, r) && host_row_is_kept(&c, r, first);
        r->left_out = !keep[i];
        if (!keep[i]) continue;
        launches += r->point == TT_NONE;
        j->with_device += r->exec != TT_NONE && r->op != TT_NONE;
    }
    if (ok && !launches) status = op_select_nothing(wanted, err);
    free(keep);
    return status;
}
