/* Facts of a whole run, for rules and indicators (op_facts.h). Not for what is made of them (rules.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/op_facts.h"
#include "answers/sections.h"

/* DEVLOG-STALL by the kernels of the RISCs that had any. */
static double stalls_of(const answer_run *r)
{
    size_t n = 0;
    const run_zone *z = r->log ? run_log_zones(r->log, &n) : NULL;
    double stalls = 0, kernels = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(z[i].name, "DEVLOG-STALL") == 0) stalls += z[i].total;
        if (z[i].role == DEVLOG_ZONE_KERNEL) kernels += z[i].total;
    }
    return r->log && kernels > 0 ? 100 * stalls / kernels : NAN;
}

/* What TRISC0, which unpacks for the math, waited for pages: zones of the waits that kernels record, by its kernels. */
static double unpack_waits_of(const answer_run *r)
{
    static const char *const waits[] = {"DEVLOG-WAIT-EMPTY", "CB-COMPUTE-WAIT-FRONT"};
    size_t n = 0;
    const run_zone *z = r->log ? run_log_zones(r->log, &n) : NULL;
    double waited = 0, kernels = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(z[i].risc, "TRISC_0") != 0 && strcmp(z[i].risc, "TRISC0") != 0) continue;
        for (size_t k = 0; k < sizeof waits / sizeof waits[0]; k++)
            if (strcmp(z[i].name, waits[k]) == 0) waited += z[i].total;
        if (z[i].role == DEVLOG_ZONE_KERNEL) kernels += z[i].total;
    }
    return kernels > 0 ? 100 * waited / kernels : NAN;
}

/* Captures tell what markers inside a kernel took; a device log does not. Kernels of which nobody can state it are left out;
 * but where it is more than half, that half is the least. */
static void look_at_markers(run_facts *f, const answer_run *r)
{
    size_t n = 0;
    const run_zone *z = r->log ? run_log_zones(r->log, &n) : NULL;
    double cost = 0, priced = 0, mostly = 0, kernels = 0;
    uint64_t times = 0;
    for (size_t i = 0; i < n; i++) {
        if (z[i].role != DEVLOG_ZONE_KERNEL) continue;
        cost += z[i].markers;
        priced += z[i].total - z[i].unpriced;
        mostly += z[i].mostly;
        times += z[i].times_mostly;
        kernels += z[i].total;
    }
    if (cost > 0 && priced > 0) f->values[RUN_MARKERS] = 100 * cost / priced;
    if (cost > 0 || mostly > 0) f->values[RUN_MARKERS_LEAST] = 100 * (cost + mostly / 2) / (priced + mostly);
    if (!times) return;
    char *why = f->rooms[RUN_MARKERS_WHY];
    snprintf(
        why, sizeof f->rooms[0],
        "more than half of %llu kernel%s (%.3g %% of the kernels' time); the exact share cannot be stated",
        (unsigned long long)times, times == 1 ? "" : "s", 100 * mostly / kernels);
    f->texts[RUN_MARKERS_WHY] = why;
}

void run_facts_of(run_facts *f, const answer_run *r)
{
    double *v = f->values;
    double busiest = 0, busy = 0;
    for (int i = 0; i < RUN_FACTS; i++)
        v[i] = NAN;
    for (int i = 0; i < RUN_TEXTS; i++)
        f->texts[i] = NULL;
    v[RUN_WALL] = answer_wall(r);
    v[RUN_OPS] = (double)r->n_ops;
    v[RUN_CHIPS] = (double)r->n_chips;
    v[RUN_COMPILE] = r->compile_time;
    v[RUN_HOST] = r->host_span;
    v[RUN_TIMELESS] = (double)r->timeless;
    v[RUN_KERNELS] = v[RUN_GAPS] = v[RUN_DEVICE_OPS] = v[RUN_HOST_OPS] = 0;
    for (size_t i = 0; i < r->n_chips; i++) {
        busy += r->chips[i].busy;
        if (r->chips[i].busy > busiest) busiest = r->chips[i].busy;
        v[RUN_CLOCK_ERROR] = fmax(v[RUN_CLOCK_ERROR], r->chips[i].core_error_cycles); /* NAN gives way */
    }
    if (r->n_chips && v[RUN_WALL] > 0) v[RUN_BUSY] = 100 * busy / (double)r->n_chips / v[RUN_WALL];
    if (r->n_chips > 1 && busy > 0) v[RUN_CHIP_IMBALANCE] = busiest * (double)r->n_chips / busy;
    for (size_t i = 0; i < r->n_ops; i++) {
        const answer_op *op = &r->ops[i];
        v[RUN_HOST_OPS] += answer_on_host(r, op);
        if (!op->chips) continue;
        v[RUN_DEVICE_OPS]++;
        if (isfinite(op->time)) v[RUN_KERNELS] += op->time;
        if (op->gap > 0 && !answer_is_first(r, op)) v[RUN_GAPS] += op->gap;
    }
    v[RUN_STALLS] = stalls_of(r);
    v[RUN_UNPACK_WAITS] = unpack_waits_of(r);
    look_at_markers(f, r);
    run_facts_of_access(f, r);
    if (r->log) v[RUN_LOST] = (double)run_log_lost(r->log);
}
