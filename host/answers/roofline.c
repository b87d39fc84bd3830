/* ROOFLINE: what ops computed and moved by what the chip can, and what limits them; by code, or op by op. What is worked out
 * of shapes stands beside what was measured. Not for working it out (flops.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/sections.h"

static const answer_column columns[] = {
    {"op", "op", ANSWER_TEXT, 0},
    {"op_id", "op id", ANSWER_COUNT, ANSWER_HIDDEN},
    {"count", "count", ANSWER_COUNT, 3},
    {"time", "time", ANSWER_TIME, 1},
    {"bound", "bound by", ANSWER_TEXT, 0},
    {"bound_share", "% bound", ANSWER_PERCENT, 4},
    {"flops", "FLOPs", ANSWER_FLOPS, 6},
    {"flop_rate", "rate", ANSWER_FLOPS_PER_S, 2},
    {"of_compute", "% compute", ANSWER_PERCENT, 0},
    {"bytes", "bytes", ANSWER_BYTES, 6},
    {"byte_rate", "DRAM", ANSWER_BYTES_PER_S, 2},
    {"of_dram", "% DRAM", ANSWER_PERCENT, 0},
    {"intensity", "FLOP/byte", ANSWER_RATIO, 5},
    {"model_fpu", "PM FPU", ANSWER_PERCENT, 8},
    {"measured_fpu", "FPU meas.", ANSWER_PERCENT, 7},
    {"fpu_difference", "FPU diff.", ANSWER_PERCENT, 7},
    {"measured_dram", "DRAM meas.", ANSWER_PERCENT, 7},
    {"dram_difference", "DRAM diff.", ANSWER_PERCENT, 7},
    {"measured_noc", "NoC meas.", ANSWER_PERCENT, 7},
};

/* Weighted by time. */
typedef struct mean {
    double sum, weight;
} mean;

enum { BOUNDS = 8 };

typedef struct line {
    const char *name;
    double id, time, flops, bytes, flops_time, bytes_time, both_flops, both_bytes;
    mean compute, dram, model, fpu, fpu_difference, dram_measured, dram_difference, noc;
    uint64_t count;
    const char *bounds[BOUNDS];
    double in_bound[BOUNDS];
} line;

static void weigh(mean *m, double value, double weight)
{
    if (!isfinite(value) || !(weight > 0)) return;
    m->sum += value * weight;
    m->weight += weight;
}

static double mean_of(const mean *m)
{
    return m->weight > 0 ? m->sum / m->weight : NAN;
}

static void add_op(line *l, const answer_run *r, const answer_op *op, double dram)
{
    const double *w = answer_wide(r, op)->numbers, time = isfinite(op->time) ? op->time : 0;
    const op_table_row *row = answer_row(r, op);
    const double seconds = time * 1e-9, of_dram = seconds > 0 ? 100 * op->bytes / (seconds * dram) : NAN;
    /* Counters are averages of the whole grid. */
    const double of_grid = row->has & OP_HAS_CORES && w[OP_AVAILABLE] > 0
                               ? op->share[OP_OF_COMPUTE] * row->cores / w[OP_AVAILABLE]
                               : NAN;
    l->count++;
    l->time += time;
    for (int i = 0; i < BOUNDS && op->bound; i++) {
        if (l->bounds[i] && strcmp(l->bounds[i], op->bound) != 0) continue;
        l->bounds[i] = op->bound;
        l->in_bound[i] += time;
        break;
    }
    if (isfinite(op->flops)) {
        l->flops += op->flops;
        l->flops_time += time;
    }
    if (isfinite(op->bytes)) {
        l->bytes += op->bytes;
        l->bytes_time += time;
    }
    if (isfinite(op->flops) && op->bytes > 0) {
        l->both_flops += op->flops;
        l->both_bytes += op->bytes;
    }
    weigh(&l->compute, op->share[OP_OF_COMPUTE], time);
    weigh(&l->dram, of_dram, time);
    weigh(&l->model, w[OP_PM_FPU_UTIL], time);
    weigh(&l->fpu, w[OP_FPU_UTIL], time);
    weigh(&l->fpu_difference, w[OP_FPU_UTIL] - of_grid, time);
    weigh(&l->dram_measured, w[OP_DRAM_UTIL], time);
    weigh(&l->dram_difference, w[OP_DRAM_UTIL] - of_dram, time);
    weigh(&l->noc, op->share[OP_OF_NOC], time);
}

