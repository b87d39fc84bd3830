/* An op report as a run of a diff. See diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff.h"
#include "ops/op_host_time.h"

enum { MOST_PLACES = 1000 }; /* equal ops of a run that are told apart */

typedef struct adding {
    diff *d;
    const op_table *t;
    uint32_t run, side;
    uint32_t *met; /* by text of diff.texts: how many ops of this code and shape so far */
    size_t n_met;
    dl_str key;
} adding;

/* Code and shapes: what an op is, and how it is called. */
static uint32_t group_of(adding *a, size_t row, const char **name)
{
    const op_table *t = a->t;
    size_t n;
    const char *code = dl_intern_text(t->texts, t->rows[row].code, &n);
    dl_str_clear(&a->key);
    dl_str_add_n(&a->key, code, n);
    const char *shape = t->more ? dl_intern_text(t->texts, t->more[row].shape, &n) : "";
    if (*shape) {
        dl_str_char(&a->key, ' ');
        dl_str_add_n(&a->key, shape, n);
    }
    uint32_t id = a->key.failed ? DL_NO_STRING : dl_intern_add(a->d->texts, a->key.text, a->key.len);
    if (id == DL_NO_STRING) return id;
    *name = dl_intern_text(a->d->texts, id, NULL);
    if (id >= a->n_met) {
        size_t more = (size_t)id * 2 + 64;
        uint32_t *grown = realloc(a->met, more * sizeof *grown);
        if (!grown) return DL_NO_STRING;
        memset(grown + a->n_met, 0, (more - a->n_met) * sizeof *grown);
        a->met = grown;
        a->n_met = more;
    }
    return id;
}

static uint32_t line_of(adding *a, size_t row)
{
    diff *d = a->d;
    const char *name = "";
    const uint32_t group = group_of(a, row, &name);
    if (group == DL_NO_STRING) {
        d->no_memory = true;
        return UINT32_MAX;
    }
    const uint32_t nth = a->met[group]++;
    const uint32_t place = !d->several ? 0 : nth < MOST_PLACES ? nth : MOST_PLACES;
    dl_str_clear(&a->key);
    dl_str_fmt(&a->key, "%u %u", group, place);
    const uint32_t line = a->key.failed ? UINT32_MAX : diff_find(d, DIFF_OP, a->key.text, a->key.len);
    if (line == UINT32_MAX) return line;
    d->lines[line].group = group;
    d->lines[line].place = place;
    d->lines[line].name = name;
    return line;
}

/* What each RISC's kernel took. */
static void add_riscs(adding *a, size_t row, uint32_t op)
{
    const op_table_more *m = &a->t->more[row];
    for (int i = 0; i < OP_TABLE_RISCS && op != UINT32_MAX; i++) {
        if (!(m->has >> i & 1) || !m->risc_ns[i]) continue;
        dl_str_clear(&a->key);
        dl_str_fmt(&a->key, "%u risc %d", op, i);
        const uint32_t line =
            a->key.failed ? UINT32_MAX : diff_find(a->d, DIFF_CAUSE, a->key.text, a->key.len);
        if (line == UINT32_MAX) continue;
        a->d->lines[line].parent = op;
        a->d->lines[line].risc = op_table_riscs[i];
        diff_add(a->d, line, a->side, a->run, (double)m->risc_ns[i], 1);
    }
}

/* ---- Rows in the order of their ops --- */

typedef struct placed {
    uint64_t id;
    double start; /* cycles of the chip; NAN: unknown */
    uint32_t row;
} placed;

static int by_op(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (isnan(x->start) != isnan(y->start))
        return isnan(x->start) ? -1 : 1; /* captured before it was replayed */
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Equal ops are told apart by their order, which is that of ids, and of replays that of their starts: reports are sorted by others,
 * too. Where a row has no id it is that of the report. NULL: no memory. */
static uint32_t *rows_in_order(const op_table *t)
{
    placed *all = malloc((t->n + 1) * sizeof *all);
    uint32_t *rows = malloc((t->n + 1) * sizeof *rows);
    bool ids = true;
    for (size_t i = 0; all && i < t->n; i++) {
        all[i] = (placed){t->rows[i].id, t->more ? t->more[i].fw_start : NAN, (uint32_t)i};
        ids &= (t->rows[i].has & (OP_HAS_ID | OP_IS_POINT)) != 0;
    }
    if (all && ids && t->n) qsort(all, t->n, sizeof *all, by_op);
    for (size_t i = 0; all && rows && i < t->n; i++)
        rows[i] = all[i].row;
    if (!all) {
        free(rows);
        rows = NULL;
    }
    free(all);
    return rows;
}

static void add_totals(adding *a, double device, bool any, double gaps, bool any_gap, uint64_t host,
                       bool any_host)
{
    diff_add(a->d, DIFF_DEVICE, a->side, a->run, any ? device : -1, 1);
    diff_add(a->d, DIFF_GAPS, a->side, a->run, any_gap ? gaps : -1, 1);
    diff_add(a->d, DIFF_HOST, a->side, a->run, any_host ? (double)host : -1, 1);
}

devlog_status diff_add_ops(diff *d, uint32_t run, const op_table *t, launch_rows *rows, devlog_error *err)
{
    adding a = {.d = d, .t = t, .run = run, .side = d->runs[run].side};
    op_host_times *times = op_host_times_new();
    double device = 0, gaps = 0;
    uint64_t host = 0, with_device = 0;
    diff_chips chips = {0};
    uint32_t *order = rows_in_order(t);
    bool any_gap = false, any_host = false, good = times && order;
    d->runs[run].instructions |= t->instructions;
    op_aiclk_add(&d->runs[run].aiclk, t->aiclk.low);
    op_aiclk_add(&d->runs[run].aiclk, t->aiclk.high);
    for (size_t at = 0; good && at < t->n; at++) {
        const size_t i = order[at];
        const op_table_row *r = &t->rows[i];
        if (r->has & OP_IS_POINT) continue;
        const bool by_fw = d->by_fw || !t->has_kernel;
        const uint64_t ns =
            by_fw ? (r->has & OP_HAS_FW ? r->fw_ns : 0) : (r->has & OP_HAS_KERNEL ? r->kernel_ns : 0);
        const uint32_t line = line_of(&a, i);
        /* Nothing runs in no time: 0 is no data. */
        diff_add(d, line, a.side, run, ns ? (double)ns : -1, 1);
        d->runs[run].ops++;
        d->runs[run].timeless += ns == 0;
        with_device += ns != 0;
        device += (double)ns;
        if (ns) diff_chip_took(d, &chips, r->chip, (double)ns);
        any_gap |= (r->has & (OP_HAS_GAP | OP_HAS_IDLE)) != 0;
        if ((r->has & OP_HAS_GAP) && r->gap_ns > 0) gaps += (double)r->gap_ns;
        if (r->has & OP_HAS_IDLE) gaps += (double)r->idle_ns;
        any_host |= (r->has & OP_HAS_HOST) != 0;
        good = op_host_times_add(times, r, 0);
        if (t->more) add_riscs(&a, i, line);
        if (line != UINT32_MAX && !launch_rows_add(rows, r, t->more ? t->more[i].fw_start : NAN,
                                                   t->more ? t->more[i].fw_end : NAN, line))
            good = false;
    }
    good = good && launch_rows_end(rows, t);
    if (good) op_host_times_sum(times, &host);
    op_host_times_free(times);
    diff_chips_end(d, &chips, a.side, run);
    add_totals(&a, device, with_device > 0, gaps, any_gap, host, any_host);
    free(order);
    free(a.met);
    dl_str_free(&a.key);
    return good && !d->no_memory ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}
