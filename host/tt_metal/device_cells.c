/* Cells of what the device did: from a line of the C++ report, or from stamps of the device log. The
 * arithmetic is that of tt-metal's script, in doubles and in its order, so that halves are rounded alike. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tt_metal/cells.h"
#include "tt_metal/python.h"

static tt_device_state *state_of(tt_writer *w, uint32_t device)
{
    for (size_t i = 0; i < w->n_devices; i++)
        if (w->devices[i].device == device) return &w->devices[i];
    if (w->n_devices == w->cap_devices) {
        size_t cap = w->cap_devices ? w->cap_devices * 2 : 16;
        tt_device_state *grown = realloc(w->devices, cap * sizeof *grown);
        w->no_memory |= grown == NULL;
        if (!grown) return NULL;
        w->devices = grown;
        w->cap_devices = cap;
    }
    w->devices[w->n_devices] = (tt_device_state){.device = device};
    return &w->devices[w->n_devices++];
}

/* "{:.0f}": to even. */
static void whole(tt_writer *w, size_t slot, double value)
{
    char digits[352];
    if (!signbit(value) && value < 9e15) {
        tt_cell_u64(w, slot, (uint64_t)nearbyint(value));
        return;
    }
    int n = snprintf(digits, sizeof digits, "%.0f", value);
    if (n > 0) tt_cell_text(w, slot, digits, (size_t)n);
    w->slots[slot].ready = true;
}

/* round() of Python. */
static void rounded(tt_writer *w, size_t slot, double value)
{
    if (fabs(value) < 9e15)
        tt_cell_i64(w, slot, (int64_t)nearbyint(value));
    else
        whole(w, slot, value);
}

/* cycles * 1000 / MHz: the product is exact in an integer, and divided once. */
static double ns_of(uint64_t cycles, double mhz)
{
    long double product = (long double)cycles * 1000.0L;
    return (double)(product / (long double)mhz);
}

/* The cycles in a nanosecond as the script finds them: of one duration, divided by itself in ns. */
static double per_ns(uint64_t cycles, double mhz)
{
    return cycles ? (double)cycles / ns_of(cycles, mhz) : mhz / 1000.0;
}

/* By such cycles in a nanosecond, or, where it has none, straight. */
static double in_ns(double cycles, double mhz, double rate)
{
    return rate > 0 ? cycles / rate : cycles * 1000 / mhz;
}

static void duration(tt_writer *w, size_t slot, uint64_t start, uint64_t end, double mhz)
{
    if (start != TT_NEVER && end >= start && mhz > 0) whole(w, slot, ns_of(end - start, mhz));
}

/* When a program ran, in cycles. */
typedef struct span {
    uint64_t start, end;
} span;

static const span unknown = {TT_NEVER, 0};

/* What the hardware counted while it ran. `kernel` is that of all its kernels together. */
static void counter_cells(tt_writer *w, const tt_exec *x, span fw, span kernel)
{
    const tt_execs *e = w->j->execs;
    const tt_counted_device *d = tt_counters_device(&e->counters, x->device);
    if (!d) return;
    const tt_counted *program = tt_counters_of(&e->counters, x->device, x->id, x->counted);
    if (!program && x->len) program = tt_counters_of(&e->counters, x->device, x->id, x->session);
    /* Replays that the log does not tell apart are told apart by time. */
    size_t first, behind;
    tt_execs_range(e, x->device, x->id, &first, &behind);
    bool timed = program && program->session == TT_NONE && behind - first > 1 && fw.start != TT_NEVER;
    tt_metric_values *v = malloc(sizeof *v);
    bool ok = v && (!program ||
                    tt_metrics_of(&e->counters, program, d, timed ? fw.start : 0, timed ? fw.end : 0, v));
    w->no_memory |= !ok;
    double grid = 0; /* cores and cycles of the whole chip */
    if (kernel.start != TT_NEVER && kernel.end > kernel.start)
        grid = (double)d->max_cores * (double)(kernel.end - kernel.start);
    for (size_t k = 0; k < (size_t)TT_METRICS * TT_METRIC_STATS && ok; k++) {
        size_t m = k / TT_METRIC_STATS, stat = k % TT_METRIC_STATS;
        if (!tt_metric_exists(d, m) || tt_cell_there(w, w->first_metric + k)) continue;
        double value = program ? v->stats[m][stat] : NAN;
        if (m < 3 && stat == 3) {
            if (isnan(value) || grid <= 0) continue;
            value = value / grid * 100;
        }
        uint32_t from = tt_cell_begin(w);
        tt_python_double(value, &w->text);
        tt_cell_end_ready(w, w->first_metric + k, from);
    }
    free(v);
}