static void add_row(answer_section *s, const line *l, double second)
{
    int most = 0;
    for (int i = 1; i < BOUNDS; i++)
        if (l->in_bound[i] > l->in_bound[most]) most = i;
    double unknown = l->time;
    for (int i = 0; i < BOUNDS; i++)
        unknown -= l->in_bound[i];
    const bool bound = l->bounds[most] && l->in_bound[most] >= unknown;
    const bool flops = l->flops_time > 0, bytes = l->bytes_time > 0;
    answer_text(s, l->name);
    answer_number(s, l->id);
    answer_number(s, (double)l->count);
    answer_number(s, l->time);
    answer_text(s, bound ? l->bounds[most] : NULL);
    answer_number(s, bound && l->time > 0 ? 100 * l->in_bound[most] / l->time : NAN);
    answer_number(s, flops ? l->flops : NAN);
    answer_number(s, flops ? l->flops / l->flops_time * second : NAN);
    answer_number(s, mean_of(&l->compute));
    answer_number(s, bytes ? l->bytes : NAN);
    answer_number(s, bytes ? l->bytes / l->bytes_time * second : NAN);
    answer_number(s, mean_of(&l->dram));
    answer_number(s, l->both_bytes > 0 ? l->both_flops / l->both_bytes : NAN);
    answer_number(s, mean_of(&l->model));
    answer_number(s, mean_of(&l->fpu));
    answer_number(s, mean_of(&l->fpu_difference));
    answer_number(s, mean_of(&l->dram_measured));
    answer_number(s, mean_of(&l->dram_difference));
    answer_number(s, mean_of(&l->noc));
}

static int by_time(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->time < y->time || x->time > y->time) return x->time > y->time ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_notes(answer *a, answer_section *s, const flops_peaks *p)
{
    char text[400];
    if (p->why[0]) {
        snprintf(text, sizeof text, "No peaks: %s.", p->why);
        answer_note(a, s, text);
        if (!isfinite(p->dram)) return;
    }
    int n = snprintf(text, sizeof text, "Peaks of %s:", p->board[0] ? p->board : "the chip");
    if (isfinite(p->flops_per_cycle) && isfinite(p->mhz))
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            " %.0f FLOP per cycle and core, divided by the phases of the fidelity, at %.10g MHz (%s);",
            p->flops_per_cycle, p->mhz, p->mhz_source);
    if (isfinite(p->dram)) snprintf(text + n, sizeof text - (size_t)n, " DRAM %.0f GB/s", p->dram / 1e9);
    answer_note(a, s, text);
    answer_note(
        a, s,
        "FLOPs and bytes are worked out of stored shapes (tables/ops.json); meas.: what the report measured; diff.: that "
        "minus what was worked out.");
}

bool answer_add_roofline(answer *a, const answer_run *r, const answer_wishes *w)
{
    const flops_peaks *peaks = w->peaks;
    if (!peaks) return true;
    const bool each = w->group == GROUP_NONE;
    const size_t codes = dl_intern_count(r->table->texts), room = each ? r->n_ops : codes;
    line *lines = calloc(room + 1, sizeof *lines);
    if (!lines) return false;
    size_t n = 0;
    bool any = false;
    for (size_t i = 0; i < r->n_ops; i++) {
        const answer_op *op = &r->ops[i];
        if (!op->chips) continue;
        line *l = each ? &lines[n++] : &lines[answer_row(r, op)->code];
        l->name = answer_code(r, op);
        l->id = each && answer_row(r, op)->has & OP_HAS_ID ? (double)answer_row(r, op)->id : NAN;
        add_op(l, r, op, peaks->dram);
        any |= op->bound || isfinite(op->flops) || isfinite(op->bytes);
    }
    if (!each)
        for (size_t i = 0; i < codes; i++)
            if (lines[i].count) lines[n++] = lines[i];
    if (any) {
        if (n && w->sort != SORT_ORDER) qsort(lines, n, sizeof *lines, by_time);
        answer_section *s =
            answer_table(a, "roofline", "ROOFLINE", columns, sizeof columns / sizeof columns[0]);
        for (size_t i = 0; i < n; i++)
            add_row(s, &lines[i], a->cycles ? NAN : 1e9);
        answer_top(s, w->top);
        add_notes(a, s, peaks);
    }
    free(lines);
    return true;
}
