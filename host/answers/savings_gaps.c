/* WHAT WOULD SAVE MOST, the gaps between launches. They are shared out: a nanosecond of them is compiled, is the host's, is of a
 * gap that is small, or is none of these, so what is told of them may be added up. */
#include <stdlib.h>

#include "answers/savings_internal.h"
#include "base/intern.h"

/* What a launch takes when nothing is in its way, so that only what is above it can be saved; a launch with a gap above
 * GAP_LIMIT is looked at by itself. Both as tt-perf-report has them (its "High Op-to-Op Gap"). */
static const double GAP_LIMIT = 6500, GAP_LEAST = 6000;

typedef struct gap_part {
    double time, worst;
    uint64_t n;
    const answer_op *op; /* before which it was greatest */
} gap_part;

static void add_part(gap_part *to, double time, const answer_op *op)
{
    if (!(time > 0)) return;
    to->time += time;
    to->n++;
    if (time <= to->worst) return;
    to->worst = time;
    to->op = op;
}

static const char *name_of(const answer_run *r, const op_table_row *row)
{
    const char *name = dl_intern_text(r->table->texts, row->code, NULL);
    return *name ? name : "an op without a name";
}

/* One of them: "launch 7" where launches stand for ops. */
static const char *one_of(answer *a, const answer_run *r, const op_table_row *row)
{
    const unsigned long long id = (unsigned long long)row->id;
    return !r->has_report ? answer_keepf(a, "launch %llu", id)
                          : answer_keepf(a, "%s (op %llu)", name_of(r, row), id);
}

static void add_gap_saving(answer *a, const answer_run *r, savings *all, const gap_part *part,
                           const char *kind, const char *what, const char *tell)
{
    if (!part->n) return;
    const op_table_row *row = answer_row(r, part->op);
    const int digits = r->cycles ? 0 : 1;
    const double scale = r->cycles ? 1 : 1000;
    const char *unit = r->cycles ? "cycles" : "us";
    const char *evidence =
        answer_keepf(a, "%llu gap%s, %.*f %s on average; the longest, %.*f %s, before %s. %s%s",
                     (unsigned long long)part->n, part->n == 1 ? "" : "s", digits,
                     part->time / (double)part->n / scale, unit, digits, part->worst / scale, unit,
                     one_of(a, r, row), r->cycles ? "" : "What launching takes (6 us) is not in it. ", tell);
    savings_add(all, &(saving){.time = part->time,
                               .kind = kind,
                               .what = what,
                               .op = answer_code(r, part->op),
                               .op_id = (double)row->id,
                               .evidence = evidence});
}

/* ---- Small ones: by the codes of the two launches that they are between --- */

typedef struct gap_pair {
    gap_part part;
    uint32_t before; /* row of the launch in front of the greatest */
} gap_pair;

typedef struct gap_pairs {
    dl_intern *keys; /* two codes each */
    gap_pair *items; /* by number of the key */
    size_t cap;
    gap_part all;
    bool failed;
} gap_pairs;

static void add_pair(gap_pairs *p, const answer_run *r, uint32_t before, const answer_op *op, double gap)
{
    const uint32_t codes[2] = {r->table->rows[before].code, answer_row(r, op)->code};
    add_part(&p->all, gap, op);
    const uint32_t at = p->keys ? dl_intern_add(p->keys, (const char *)codes, sizeof codes) : DL_NO_STRING;
    p->failed |= at == DL_NO_STRING;
    if (at == DL_NO_STRING) return;
    if (at >= p->cap) {
        const size_t cap = (size_t)at * 2 + 64;
        gap_pair *grown = realloc(p->items, cap * sizeof *grown);
        p->failed |= !grown;
        if (!grown) return;
        memset(grown + p->cap, 0, (cap - p->cap) * sizeof *grown);
        p->items = grown;
        p->cap = cap;
    }
    gap_pair *to = &p->items[at];
    if (gap > to->part.worst) to->before = before;
    add_part(&to->part, gap, op);
}

/* Below this part of the time in kernels small gaps are what launching takes, and other savings are told first: to lose them
 * wants fewer launches. */
static const double SMALL_IS_MUCH = 0.5;

static double kernels_of(const answer_run *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        if (r->ops[i].chips && isfinite(r->ops[i].time)) sum += r->ops[i].time;
    return sum;
}

