/* The launches of a log as rows of an op report, for logs that have none. See run_log.h. */
#include <stdlib.h>

#include "answers/run_log_internal.h"
#include "base/round.h"
#include "decode/door.h"

static double per_cycle(const run_log *l, uint32_t chip, bool cycles)
{
    for (size_t i = 0; i < devlog_log_chips(l->log) && !cycles; i++) {
        const devlog_chip c = devlog_log_chip(l->log, (uint32_t)i);
        if (c.chip == chip && c.mhz > 0) return 1000 / c.mhz;
    }
    return 1;
}

static uint64_t rounded(double value)
{
    return value > 0 ? dl_u64_of(value) : 0;
}

static void fill_row(const run_log *l, op_table *t, size_t i, bool cycles)
{
    const devlog_launch launch = devlog_log_launch(l->log, (uint32_t)i);
    const double scale = per_cycle(l, launch.chip, cycles);
    op_table_row *row = &t->rows[t->n - 1];
    double *wide = t->wide[t->n - 1].numbers;
    *row = (op_table_row){.id = launch.run_host_id ? launch.run_host_id : launch.number,
                          .chip = launch.chip,
                          .has = OP_HAS_ID | OP_HAS_CHIP};
    if (launch.trace_id != UINT64_MAX) wide[OP_TRACE] = (double)launch.trace_id;
    if (launch.first_start != UINT64_MAX && launch.last_end >= launch.first_start) {
        wide[OP_FW_START] = (double)launch.first_start;
        wide[OP_FW_END] = (double)launch.last_end;
        row->fw_ns = rounded((double)(launch.last_end - launch.first_start) * scale);
        row->has |= OP_HAS_FW;
    }
    uint64_t start = UINT64_MAX, end = 0;
    for (int k = 0; k < RISCS; k++) {
        const kernels *of = &l->launches[i].riscs[k];
        if (!of->n) continue;
        wide[OP_RISC + k] = (double)rounded((double)(of->end - of->start) * scale);
        if (of->start < start) start = of->start;
        if (of->end > end) end = of->end;
        if (of->n > row->cores) row->cores = of->n;
    }
    if (row->cores) row->has |= OP_HAS_CORES | OP_HAS_KERNEL;
    if (row->cores) row->kernel_ns = rounded((double)(end - start) * scale);
}

typedef struct order_of {
    double start, end;
    uint32_t chip, boot, row;
} order_of;

static int by_chip_and_start(const void *a, const void *b)
{
    const order_of *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->boot != y->boot) return x->boot < y->boot ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* As OP TO OP LATENCY is: a launch's first firmware minus the last of all before it; 0 for the first. */
static bool give_gaps(const run_log *l, op_table *t, bool cycles)
{
    order_of *order = malloc((t->n + 1) * sizeof *order);
    uint32_t *boots = door_boots(l->log);
    size_t n = 0;
    double last = 0;
    for (size_t i = 0; i < t->n && order && boots; i++)
        if (t->rows[i].has & OP_HAS_FW)
            order[n++] = (order_of){t->wide[i].numbers[OP_FW_START], t->wide[i].numbers[OP_FW_END],
                                    t->rows[i].chip, boots[i], (uint32_t)i};
    const bool good = order && boots;
    free(boots);
    if (!good) {
        free(order);
        return false;
    }
    if (n) qsort(order, n, sizeof *order, by_chip_and_start);
    for (size_t i = 0; i < n; i++) {
        op_table_row *row = &t->rows[order[i].row];
        const bool first = !i || order[i - 1].chip != order[i].chip || order[i - 1].boot != order[i].boot;
        const double gap = first ? 0 : (order[i].start - last) * per_cycle(l, row->chip, cycles);
        row->gap_ns = fabs(gap) < 9e18 ? llround(gap) : 0;
        row->has |= OP_HAS_GAP;
        if (first || order[i].end > last) last = order[i].end;
    }
    free(order);
    return true;
}

devlog_status run_log_rows(const run_log *l, op_table *t, bool *cycles, devlog_error *err)
{
    const size_t chips = devlog_log_chips(l->log);
    *cycles = chips == 0;
    for (size_t i = 0; i < chips; i++)
        *cycles |= !(devlog_log_chip(l->log, (uint32_t)i).mhz > 0);
    const uint32_t code = dl_intern_add(t->texts, "launch", 6);
    bool good = code != DL_NO_STRING;
    t->has_fw = t->has_kernel = true;
    for (size_t i = 0; i < devlog_log_launches(l->log) && good; i++) {
        good = op_table_add(t);
        if (!good) break;
        fill_row(l, t, i, *cycles);
        t->rows[t->n - 1].code = code;
    }
    good = good && give_gaps(l, t, *cycles);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}
