/* What became of each line of a diff: its values, whether chance explains their difference, and the order in
 * which lines are shown. See diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff.h"

static double per_run(const diff_part *p, uint32_t runs)
{
    return runs ? p->mean * (double)(p->count - p->without) / runs : 0;
}

/* The samples in order, and what they are on average. */
static void describe(diff *d, diff_part *p, uint32_t runs)
{
    double sum = 0, values = 0;
    p->sorted = malloc((p->n + 1) * sizeof *p->sorted);
    if (!p->sorted) {
        d->no_memory = true;
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        sum += p->samples[i].sum;
        values += p->samples[i].n;
        p->sorted[i] = diff_value(&p->samples[i]);
    }
    rank_test_sort(p->sorted, p->n);
    p->mean = values > 0 ? sum / values : 0;
    p->median = rank_test_median(p->sorted, p->n);
    p->per_run = per_run(p, runs);
}

/* Means that differ by no more than the order in which their values were added up are one. */
static void forget_rounding(const diff *d, diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD];
    diff_part *y = &l->part[DIFF_NEW];
    if (!x->n || !y->n || !(fabs(y->mean - x->mean) <= 1e-12 * fabs(x->mean))) return;
    y->mean = x->mean;
    y->per_run = per_run(y, d->side_runs[DIFF_NEW]);
}

static bool all_equal(const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    const double first = x->sorted[0];
    return first >= x->sorted[x->n - 1] && first >= y->sorted[y->n - 1] && first <= y->sorted[0];
}

/* Runs of one log compared with itself: nothing is undecided there. */
static bool identical(const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    return x->n == y->n && memcmp(x->sorted, y->sorted, x->n * sizeof *x->sorted) == 0;
}

static diff_verdict without_values(const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    if (!x->count) return DIFF_IS_NEW;
    if (!y->count) return DIFF_IS_GONE;
    return x->n && !y->n ? DIFF_LOST_TIME : DIFF_NO_TIME;
}

/* Whether so little time is in it that it was asked to be left alone. */
static bool is_small(const diff *d, const diff_line *l)
{
    if (l->kind == DIFF_TOTAL || d->min_share <= 0) return false;
    for (int side = 0; side < DIFF_SIDES; side++) {
        const double whole = d->lines[DIFF_DEVICE].part[side].per_run;
        if (whole > 0 && l->part[side].per_run >= whole * d->min_share / 100) return false;
    }
    return true;
}

static void look_at(diff *d, diff_line *l, rank_test *t)
{
    diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    for (int side = 0; side < DIFF_SIDES; side++)
        describe(d, &l->part[side], d->side_runs[side]);
    if (d->no_memory) return;
    forget_rounding(d, l);
    l->difference = y->per_run - x->per_run;
    l->has_change = x->n && y->n && x->mean > 0;
    if (l->has_change) l->change = 100 * (y->mean / x->mean - 1);
    l->verdict = x->n && y->n ? DIFF_SAME : without_values(l);
    if (l->verdict != DIFF_SAME || all_equal(l)) return;
    l->is_small = is_small(d, l);
    if (l->is_small || l->kind == DIFF_CAUSE) return;
    if (d->exact) {
        l->verdict = y->mean > x->mean ? DIFF_SLOWER : y->mean < x->mean ? DIFF_FASTER : DIFF_SAME;
        return;
    }
    l->tested = true;
    l->p = rank_test_u(t, x->sorted, x->n, y->sorted, y->n, &l->higher);
    if (l->p < 0) d->no_memory = true;
}

/* All lines that were tested are one family: the more there are, the less may chance explain of each. */
static void decide(diff *d)
{
    double *p = malloc((d->n + 1) * sizeof *p);
    size_t n = 0;
    for (size_t i = 0; p && i < d->n; i++)
        if (d->lines[i].tested) p[n++] = d->lines[i].p;
    if (!p || !rank_test_holm(p, n)) d->no_memory = true;
    d->tested = n;
    n = 0;
    for (size_t i = 0; !d->no_memory && i < d->n; i++) {
        diff_line *l = &d->lines[i];
        if (!l->tested) continue;
        l->corrected = p[n++];
        l->too_few = rank_test_least(l->part[DIFF_OLD].n, l->part[DIFF_NEW].n) * (double)d->tested > d->alpha;
        if (l->corrected <= d->alpha)
            l->verdict = l->higher > 0 ? DIFF_SLOWER : DIFF_FASTER;
        else if (l->too_few && !identical(l))
            l->verdict = DIFF_UNDECIDED;
        d->undecided += l->verdict == DIFF_UNDECIDED;
    }
    free(p);
}

/* ---- In which order --- */

typedef struct place {
    const diff_line *line;
    uint32_t at;
} place;

static int by_difference(const void *a, const void *b)
{
    const place *p = a, *q = b;
    const diff_line *x = p->line, *y = q->line;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == DIFF_TOTAL) return p->at < q->at ? -1 : p->at > q->at;
    if (x->kind == DIFF_CAUSE && x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    double u = fabs(x->difference), v = fabs(y->difference);
    if (x->kind == DIFF_CAUSE) { /* of equal ones first what the program has marked */
        u = floor(u * 10 + 0.5);
        v = floor(v * 10 + 0.5);
    }
    if (u > v || u < v) return u > v ? -1 : 1;
    if (x->kind == DIFF_CAUSE && x->marked != y->marked) return x->marked ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    if (!by_name) by_name = strcmp(x->risc, y->risc);
    if (!by_name) by_name = strcmp(x->where, y->where);
    return by_name ? by_name : p->at < q->at ? -1 : p->at > q->at;
}

static bool is_shown(const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    if (l->kind == DIFF_TOTAL) return !l->dead && (x->n || y->n); /* what nobody measured is no line */
    return !l->dead && (x->count || y->count);
}

static void put_in_order(diff *d)
{
    place *all = malloc((d->n + 1) * sizeof *all);
    d->order = malloc((d->n + 1) * sizeof *d->order);
    if (!all || !d->order) {
        d->no_memory = true;
        free(all);
        return;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (is_shown(&d->lines[i])) all[n++] = (place){&d->lines[i], i};
    qsort(all, n, sizeof *all, by_difference);
    for (size_t i = 0; i < n; i++) {
        d->order[i] = all[i].at;
        d->counted[all[i].line->kind][all[i].line->verdict]++;
    }
    d->n_order = n;
    free(all);
}

devlog_status diff_judge(diff *d, devlog_error *err)
{
    rank_test t = {0};
    if (DIFF_BUSIEST < d->n) d->lines[DIFF_BUSIEST].dead = !d->chips; /* it is the time on the device */
    for (size_t i = 0; i < d->n && !d->no_memory; i++)
        if (!d->lines[i].dead) look_at(d, &d->lines[i], &t);
    rank_test_free(&t);
    if (!d->no_memory) decide(d);
    if (!d->no_memory) put_in_order(d);
    return d->no_memory ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
}