/* What dispatch cores did for it; of several replays it stands with the first. */
static void dispatch_cells(tt_writer *w, const tt_exec *x, double mhz)
{
    const tt_dispatched *d = tt_dispatch_of(&w->j->execs->dispatch, x->device, x->id);
    size_t from, to;
    if (!d || !(mhz > 0)) return;
    tt_execs_range(w->j->execs, x->device, x->id, &from, &to);
    if (tt_execs_at(w->j->execs, from) != x) return;
    if (d->commands != TT_NO_SPAN) whole(w, TT_COL_DISPATCH_CMD, ns_of(d->commands, mhz));
    if (d->go != TT_NO_SPAN) whole(w, TT_COL_DISPATCH_GO, ns_of(d->go, mhz));
}

static void host_cell(tt_writer *w, const tt_exec *x, uint64_t cycle)
{
    double ns;
    if (cycle != TT_NEVER && tt_sync_host(&w->j->execs->sync, x->device, cycle, &ns))
        rounded(w, TT_COL_ON_HOST, ns);
}

void tt_sub_device_cell(tt_writer *w, uint32_t device, uint64_t id, uint32_t session)
{
    const tt_counted *p = tt_counters_of(&w->j->execs->counters, device, id, session);
    if (p && p->sub_device) tt_cell_u64(w, TT_COL_SUB_DEVICE, p->sub_device - 1);
}

