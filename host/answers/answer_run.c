/* The model of a run: which rows of a table are wanted, and what chips, host and points say. See answer_run.h. */
#include "answers/answer_run.h"
#include "answers/run_touched.h"

#include <stdlib.h>

#include "answers/run_parts.h"
#include "base/round.h"
#include "ops/op_filter.h"

static bool is_point(const op_table *t, size_t i, const char *name)
{
    return (t->rows[i].has & OP_IS_POINT) &&
           strcmp(dl_intern_text(t->texts, t->rows[i].code, NULL), name) == 0;
}

/* The rows between the two signposts. */
static devlog_status window(answer_run *r, const op_select_options *o, devlog_error *err)
{
    const op_table *t = r->table;
    size_t from = 0, to = t->n;
    while (o->from && from < t->n && !is_point(t, from, o->from))
        from++;
    if (o->from && from == t->n) return op_filter_no_point(t, o->from, NULL, err);
    if (o->to) {
        to = from;
        while (to < t->n && !is_point(t, to, o->to))
            to++;
        if (to == t->n) return op_filter_no_point(t, o->to, o->from, err);
    }
    r->first = from;
    r->last = to;
    return DEVLOG_OK;
}

static bool in_ranges(const dl_filter_range *ranges, size_t n, double value)
{
    return !n || (value >= 0 && dl_filter_in(ranges, n, dl_u64_of(value)));
}

/* Whether the selection lets a row through; what is left out by order is not judged here. */
static bool is_wanted(const answer_run *r, const op_selection *s, size_t i)
{
    const op_table_row *row = &r->table->rows[i];
    const double *wide = r->table->wide[i].numbers;
    const op_filter ops = {.ops = s->host.ops, .n = s->host.n_ops};
    if (i < r->first || i >= r->last) return false;
    if (s->filter.n_chips &&
        !((row->has & OP_HAS_CHIP) && dl_filter_in(s->filter.chips, s->filter.n_chips, row->chip)))
        return false;
    return dl_filter_in(s->filter.launches, s->filter.n_launches, row->id) &&
           in_ranges(s->filter.traces, s->filter.n_traces, wide[OP_TRACE]) &&
           in_ranges(s->filter.sessions, s->filter.n_sessions, wide[OP_SESSION]) &&
           op_filter_lets(&ops, dl_intern_text(r->table->texts, row->code, NULL));
}

/* How long it ran, as the run counts: NAN when nobody knows. */
static double time_of(const answer_run *r, size_t i)
{
    const op_table_row *row = &r->table->rows[i];
    if (r->by_fw) return row->has & OP_HAS_FW ? (double)row->fw_ns : NAN;
    return row->has & OP_HAS_KERNEL ? (double)row->kernel_ns : NAN;
}

/* ---- Warm-up and the first launches --- */

typedef struct chip_rows {
    uint32_t chip;
    size_t n, cap;
    dl_warm_launch *items; /* number: the row */
} chip_rows;

static chip_rows *rows_of(chip_rows **all, size_t *n, uint32_t chip)
{
    for (size_t i = 0; i < *n; i++)
        if ((*all)[i].chip == chip) return &(*all)[i];
    chip_rows *grown = realloc(*all, (*n + 1) * sizeof *grown);
    if (!grown) return NULL;
    *all = grown;
    grown[*n] = (chip_rows){.chip = chip};
    return &grown[(*n)++];
}

