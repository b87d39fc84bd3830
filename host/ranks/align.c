/* Where the clocks of lanes lie to one another, by what all of them saw: a collective op ends nearly at once wherever it runs,
 * and nowhere before the last one has begun. The first says where a clock lies (a line through the differences of ends), the
 * second how far off that can be at most, and where a clock has jumped. Not for clocks of
 * hosts (align_hosts.c). */
#include <stdlib.h>

#include "answers/answer_run.h"
#include "answers/rank_test.h"
#include "ranks/ranks.h"

enum {
    FOR_DRIFT = 3, /* so many collective ops say how fast a clock runs, too */
    TOO_FAR = 8,   /* a difference so many times farther off than the median is a stranger */
    REFERENCES = 4 /* so many lanes are tried: most others contradict one whose own clock jumps */
};

typedef struct point {
    double x, y;      /* end on the lane; what has to be added to it for the reference's end */
    double low, high; /* what may be added: neither ends before the other has begun */
    bool used;
    uint32_t item;
} point;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static const rank_item *item_on(const ranks *r, const rank_op *op, size_t lane)
{
    size_t low = 0, high = op->lanes;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (r->lane_of[r->by_op[op->first + mid]] < lane)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == op->lanes || r->lane_of[r->by_op[op->first + low]] != lane) return NULL;
    return &r->ops_of_lanes[r->by_op[op->first + low]];
}

/* A line through those that are used: y = *a + *b * (x - *x0). */
static size_t fit(const point *p, size_t n, double *a, double *b, double *x0)
{
    double sum_x = 0, sum_y = 0, xx = 0, xy = 0;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!p[i].used) continue;
        used++;
        sum_x += p[i].x;
        sum_y += p[i].y;
    }
    *x0 = used ? sum_x / (double)used : 0;
    *a = used ? sum_y / (double)used : NAN;
    for (size_t i = 0; i < n; i++) {
        if (!p[i].used) continue;
        xx += (p[i].x - *x0) * (p[i].x - *x0);
        xy += (p[i].x - *x0) * (p[i].y - *a);
    }
    *b = used >= FOR_DRIFT && xx > 0 ? xy / xx : 0;
    return used;
}

static double off(const point *p, double a, double b, double x0)
{
    return fabs(p->y - (a + b * (p->x - x0)));
}

/* Leaves out what contradicts the others. False: no memory. */
static bool leave_out(point *p, size_t n, double a, double b, double x0)
{
    double *offs = malloc((n + 1) * sizeof *offs);
    if (!offs) return false;
    for (size_t i = 0; i < n; i++)
        offs[i] = off(&p[i], a, b, x0);
    rank_test_sort(offs, n);
    const double most = TOO_FAR * rank_test_median(offs, n);
    for (size_t i = 0; i < n; i++)
        p[i].used = most == 0 || off(&p[i], a, b, x0) <= most;
    free(offs);
    return true;
}

static bool align(rank_lane *l, point *p, size_t n)
{
    enum { ROUNDS = 4 };
    double a, b, x0;
    l->aligned = false;
    l->way = RANKS_WAY_NONE;
    l->anchors = l->strangers = 0;
    for (size_t i = 0; i < n; i++)
        p[i].used = true;
    if (!n) return true;
    /* The first line is through the median, which a stranger does not move. */
    double *ys = malloc(n * sizeof *ys);
    if (!ys) return false;
    for (size_t i = 0; i < n; i++)
        ys[i] = p[i].y;
    rank_test_sort(ys, n);
    a = rank_test_median(ys, n);
    free(ys);
    fit(p, n, &(double){0}, &b, &x0);
    if (!isfinite(b) || fabs(b) > 1e-3) b = 0; /* no crystal is a thousandth off */
    for (int round = 0; round < ROUNDS; round++) {
        if (!leave_out(p, n, a, b, x0)) return false;
        l->anchors = fit(p, n, &a, &b, &x0);
    }
    l->strangers = n - l->anchors;
    l->aligned = true;
    l->way = RANKS_WAY_COLLECTIVES;
    l->drift = b;
    l->offset = a - b * x0;
    l->residual = 0;
    double low = -INFINITY, high = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!p[i].used) continue;
        const double at = off(&p[i], a, b, x0);
        if (at > l->residual) l->residual = at;
        const double line = a + b * (p[i].x - x0);
        if (p[i].low - line > low) low = p[i].low - line;
        if (p[i].high - line < high) high = p[i].high - line;
    }
    l->bound = fmax(fmax(fabs(low), fabs(high)), l->residual);
    /* Few points lie on any line: then only what cannot be otherwise is known. */
    if (l->anchors <= FOR_DRIFT) l->residual = l->bound;
    return true;
}