static void from_log(tt_writer *w, const tt_exec *x)
{
    static const size_t columns[TT_RISCS] = {
        [DL_RISC_BRISC] = TT_COL_BRISC,   [DL_RISC_NCRISC] = TT_COL_NCRISC, [DL_RISC_TRISC0] = TT_COL_TRISC0,
        [DL_RISC_TRISC1] = TT_COL_TRISC1, [DL_RISC_TRISC2] = TT_COL_TRISC2, [DL_RISC_ERISC] = TT_COL_ERISC};
    const tt_cycles *c = &w->j->execs->cycles[x->cycles];
    tt_device_state *s = state_of(w, x->device);
    double mhz = tt_execs_mhz(w->j->execs, x->device);
    if (!s) return;
    tt_cell_u64(w, TT_COL_CORES, c->cores);
    counter_cells(w, x, (span){c->fw_start, c->fw_end}, (span){c->kernel_start, c->kernel_end});
    dispatch_cells(w, x, mhz);
    host_cell(w, x, c->fw_start != TT_NEVER ? c->fw_start : c->kernel_start);
    duration(w, TT_COL_TRACE_FW_NS, c->trace_fw_start, c->trace_fw_end, mhz);
    duration(w, TT_COL_TRACE_KERNEL_NS, c->trace_kernel_start, c->trace_kernel_end, mhz);
    for (uint32_t at = c->others; at; at = w->j->execs->others[at - 1].next) {
        const tt_other *o = &w->j->execs->others[at - 1];
        duration(w, w->first_other + o->risc, o->start, o->end, mhz);
    }
    if (c->fw_start != TT_NEVER) {
        tt_cell_u64(w, TT_COL_FW_START, c->fw_start);
        tt_cell_u64(w, TT_COL_FW_END, c->fw_end);
        duration(w, TT_COL_FW_NS, c->fw_start, c->fw_end, mhz);
        if (mhz > 0 && s->any_fw)
            rounded(w, TT_COL_FW_LATENCY, (double)((int64_t)c->fw_start - s->fw_end) * 1000.0 / mhz);
        else if (mhz > 0)
            tt_cell_u64(w, TT_COL_FW_LATENCY, 0);
        s->fw_end = (int64_t)c->fw_end;
        s->any_fw = true;
    }
    for (int i = 0; i < TT_RISCS; i++)
        duration(w, columns[i], c->risc_start[i], c->risc_end[i], mhz);
    if (mhz > 0 && c->cb_wait) whole(w, TT_COL_CB_WAIT, ns_of(c->cb_wait, mhz));
    if (mhz > 0 && c->cb_reserve) whole(w, TT_COL_CB_RESERVE, ns_of(c->cb_reserve, mhz));
    if (c->kernel_start == TT_NEVER) return;
    tt_cell_u64(w, TT_COL_KERNEL_START, c->kernel_start);
    tt_cell_u64(w, TT_COL_KERNEL_END, c->kernel_end);
    duration(w, TT_COL_KERNEL_NS, c->kernel_start, c->kernel_end, mhz);
    duration(w, TT_COL_DM_NS, c->dm_start, c->kernel_end, mhz);
    if (c->kernels > 1) duration(w, TT_COL_FIRST_TO_LAST, c->kernel_start, c->last_start, mhz);
    if (mhz <= 0) return;
    if (c->core_n) {
        double rate = w->j->alone ? 0 : per_ns(c->lead, mhz);
        whole(w, TT_COL_CORE_MIN, in_ns((double)c->core_min, mhz, rate));
        whole(w, TT_COL_CORE_MAX, in_ns((double)c->core_max, mhz, rate));
        whole(w, TT_COL_CORE_AVG, in_ns((double)c->core_sum / (double)c->core_n, mhz, rate));
    }
    double rate = w->j->alone ? 0 : per_ns(c->kernel_end - c->kernel_start, mhz);
    rounded(w, TT_COL_LATENCY,
            s->any_kernel ? in_ns((double)((int64_t)c->kernel_start - s->kernel_end), mhz, rate) : 0);
    s->kernel_end = (int64_t)c->kernel_end;
    s->any_kernel = true;
    if (c->dm_start == TT_NEVER) return;
    rounded(w, TT_COL_DM_LATENCY,
            s->any_dm ? in_ns((double)((int64_t)c->dm_start - s->dm_end), mhz, rate) : 0);
    s->dm_end = (int64_t)c->kernel_end;
    s->any_dm = true;
}

/* ---- The C++ report --- */

enum { MAX_CELLS = 1024 };

/* Columns of which the script keeps integers. */
static bool is_whole(const char *name)
{
    static const char *const others[] = {"AVAILABLE WORKER CORE COUNT", "CORE COUNT"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0) return true;
    return strncmp(name, "DEVICE ", 7) == 0 && strcmp(name, "DEVICE ARCH") != 0 &&
           (strstr(name, " [ns]") || strstr(name, " CYCLE"));
}

/* Digits as they would be written anew. */
static inline bool is_integer(tt_cell c)
{
    uint64_t value;
    return c.n < DL_DIGITS_MOST && !(*c.text == '0' && c.n > 1) && dl_digits_value(c.text, c.n, &value);
}

typedef struct line {
    tt_cell cells[MAX_CELLS];
    size_t n;
} line;

bool tt_device_plan(tt_writer *w)
{
    static const char *const names[TT_PERF_KEYS] = {
        [TT_PERF_FW_START] = "DEVICE FW START CYCLE",
        [TT_PERF_FW_END] = "DEVICE FW END CYCLE",
        [TT_PERF_FW_NS] = "DEVICE FW DURATION [ns]",
        [TT_PERF_KERNEL_START] = "DEVICE KERNEL START CYCLE",
        [TT_PERF_KERNEL_END] = "DEVICE KERNEL END CYCLE",
        [TT_PERF_DM_START] = "DEVICE KERNEL DM START CYCLE",
        [TT_PERF_DM_END] = "DEVICE KERNEL DM END CYCLE",
        [TT_PERF_LATENCY] = "OP TO OP LATENCY [ns]",
        [TT_PERF_DM_LATENCY] = "OP TO OP LATENCY BR/NRISC START [ns]",
    };
    const tt_perf_columns *p = &w->j->execs->columns;
    w->perf_whole = calloc(p->n + 1, sizeof *w->perf_whole);
    if (!w->perf_whole) return false;
    for (int k = 0; k < TT_PERF_KEYS; k++)
        w->perf_at[k] = -1;
    for (size_t i = 0; i < p->n; i++) {
        w->perf_whole[i] = is_whole(p->names[i]);
        for (int k = 0; k < TT_PERF_KEYS; k++)
            if (strcmp(p->names[i], names[k]) == 0) w->perf_at[k] = (int)i;
    }
    return true;
}