static void add_small(answer *a, const answer_run *r, savings *all, const gap_pairs *p)
{
    const gap_pair *most = NULL;
    for (size_t i = 0; i < p->cap; i++)
        if (p->items[i].part.n && (!most || p->items[i].part.time > most->part.time)) most = &p->items[i];
    if (!most) return;
    const op_table_row *before = &r->table->rows[most->before], *row = answer_row(r, most->part.op);
    const bool one = p->all.n == 1;
    const unsigned long long from = (unsigned long long)before->id, to = (unsigned long long)row->id;
    const char *pair = r->has_report && (*name_of(r, before) != '(' || *name_of(r, row) != '(')
                           ? answer_keepf(a, "%s and %s", name_of(r, before), name_of(r, row))
                           : NULL; /* launches that are called after no op are called by their numbers */
    const char *ids = answer_keepf(a, "%s %llu and %llu", pair ? "ops" : "launches", from, to);
    const char *of_all =
        one ? answer_keepf(a, "%.2f us between %s%s%s%s", most->part.worst / 1000, pair ? pair : "",
                           pair ? " (" : "", ids, pair ? ")" : "")
            : answer_keepf(
                  a, "%llu gaps, %.2f us on average, none above %.1f us (longer ones are told apart). ",
                  (unsigned long long)p->all.n, p->all.time / (double)p->all.n / 1000, GAP_LIMIT / 1000);
    const char *where = "";
    if (!one && pair)
        where = answer_keepf(
            a, "Of all pairs it is most between %s: %.1f us in %llu, the longest %.2f us (%s)", pair,
            most->part.time / 1000, (unsigned long long)most->part.n, most->part.worst / 1000, ids);
    else if (!one)
        where = answer_keepf(a, "The longest, %.2f us, is between %s", most->part.worst / 1000, ids);
    const char *evidence =
        answer_keepf(a, "%s%s. Fuse short ops, give each launch more to do, or capture the step as a trace.",
                     of_all, where);
    savings_add(all, &(saving){.time = p->all.time,
                               .kind = "small_gaps",
                               .what = one ? "A small gap between two launches"
                                           : "Small gaps between launches add up",
                               .op = answer_code(r, most->part.op),
                               .op_id = (double)row->id,
                               .behind = p->all.time < SMALL_IS_MUCH * kernels_of(r),
                               .evidence = evidence});
}

/* ---- Which launch was in front --- */

typedef struct placed {
    double start;
    uint32_t chip, row;
} placed;

static int by_chip_and_start(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* By row: the launch of that chip which began before it, whether it is wanted or not; UINT32_MAX: there is none. NULL: no
 * memory. Without cycles it is by the order of rows. */
static uint32_t *rows_in_front(const answer_run *r)
{
    const op_table *t = r->table;
    uint32_t *front = malloc((t->n + 1) * sizeof *front);
    placed *all = malloc((t->n + 1) * sizeof *all);
    size_t n = 0;
    bool in_order = true;
    for (size_t i = 0; front && all && i < t->n; i++) {
        const op_table_row *row = &t->rows[i];
        const double start = answer_start(r, i);
        front[i] = UINT32_MAX;
        if ((row->has & OP_IS_POINT) || !(row->has & (OP_HAS_FW | OP_HAS_KERNEL))) continue;
        all[n] = (placed){isfinite(start) ? start : (double)i, row->chip, (uint32_t)i};
        in_order &= !n || by_chip_and_start(&all[n - 1], &all[n]) < 0;
        n++;
    }
    if (front && all && !in_order) qsort(all, n, sizeof *all, by_chip_and_start);
    for (size_t i = 1; front && all && i < n; i++)
        if (all[i].chip == all[i - 1].chip) front[all[i].row] = all[i - 1].row;
    if (!all) {
        free(front);
        front = NULL;
    }
    free(all);
    return front;
}

/* ---- All of them --- */

void savings_find_gaps(answer *a, const answer_run *r, savings *all)
{
    gap_part compiling = {0}, fallback = {0}, rest = {0};
    uint32_t *front = rows_in_front(r);
    /* No more pairs than rows: none is refused. */
    gap_pairs small = {.keys = dl_intern_new((uint32_t)r->table->n + 2, 16 * (r->table->n + 2)),
                       .failed = !front};
    double host_only = 0; /* on the host since the device's last op */
    for (size_t i = 0; i < r->n_ops && front; i++) {
        const answer_op *op = &r->ops[i];
        if (!op->chips) {
            if (isfinite(op->host) && answer_on_host(r, op)) host_only += op->host;
            continue;
        }
        const double *w = answer_wide(r, op)->numbers;
        const double calls = isfinite(w[OP_COMPILE_COUNT]) ? w[OP_COMPILE_COUNT] : 1;
        const bool replayed = isfinite(w[OP_SESSION]) != 0; /* its program was compiled for the capture */
        const bool known = !answer_is_first(r, op) && op->gap > 0;
        if (known && r->cycles) {
            add_part(&rest, op->gap, op);
        } else if (known && op->gap > GAP_LIMIT) {
            double gap = op->gap - GAP_LEAST;
            const double compile = replayed ? 0 : fmin(gap, fmax(0, w[OP_COMPILE_AVG] * calls));
            gap -= compile;
            const double host = fmin(gap, host_only);
            add_part(&compiling, compile, op);
            add_part(&fallback, host, op);
            add_part(&rest, gap - host, op);
        } else if (known && front[op->row] != UINT32_MAX) {
            add_pair(&small, r, front[op->row], op, op->gap);
        }
        host_only = 0;
    }
    add_gap_saving(a, r, all, &compiling, "compile",
                   "Compile before the run: the device waits for the compiler",
                   "Run the network once before what counts, so that programs are cached.");
    add_gap_saving(a, r, all, &fallback, "host_ops", "Ops that run on the host hold the device up",
                   "Move them to the device, or out of the step.");
    add_gap_saving(a, r, all, &rest, "gaps", "The device waits between launches for the host",
                   r->cycles
                       ? "Nothing says the clock, so that this is all of every gap. Capture the step as a "
                         "trace, or launch ahead of the device."
                       : "Capture the step as a trace, or launch ahead of the device.");
    add_small(a, r, all, &small);
    all->failed |= small.failed;
    dl_intern_free(small.keys);
    free(small.items);
    free(front);
}