static bool add_launch(chip_rows **all, size_t *n, const answer_run *r, size_t i)
{
    const op_table *t = r->table;
    const double start = answer_start(r, i);
    chip_rows *of = rows_of(all, n, t->rows[i].chip);
    if (!of) return false;
    if (of->n == of->cap) {
        const size_t cap = of->cap ? of->cap * 2 : 256;
        dl_warm_launch *grown = realloc(of->items, cap * sizeof *grown);
        if (!grown) return false;
        of->items = grown;
        of->cap = cap;
    }
    of->items[of->n++] = (dl_warm_launch){
        .start = start >= 0 ? dl_u64_of(start) : i, .duration = t->rows[i].fw_ns, .number = (uint32_t)i};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const dl_warm_launch *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Finds warm-up of each chip; takes out of `wanted` what is left out by order. */
static bool leave_first(answer_run *r, const op_selection *s, uint8_t *wanted)
{
    chip_rows *all = NULL;
    size_t n = 0;
    bool good = true;
    for (size_t i = r->first; i < r->last && good; i++)
        if (wanted[i] && (r->table->rows[i].has & OP_HAS_FW)) good = add_launch(&all, &n, r, i);
    for (size_t i = 0; i < n && good; i++) {
        chip_rows *c = &all[i];
        qsort(c->items, c->n, sizeof *c->items, by_start);
        size_t skip = s->filter.skip_launches < c->n ? (size_t)s->filter.skip_launches : c->n;
        const size_t warm = dl_warm_up_of(c->items + skip, c->n - skip);
        if (s->skip_warm_up) skip += warm;
        for (size_t k = 0; k < skip; k++)
            wanted[c->items[k].number] = 0;
        for (size_t k = 0; k < r->n_chips; k++)
            if (r->chips[k].chip == c->chip) r->chips[k].warm_up = warm;
    }
    for (size_t i = 0; i < n; i++)
        free(all[i].items);
    free(all);
    return good;
}

/* ---- All of it --- */

static bool add_ops(answer_run *r, const uint8_t *wanted)
{
    const op_table *t = r->table;
    r->ops = malloc((t->n + 1) * sizeof *r->ops);
    r->points = malloc((t->n + 1) * sizeof *r->points);
    if (!r->ops || !r->points) return false;
    for (size_t i = r->first; i < r->last; i++) {
        const op_table_row *row = &t->rows[i];
        if (row->has & OP_IS_POINT) {
            r->points[r->n_points++] = (uint32_t)i;
            continue;
        }
        if (!wanted[i]) continue;
        r->ops[r->n_ops++] = (answer_op){.row = (uint32_t)i,
                                         .chips = row->has & (OP_HAS_FW | OP_HAS_KERNEL) ? 1 : 0,
                                         .time = time_of(r, i),
                                         .gap = row->has & OP_HAS_GAP ? (double)row->gap_ns : NAN,
                                         .spread = NAN,
                                         .host = NAN,
                                         .flops = NAN,
                                         .bytes = NAN,
                                         .share = {NAN, NAN, NAN, NAN, NAN, NAN}};
    }
    return true;
}

static uint32_t id_of(double number)
{
    return number >= 0 && number < DL_NO_ID ? (uint32_t)number : DL_NO_ID;
}

/* Numbers that are wanted and not there. */
static devlog_status check_numbers(const answer_run *r, const op_selection *s, devlog_error *err)
{
    const dl_filter *f = &s->filter;
    const op_table *t = r->table;
    uint32_t chips[DL_MAX_CHIPS] = {0};
    size_t n = 0, n_chips = 0;
    if (!f->n_chips && !f->n_launches && !f->n_traces && !f->n_sessions && !f->skip_launches)
        return DEVLOG_OK;
    dl_launch *all = calloc(t->n + 1, sizeof *all);
    if (!all) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < t->n; i++) {
        const op_table_row *row = &t->rows[i];
        if ((row->has & OP_IS_POINT) || !(row->has & OP_HAS_CHIP)) continue;
        size_t at = 0;
        while (at < n_chips && chips[at] != row->chip)
            at++;
        if (at == DL_MAX_CHIPS) at--;
        if (at == n_chips) chips[n_chips++] = row->chip;
        all[n++] = (dl_launch){.chip = (uint32_t)at,
                               .has_ids = true,
                               .run_host_id = row->id,
                               .trace_id = id_of(t->wide[i].numbers[OP_TRACE]),
                               .trace_counter = id_of(t->wide[i].numbers[OP_SESSION])};
    }
    /* Of ops that no row gives a chip, chips and the order of launches are not known. */
    const devlog_status status = n ? op_select_check(f, all, n, chips, err) : DEVLOG_OK;
    free(all);
    return status;
}

static devlog_status nothing(const answer_run *r, const op_selection *s, devlog_error *err)
{
    const op_filter ops = {s->host.ops, s->host.n_ops, "op"};
    const op_table *const tables[] = {r->table};
    devlog_status status = op_filter_check(&ops, tables, 1, err);
    /* Ops of the host alone are no reason to be content with what no launch meets. */
    if (!status) status = check_numbers(r, s, err);
    return status || r->n_ops || !op_selection_any(s) ? status : op_select_nothing(s, err);
}

devlog_status answer_run_make(answer_run *r, op_table *table, const answer_run_options *o, devlog_error *err)
{
    const op_selection *s = o->selection;
    *r = (answer_run){
        .name = table->name, .table = table, .has_report = !o->made, .by_fw = o->by_fw, .cycles = o->cycles};
    /* Some reports have one of the two only. */
    if (!table->has_fw && table->has_kernel) r->by_fw = false;
    if (table->has_fw && !table->has_kernel) r->by_fw = true;
    devlog_status status = window(r, &s->host, err);
    if (status) return status;
    uint8_t *wanted = r->wanted = calloc(table->n + 1, 1);
    uint8_t *touched = o->touched ? run_touched_rows(o->touched, table, o->made) : NULL;
    bool good = wanted != NULL && (touched || !o->touched);
    for (size_t i = r->first; i < r->last && good; i++)
        wanted[i] = (table->rows[i].has & OP_IS_POINT) || (is_wanted(r, s, i) && (!touched || touched[i]));
    free(touched);
    good = good && run_find_chips(r, wanted) && run_find_boots(r) && leave_first(r, s, wanted) &&
           add_ops(r, wanted) && run_add_chips(r, wanted) && run_add_host(r) && run_merge_chips(r);
    for (size_t i = 0; i < table->n && good; i++)
        r->left_out += !wanted[i] && !(table->rows[i].has & OP_IS_POINT);
    status = good ? nothing(r, s, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) answer_run_free(r);
    return status;
}

void answer_run_add_log(answer_run *r, run_log *log)
{
    r->log = log;
    for (size_t i = 0; i < r->n_chips; i++)
        run_log_chip(log, &r->chips[i]);
}

void answer_run_free(answer_run *r)
{
    free(r->ops);
    free(r->points);
    free(r->wanted);
    free(r->shifts);
    free(r->chips);
    *r = (answer_run){0};
}

const answer_chip *answer_chip_of(const answer_run *r, uint32_t chip)
{
    for (size_t i = 0; i < r->n_chips; i++)
        if (r->chips[i].chip == chip) return &r->chips[i];
    return NULL;
}

bool answer_on_host(const answer_run *r, const answer_op *op)
{
    if (op->chips) return false;
    return strcmp(dl_intern_text(r->table->texts, answer_row(r, op)->type, NULL), OP_TYPE_DEVICE) != 0;
}

bool answer_is_first(const answer_run *r, const answer_op *op)
{
    const answer_chip *chip = op->chips ? answer_chip_of(r, answer_row(r, op)->chip) : NULL;
    return chip && chip->first_row == op->row;
}