static const tt_cell *cell_of(const tt_writer *w, const line *l, int key)
{
    int at = w->perf_at[key];
    return at >= 0 && (size_t)at < l->n ? &l->cells[at] : NULL;
}

static bool number_in(const tt_writer *w, const line *l, int key, int64_t *out)
{
    const tt_cell *c = cell_of(w, l, key);
    return c && tt_perf_int(*c, out);
}

/* The report's own latency, if it has one, else by the rows before. */
static void latency(tt_writer *w, const line *l, size_t slot, int key, double ns_per_cycle, bool known,
                    int64_t start, bool *any, int64_t *last_end, int64_t end)
{
    const tt_cell *own = cell_of(w, l, key);
    if (own && own->n)
        tt_cell_lent(w, slot, own->text, own->n, is_integer(*own));
    else if (known && ns_per_cycle > 0 && *any)
        rounded(w, slot, (double)(start - *last_end) * ns_per_cycle);
    else
        tt_cell_u64(w, slot, 0);
    if (known) {
        *last_end = end;
        *any = true;
    }
}

static void from_report(tt_writer *w, const tt_exec *x)
{
    tt_execs *e = w->j->execs;
    tt_device_state *s = state_of(w, x->device);
    line l;
    int64_t fw_start, fw_end, fw_ns, start = 0, end = 0;
    if (!s) return;
    tt_execs_cells(e, x, l.cells, MAX_CELLS, &l.n);
    bool fw = number_in(w, &l, TT_PERF_FW_START, &fw_start) && number_in(w, &l, TT_PERF_FW_END, &fw_end);
    if (!(s->ns_per_cycle > 0) && fw && number_in(w, &l, TT_PERF_FW_NS, &fw_ns) && fw_ns != 0 &&
        fw_end > fw_start)
        s->ns_per_cycle = (double)fw_ns / (double)(fw_end - fw_start);
    bool known = number_in(w, &l, TT_PERF_KERNEL_START, &start) && number_in(w, &l, TT_PERF_KERNEL_END, &end);
    const span kernel = known ? (span){(uint64_t)start, (uint64_t)end} : unknown;
    latency(w, &l, TT_COL_LATENCY, TT_PERF_LATENCY, s->ns_per_cycle, known, start, &s->any_kernel,
            &s->kernel_end, end);
    known = number_in(w, &l, TT_PERF_DM_START, &start) && number_in(w, &l, TT_PERF_DM_END, &end);
    latency(w, &l, TT_COL_DM_LATENCY, TT_PERF_DM_LATENCY, s->ns_per_cycle, known, start, &s->any_dm,
            &s->dm_end, end);
    if (fw && s->ns_per_cycle > 0) {
        rounded(w, TT_COL_FW_LATENCY, s->any_fw ? (double)(fw_start - s->fw_end) * s->ns_per_cycle : 0);
        s->fw_end = fw_end;
        s->any_fw = true;
    }
    for (size_t i = 0; i < l.n && i < e->columns.n; i++) {
        int slot = w->perf_column[i];
        int64_t value;
        if (slot < 0 || !l.cells[i].n || slot == TT_COL_LATENCY || slot == TT_COL_DM_LATENCY) continue;
        if (slot != TT_COL_CORES && tt_cell_of(w, (size_t)slot).n) continue;
        if (is_integer(l.cells[i]))
            tt_cell_lent(w, (size_t)slot, l.cells[i].text, l.cells[i].n, true);
        else if (w->perf_whole[i] && tt_perf_int(l.cells[i], &value))
            tt_cell_i64(w, (size_t)slot, value);
        else
            tt_cell_lent(w, (size_t)slot, l.cells[i].text, l.cells[i].n, false);
    }
    counter_cells(w, x, fw ? (span){(uint64_t)fw_start, (uint64_t)fw_end} : unknown, kernel);
    dispatch_cells(w, x, s->ns_per_cycle > 0 ? 1000.0 / s->ns_per_cycle : 0);
    host_cell(w, x, fw ? (uint64_t)fw_start : kernel.start);
}

