/* What the host did in a run, and its time in each op without that of the ops inside it on its thread. See run_parts.h. */
#include <stdlib.h>

#include "answers/run_parts.h"
#include "base/intern.h"
#include "ops/op_host_time.h"

/* ---- What it did --- */

static void add_known(double *sum, double value)
{
    if (isfinite(value)) *sum = isfinite(*sum) ? *sum + value : value;
}

/* Bytes of calls, of which the ops before had *sum; not known unless they are of every op that made some, which took `time`. */
static void add_bytes(double *sum, bool *all, double time, double bytes)
{
    if (!isfinite(time)) return;
    *all &= isfinite(bytes);
    add_known(sum, bytes);
}

static bool look_at_host(answer_run *r, const bool *again)
{
    bool all_written = true, all_read = true;
    uint64_t first = UINT64_MAX, last = 0, sum = 0;
    op_host_times *times = op_host_times_new();
    bool good = times != NULL, any = false;
    r->host_span = r->host_time = r->compile_time = r->write_time = r->read_time = r->profiler_cost = NAN;
    r->write_bytes = r->read_bytes = NAN;
    for (size_t i = 0; i < r->n_ops && good; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        const double *w = answer_wide(r, &r->ops[i])->numbers;
        if ((row->has & OP_HAS_HOST_START) && row->host_start < first) first = row->host_start;
        if ((row->has & OP_HAS_HOST_END) && row->host_end > last) last = row->host_end;
        any |= (row->has & OP_HAS_HOST) != 0;
        good = op_host_times_add(times, row, 0);
        if (again[i]) continue;
        const double compiles = isfinite(w[OP_COMPILE_COUNT]) ? w[OP_COMPILE_COUNT] : 1;
        const double writes = isfinite(w[OP_WRITE_COUNT]) ? w[OP_WRITE_COUNT] : 1;
        add_known(&r->compile_time, w[OP_COMPILE_AVG] * compiles);
        add_known(&r->write_time, w[OP_WRITE_AVG] * writes);
        add_known(&r->read_time, w[OP_READ_AVG] * w[OP_READ_COUNT]);
        add_bytes(&r->write_bytes, &all_written, w[OP_WRITE_AVG] * writes, w[OP_WRITE_BYTES]);
        add_bytes(&r->read_bytes, &all_read, w[OP_READ_AVG] * w[OP_READ_COUNT], w[OP_READ_BYTES]);
        add_known(&r->profiler_cost, w[OP_PROFILER_COST]);
    }
    if (!all_written) r->write_bytes = NAN;
    if (!all_read) r->read_bytes = NAN;
    if (good) op_host_times_sum(times, &sum);
    op_host_times_free(times);
    if (any) r->host_time = (double)sum;
    if (last > first) r->host_span = (double)(last - first);
    return good;
}

/* ---- Its own time in each op --- */

typedef struct call {
    uint64_t start, end;
    uint32_t thread, at;
} call;

static int by_thread(const void *a, const void *b)
{
    const call *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1; /* the outer one first */
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Takes every call's time from that of the innermost call around it. */
static void subtract(answer_run *r, const call *calls, size_t n, uint32_t *open)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        const call *c = &calls[i];
        while (depth &&
               (calls[open[depth - 1]].thread != c->thread || calls[open[depth - 1]].end <= c->start))
            depth--;
        if (depth) {
            const call *around = &calls[open[depth - 1]];
            const uint64_t end = c->end < around->end ? c->end : around->end;
            r->ops[around->at].host -= (double)(end - c->start);
        }
        open[depth++] = (uint32_t)i;
    }
}