/* A late end says nothing against a clock; what ended before others had begun, or began when they had ended, does. */
static void find_impossible(ranks *r, rank_lane *l, const point *p, size_t n)
{
    l->impossible = 0;
    for (size_t i = 0; i < n; i++) {
        const double line = l->offset + l->drift * p[i].x;
        r->ops_of_lanes[p[i].item].impossible =
            p[i].low - line > l->residual || line - p[i].high > l->residual;
        l->impossible += r->ops_of_lanes[p[i].item].impossible;
    }
}

/* Lays all lanes beside the reference. *contradict: how many have a clock that jumps against it. */
static bool align_all(ranks *r, point *points, size_t *contradict)
{
    *contradict = 0;
    for (size_t k = 0; k < r->n_lanes; k++) {
        rank_lane *l = &r->lanes[k];
        size_t n = 0;
        for (size_t i = l->first; i < l->first + l->n; i++) {
            rank_item *item = &r->ops_of_lanes[i];
            const rank_op *op = &r->ops[item->op];
            const rank_item *there = op->collective ? item_on(r, op, r->reference) : NULL;
            item->impossible = false;
            if (!there || !isfinite(item->end) || !isfinite(there->end)) continue;
            points[n++] = (point){.x = item->end,
                                  .y = there->end - item->end,
                                  .low = there->start - item->end,
                                  .high = there->end - item->start,
                                  .item = (uint32_t)i};
        }
        if (!align(l, points, n)) return false;
        if (l->aligned) find_impossible(r, l, points, n);
        *contradict += l->impossible != 0;
    }
    r->lanes[r->reference].residual = r->lanes[r->reference].bound = 0;
    return true;
}

static size_t collectives_of(const ranks *r, const rank_lane *l)
{
    size_t n = 0;
    for (size_t i = l->first; i < l->first + l->n; i++)
        n += r->ops[r->ops_of_lanes[i].op].collective && isfinite(r->ops_of_lanes[i].end);
    return n;
}

devlog_status ranks_align(ranks *r, devlog_error *err)
{
    size_t most = 0, first = 0, best = SIZE_MAX, contradict;
    for (size_t i = 0; i < r->n_ops; i++)
        r->ops[i].collective = answer_is_collective(ranks_text(r, r->ops[i].code));
    for (size_t k = 0; k < r->n_lanes; k++) {
        const size_t n = collectives_of(r, &r->lanes[k]);
        if (n > most) first = k;
        if (n > most) most = n;
    }
    r->reference = first;
    if (!most) return DEVLOG_OK;
    point *points = malloc(most * sizeof *points);
    if (!points) return no_memory(err);
    /* The lane with most collective ops; where most others contradict it, the next ones that have nearly as many. */
    bool memory = align_all(r, points, &best);
    size_t chosen = first, tried = 1;
    for (size_t k = 0; k < r->n_lanes && memory && best * 2 > r->n_lanes && tried < REFERENCES; k++) {
        if (k == first || r->lanes[k].rank == r->lanes[chosen].rank ||
            collectives_of(r, &r->lanes[k]) * 10 < most * 9)
            continue;
        r->reference = k;
        tried++;
        memory = align_all(r, points, &contradict);
        if (contradict < best) {
            best = contradict;
            chosen = k;
        }
    }
    if (memory && r->reference != chosen) {
        r->reference = chosen;
        memory = align_all(r, points, &contradict);
    }
    free(points);
    return memory ? DEVLOG_OK : no_memory(err);
}