/* What its NoC trace adds up to, beside what the C++ report says. */
static void noc_cells(tt_writer *w, const tt_exec *x)
{
    const tt_noc *noc = tt_nocs_of_run(&w->j->execs->nocs, x->device, x->id, x->session, x->counted);
    for (size_t i = 0; noc && i < TT_NOC_SUMS; i++)
        tt_cell_u64(w, w->first_noc + i, noc->sums[i]);
    if (noc && noc->sums[TT_NOC_LINK_BYTES]) {
        uint32_t from = tt_cell_begin(w);
        dl_str_fmt(&w->text, "%s of %u-%u", tt_noc_way(noc->way), noc->x, noc->y);
        tt_cell_end(w, w->first_noc + TT_NOC_LINK, from);
    }
    const tt_perf_columns *p = &w->j->execs->columns;
    for (size_t i = 0; noc && i < p->n; i++) {
        if (strcmp(p->names[i], "NOC BYTES FROM COUNTERS") != 0) continue;
        const tt_cell c = tt_cell_of(w, (size_t)w->perf_column[i]);
        int64_t bytes;
        if (c.n && tt_perf_int(c, &bytes) && (uint64_t)bytes != noc->written)
            tt_found_add(w->j->execs->found, TT_NOC_DIFFERS,
                         "GLOBAL CALL COUNT %llu, device %u: %llu in the trace, %lld in the report",
                         (unsigned long long)x->id, x->device, (unsigned long long)noc->written,
                         (long long)bytes);
    }
}

void tt_device_cells(tt_writer *w, const tt_exec *x)
{
    if (x->len)
        from_report(w, x);
    else
        from_log(w, x);
    tt_sub_device_cell(w, x->device, x->id, x->len ? x->session : x->counted);
    noc_cells(w, x);
}

static void report_passed(tt_writer *w, tt_device_state *s, const tt_exec *x)
{
    line l;
    int64_t start, end, ns;
    tt_execs_cells(w->j->execs, x, l.cells, MAX_CELLS, &l.n);
    if (number_in(w, &l, TT_PERF_FW_START, &start) && number_in(w, &l, TT_PERF_FW_END, &end)) {
        if (!(s->ns_per_cycle > 0) && number_in(w, &l, TT_PERF_FW_NS, &ns) && ns != 0 && end > start)
            s->ns_per_cycle = (double)ns / (double)(end - start);
        if (s->ns_per_cycle > 0) s->fw_end = end;
        s->any_fw |= s->ns_per_cycle > 0;
    }
    if (number_in(w, &l, TT_PERF_KERNEL_START, &start) && number_in(w, &l, TT_PERF_KERNEL_END, &end)) {
        s->kernel_end = end;
        s->any_kernel = true;
    }
    if (number_in(w, &l, TT_PERF_DM_START, &start) && number_in(w, &l, TT_PERF_DM_END, &end)) {
        s->dm_end = end;
        s->any_dm = true;
    }
}

void tt_device_passed(tt_writer *w, const tt_exec *x)
{
    tt_device_state *s = state_of(w, x->device);
    if (!s) return;
    if (x->len) {
        report_passed(w, s, x);
        return;
    }
    const tt_cycles *c = &w->j->execs->cycles[x->cycles];
    if (c->fw_start != TT_NEVER) {
        s->fw_end = (int64_t)c->fw_end;
        s->any_fw = true;
    }
    if (c->kernel_start == TT_NEVER || tt_execs_mhz(w->j->execs, x->device) <= 0) return;
    s->kernel_end = (int64_t)c->kernel_end;
    s->any_kernel = true;
    if (c->dm_start == TT_NEVER) return;
    s->dm_end = (int64_t)c->kernel_end;
    s->any_dm = true;
}