static bool add_own_times(answer_run *r, const bool *again)
{
    call *calls = malloc((r->n_ops + 1) * sizeof *calls);
    uint32_t *open = malloc((r->n_ops + 1) * sizeof *open);
    bool in_order = true;
    size_t n = 0;
    for (size_t i = 0; calls && open && i < r->n_ops; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        enum { TIMES = OP_HAS_HOST_START | OP_HAS_HOST_END };
        if (!(row->has & OP_HAS_HOST) || again[i]) continue;
        r->ops[i].host = (double)row->host_ns;
        if ((row->has & TIMES) != TIMES || row->host_end < row->host_start) continue;
        calls[n] = (call){row->host_start, row->host_end, row->thread, (uint32_t)i};
        in_order &= !n || by_thread(&calls[n - 1], &calls[n]) < 0;
        n++;
    }
    if (calls && open && !in_order) qsort(calls, n, sizeof *calls, by_thread);
    if (calls && open) subtract(r, calls, n, open);
    const bool good = calls && open;
    free(calls);
    free(open);
    return good;
}

/* ---- All of it --- */

/* Ops by what tells them apart, and of which of them a row has device data. */
typedef struct ops_met {
    dl_intern *keys; /* number 0 is of those without an id */
    bool *ran;
} ops_met;

static bool begin_met(ops_met *m, size_t n)
{
    *m = (ops_met){dl_intern_new((uint32_t)n + 2, 32 * (n + 2)),
                   calloc(n + 2, 1)}; /* no more than rows: none is refused */
    return m->keys && m->ran;
}

static void end_met(ops_met *m)
{
    dl_intern_free(m->keys);
    free(m->ran);
}

/* DL_NO_STRING: no memory. */
static uint32_t meet(ops_met *m, const uint64_t *key, size_t n, bool ran, bool *again)
{
    const uint32_t before = dl_intern_count(m->keys),
                   at = dl_intern_add(m->keys, (const char *)key, n * sizeof *key);
    *again = dl_intern_count(m->keys) == before;
    if (at != DL_NO_STRING) m->ran[at] |= ran;
    return at;
}

typedef struct met_as {
    uint32_t op, on_chip; /* numbers; on_chip 0: the row names no chip */
    bool again_on_chip;
} met_as;

/* Which rows say once more what another said of the host: an op on several chips may have a row for each, and an op of a trace
 * one for each replay, anywhere in the report. Finds ops that were captured, and counts those without device data in any of their
 * rows of a chip. NULL: no memory. */
static bool *rows_again(answer_run *r)
{
    ops_met ops, on_chips;
    met_as *as = calloc(r->n_ops + 1, sizeof *as);
    bool *again = calloc(r->n_ops + 1, sizeof *again), good = as && again;
    good = begin_met(&ops, r->n_ops) && good;
    good = begin_met(&on_chips, r->n_ops) && good;
    for (size_t i = 0; good && i < r->n_ops; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        const bool ran = r->ops[i].chips > 0;
        const uint64_t op[3] = {row->id, row->has & OP_HAS_HOST_START ? row->host_start : UINT64_MAX,
                                row->chip};
        if (!(row->has & OP_HAS_ID)) continue;
        as[i].op = meet(&ops, op, 2, ran, &again[i]);
        if (row->has & OP_HAS_CHIP) as[i].on_chip = meet(&on_chips, op, 3, ran, &as[i].again_on_chip);
        good = as[i].op != DL_NO_STRING && as[i].on_chip != DL_NO_STRING;
    }
    for (size_t i = 0; good && i < r->n_ops; i++) {
        answer_op *op = &r->ops[i];
        if (op->chips || answer_on_host(r, op)) continue;
        op->captured = as[i].on_chip ? on_chips.ran[as[i].on_chip] : ops.ran[as[i].op];
        r->timeless += !op->captured && !(as[i].on_chip ? as[i].again_on_chip : again[i]);
    }
    end_met(&ops);
    end_met(&on_chips);
    free(as);
    if (good) return again;
    free(again);
    return NULL;
}

bool run_add_host(answer_run *r)
{
    bool *again = rows_again(r);
    const bool good = again && look_at_host(r, again) && add_own_times(r, again);
    free(again);
    return good;
}
