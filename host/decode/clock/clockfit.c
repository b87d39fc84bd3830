/* Clock fit: bursts to knots, knots to a piecewise-linear map, and what can go wrong between them. */
#include "decode/clock/clockfit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 4,  /* intervals on each side that tell the slope there.. */
    WIDEST = 32, /* ..and at most, when they are short */
};

/* Ticks per cycle. */
typedef struct slopes {
    double lo, hi;
} slopes;

typedef struct burst {
    size_t first, n;
    double before, after; /* of its tightest sample */
} burst;

static double since(uint64_t value, uint64_t origin)
{
    return (double)(int64_t)(value - origin);
}

/* The slopes of all straight lines that pass through the errors of knots a to b; lo > hi: there is none. */
static slopes through(const dl_clock_knot *k, uint32_t a, uint32_t b)
{
    slopes s = {-INFINITY, INFINITY};
    for (uint32_t i = a; i < b; i++) {
        for (uint32_t j = i + 1; j <= b; j++) {
            double per = 1 / (k[j].cycles - k[i].cycles), rise = k[j].ticks - k[i].ticks;
            double room = k[i].half + k[j].half, lo = (rise - room) * per, hi = (rise + room) * per;
            if (lo > s.lo) s.lo = lo;
            if (hi < s.hi) s.hi = hi;
        }
    }
    return s;
}

/* Intervals on one side of knot `at` in which the slope is the same, if it did not change in all of them. */
static uint32_t window(const dl_clock_fit *fit, uint32_t at, bool behind)
{
    const dl_clock_knot *k = fit->knots;
    uint32_t room = behind ? fit->n_knots - 1 - at : at, w = room < WINDOW ? room : WINDOW;
    while (w < room && w < WIDEST && fabs(k[behind ? at + w : at - w].ticks - k[at].ticks) < fit->quiet)
        w++;
    return w;
}

/* How many ticks per cycle the slope behind knot i may differ from what intervals beside it say, as the reference is steered; 0 where
 * bursts are so close together that it is at most once in nine intervals. */
static double steered(const dl_clock_fit *fit, uint32_t i)
{
    enum { NINE = 2 * WINDOW + 1 };
    const dl_clock_knot *k = fit->knots;
    const uint32_t last = fit->n_knots - 1;
    uint32_t from = i > WINDOW ? i - WINDOW : 0, to = from + NINE < last ? from + NINE : last;
    if (to == last && last > NINE) from = last - NINE;
    if (k[to].ticks - k[from].ticks < DL_CLOCK_STEERS) return 0;
    /* Both lie within `steered` of the mean. */
    return 2 * fit->steered * (k[to].ticks - k[from].ticks) / (k[to].cycles - k[from].cycles);
}

static slopes wider(slopes s, double by)
{
    return (slopes){s.lo - by, s.hi + by};
}

/* The slopes just before knot `at` (or just behind it), from as many intervals as lie on one line. */
static bool slopes_beside(const dl_clock_fit *fit, uint32_t at, bool behind, slopes *out)
{
    for (uint32_t w = window(fit, at, behind); w >= 1; w--) {
        *out = behind ? through(fit->knots, at, at + w) : through(fit->knots, at - w, at);
        if (out->lo <= out->hi) return true;
    }
    return false;
}

/* How far two lines that meet between the knots, with slopes a and b, stray from the chord between them: at
 * most, for chords in a range. */
static double knee(double a, double b, slopes chord, double length)
{
    double lo = fmin(a, b), hi = fmax(a, b);
    double middle = fmin(fmax((lo + hi) / 2, chord.lo), chord.hi);
    if (middle <= lo || middle >= hi) return 0;
    return (middle - lo) * (hi - middle) / (hi - lo) * length;
}

/* `before` and `behind`: the slopes on both sides of the interval behind knot i. */
static double deviation(const dl_clock_fit *fit, uint32_t i, slopes before, slopes behind)
{
    slopes chord = through(fit->knots, i, i + 1);
    double length = fit->knots[i + 1].cycles - fit->knots[i].cycles;
    if (chord.hi < fmin(before.lo, behind.lo) || chord.lo > fmax(before.hi, behind.hi))
        /* Not one change: the counter jumped, or there were several. Only the order is certain. */
        return fit->knots[i + 1].ticks - fit->knots[i].ticks;
    return fmax(knee(before.lo, behind.hi, chord, length), knee(before.hi, behind.lo, chord, length));
}

/* ---- From bursts to knots ---- */

/* What all samples of a burst allow for its knot, when a cycle takes between s.lo and s.hi ticks. */
static void narrow(const dl_clock_fit *fit, const dl_clock_sample *samples, const burst *b, slopes s,
                   double cycles, double *lo, double *hi)
{
    for (size_t i = b->first; i < b->first + b->n; i++) {
        if (samples[i].after < samples[i].before) continue;
        double d = cycles - since(samples[i].cycles, fit->cycles);
        /* The counter shows whole cycles and the reference whole ticks: both may be up to one further on. */
        double from = since(samples[i].before, fit->ticks) - s.hi,
               to = since(samples[i].after, fit->ticks) + 1;
        *lo = fmax(*lo, from + d * (d > 0 ? s.lo : s.hi));
        *hi = fmin(*hi, to + d * (d > 0 ? s.hi : s.lo));
    }
}

static devlog_status find_bursts(dl_clock_fit *fit, const dl_clock_sample *samples, size_t n, burst *bursts,
                                 uint32_t *n_bursts, devlog_error *err)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (samples[i].after < samples[i].before) {
            fit->n_ignored++;
            continue;
        }
        double before = since(samples[i].before, fit->ticks), after = since(samples[i].after, fit->ticks);
        double cycles = since(samples[i].cycles, fit->cycles);
        bool same = count && samples[bursts[count - 1].first].burst == samples[i].burst;
        if (count) {
            const dl_clock_sample *last = &samples[bursts[count - 1].first + bursts[count - 1].n - 1];
            if (samples[i].before < last->before)
                return dl_fail(err, DEVLOG_ERR_FORMAT,
                               "clock sample %zu: the reference clock ran backwards; the samples are of two "
                               "different runs",
                               i);
            if (samples[i].cycles < last->cycles || (!same && samples[i].cycles == last->cycles))
                return dl_fail(err, DEVLOG_ERR_FORMAT, "clock sample %zu: the chip's counter %s", i,
                               samples[i].cycles < last->cycles ? "ran backwards; was it reset?"
                                                                : "stands still");
        }
        if (!same) {
            bursts[count++] = (burst){.first = i, .before = before, .after = after};
            fit->knots[count - 1].cycles = cycles;
        }
        burst *b = &bursts[count - 1];
        b->n = i + 1 - b->first;
        if (after - before < b->after - b->before) {
            b->before = before;
            b->after = after;
            fit->knots[count - 1].cycles = cycles;
        }
        if (count == 1 && b->n == 1) fit->best_round_trip = after - before;
        fit->best_round_trip = fmin(fit->best_round_trip, after - before);
    }
    *n_bursts = count;
    return DEVLOG_OK;
}

/* First by the tightest sample of each burst alone; that gives slopes, with which the others help. */
static void place_knots(dl_clock_fit *fit, const dl_clock_sample *samples, const burst *bursts)
{
    dl_clock_knot *k = fit->knots;
    uint32_t n = fit->n_knots;
    double period = (bursts[n - 1].after - bursts[0].before) / (k[n - 1].cycles - k[0].cycles);
    for (uint32_t i = 0; i < n; i++) {
        double lo = bursts[i].before - 2 * period, hi = bursts[i].after + 1;
        k[i].ticks = (lo + hi) / 2;
        k[i].half = (hi - lo) / 2;
    }
    /* A burst at an end knows the slope of one side only. */
    slopes chord = through(k, 0, 1);
    for (uint32_t i = 1; i + 1 < n; i++) {
        slopes next = through(k, i, i + 1);
        slopes s = {fmax(0, fmin(chord.lo, next.lo)), fmax(chord.hi, next.hi)};
        double lo = k[i].ticks - k[i].half, hi = k[i].ticks + k[i].half;
        narrow(fit, samples, &bursts[i], s, k[i].cycles, &lo, &hi);
        chord = next;
        if (lo > hi) continue; /* cannot be: keep what is certain */
        k[i].ticks = (lo + hi) / 2;
        k[i].half = (hi - lo) / 2;
    }
}

/* Time does not run backwards: what is possible at one knot bounds what is possible at its neighbours. */
static void order_knots(dl_clock_fit *fit)
{
    dl_clock_knot *k = fit->knots;
    double bound = -INFINITY;
    for (uint32_t i = 0; i < fit->n_knots; i++) {
        double lo = k[i].ticks - k[i].half, hi = k[i].ticks + k[i].half;
        if (bound > lo && bound < hi) {
            k[i].ticks = (bound + hi) / 2;
            k[i].half = (hi - bound) / 2;
        }
        bound = fmax(bound, lo);
    }
    bound = INFINITY;
    for (uint32_t i = fit->n_knots; i-- > 0;) {
        double lo = k[i].ticks - k[i].half, hi = k[i].ticks + k[i].half;
        if (bound < hi && bound > lo) {
            k[i].ticks = (lo + bound) / 2;
            k[i].half = (bound - lo) / 2;
        }
        bound = fmin(bound, hi);
    }
}

/* What the lines through knots a to b allow at knot `at`, which is a or b. */
static bool allowed(const dl_clock_knot *k, uint32_t a, uint32_t b, uint32_t at, double *lo, double *hi)
{
    slopes s = through(k, a, b);
    if (s.lo > s.hi) return false;
    for (uint32_t i = a; i <= b; i++) { /* the further back a line comes from, the higher the steepest ends */
        double d = k[at].cycles - k[i].cycles;
        *lo = fmax(*lo, k[i].ticks - k[i].half + d * (d > 0 ? s.lo : s.hi));
        *hi = fmin(*hi, k[i].ticks + k[i].half + d * (d > 0 ? s.hi : s.lo));
    }
    return *lo <= *hi;
}

/* A burst whose reads were all slow is helped by its neighbours: the frequency did not change on both sides
 * of it, so the value is what the lines of one side or those of the other allow. */
static void tighten(dl_clock_fit *fit)
{
    dl_clock_knot *k = fit->knots;
    for (uint32_t i = 0; i < fit->n_knots; i++) {
        double lo[2], hi[2], widest = 0; /* cycles of a window */
        bool good[2];
        for (int behind = 0; behind < 2; behind++) {
            uint32_t w = window(fit, i, behind);
            lo[behind] = k[i].ticks - k[i].half;
            hi[behind] = k[i].ticks + k[i].half;
            widest = fmax(widest, fabs(k[behind ? i + w : i - w].cycles - k[i].cycles));
            good[behind] = allowed(k, behind ? i : i - w, behind ? i + w : i, i, &lo[behind], &hi[behind]);
        }
        if (!good[0] && !good[1]) continue; /* the counter jumped */
        const double room = widest * fmax(steered(fit, i), steered(fit, i ? i - 1 : 0));
        double from = (good[0] && good[1] ? fmin(lo[0], lo[1]) : lo[good[1]]) - room;
        double to = (good[0] && good[1] ? fmax(hi[0], hi[1]) : hi[good[1]]) + room;
        from = fmax(from, k[i].ticks - k[i].half);
        to = fmin(to, k[i].ticks + k[i].half);
        k[i].ticks = (from + to) / 2;
        k[i].half = (to - from) / 2;
    }
}

/* Draws straight lines where the knots allow them, so that the noise of single bursts does not stretch and
 * squeeze short zones: from knot a to b, unless one in between is further off than a part of its error, or
 * would be the worst of all; then in two pieces that meet there. What a knot was moved by is added to its
 * error. */
static void straighten(dl_clock_fit *fit, uint32_t first, uint32_t last, double worst_half)
{
    const double most = 0.25; /* of a knot's error */
    dl_clock_knot *k = fit->knots;
    while (last - first > 1) {
        double slope = (k[last].ticks - k[first].ticks) / (k[last].cycles - k[first].cycles), worst = 0;
        uint32_t at = first;
        for (uint32_t i = first + 1; i < last; i++) {
            double off = fabs(k[first].ticks + slope * (k[i].cycles - k[first].cycles) - k[i].ticks);
            double over = off / fmin(most * k[i].half, worst_half - k[i].half);
            if (over > worst) at = i;
            worst = fmax(worst, over);
        }
        if (worst > 1) { /* the shorter piece by a call, so that calls are few */
            bool left = at - first < last - at;
            straighten(fit, left ? first : at, left ? at : last, worst_half);
            *(left ? &first : &last) = at;
            continue;
        }
        for (uint32_t i = first + 1; i < last; i++) {
            double on = k[first].ticks + slope * (k[i].cycles - k[first].cycles);
            k[i].half += fabs(on - k[i].ticks);
            k[i].ticks = on;
        }
        return;
    }
}

/* How far the map may have strayed in each interval, and where the frequency changed: a change shows when no
 * line passes the intervals on both sides. Nothing is known of the first interval and the last, between
 * bursts at an end, when nothing runs. */
static devlog_status judge_intervals(dl_clock_fit *fit, devlog_error *err)
{
    fit->changes = calloc(fit->n_knots, sizeof *fit->changes);
    if (!fit->changes) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for clock samples");
    uint32_t last = 0;
    double strength = 0;
    for (uint32_t i = 0; i + 1 < fit->n_knots; i++) {
        const double by = steered(fit, i);
        const bool first = i == 0, end = i + 2 == fit->n_knots;
        slopes before, behind;
        if (by > 0 && (first || end)) { /* the other side tells */
            slopes s = through(fit->knots, i, i + 1);
            if (first != end) (void)slopes_beside(fit, first ? i + 1 : i, first, &s);
            fit->knots[i].deviation = deviation(fit, i, wider(s, by), wider(s, by));
        }
        if (first || end) continue;
        if (!slopes_beside(fit, i, false, &before) || !slopes_beside(fit, i + 1, true, &behind)) continue;
        before = wider(before, by);
        behind = wider(behind, by);
        double here = fit->knots[i].deviation = deviation(fit, i, before, behind);
        if (before.lo <= behind.hi && behind.lo <= before.hi) continue;
        const dl_clock_change c = {i, 2 / (before.lo + before.hi), 2 / (behind.lo + behind.hi)};
        /* One change is seen from the intervals around it too: the one that strays most has it. */
        bool same = fit->n_changes && i - last <= 1;
        if (!same || here > strength) fit->changes[same ? fit->n_changes - 1 : fit->n_changes++] = c;
        strength = same ? fmax(strength, here) : here;
        last = i;
    }
    return DEVLOG_OK;
}

devlog_status dl_clock_fit_make(dl_clock_fit *fit, const dl_clock_sample *samples, size_t n, double quiet,
                                double steers, devlog_error *err)
{
    memset(fit, 0, sizeof *fit);
    fit->quiet = quiet;
    fit->steered = steers;
    if (n < 2) return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%zu clock samples: at least two are needed", n);
    burst *bursts = calloc(n, sizeof *bursts);
    fit->knots = calloc(n, sizeof *fit->knots);
    devlog_status status =
        bursts && fit->knots ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for clock samples");
    if (status != DEVLOG_OK) goto done;
    fit->cycles = samples[0].cycles;
    fit->ticks = samples[0].before;
    status = find_bursts(fit, samples, n, bursts, &fit->n_knots, err);
    if (status != DEVLOG_OK) goto done;
    if (fit->n_knots < 2) {
        status =
            dl_fail(err, DEVLOG_ERR_NOT_FOUND, "the clock was sampled once: how fast it runs is not known");
        goto done;
    }
    place_knots(fit, samples, bursts);
    order_knots(fit);
    tighten(fit);
    status = judge_intervals(fit, err);
    if (status != DEVLOG_OK) goto done;
    slopes head = {0}, tail = {0};
    slopes_beside(fit, 0, true, &head);
    slopes_beside(fit, fit->n_knots - 1, false, &tail);
    head = wider(head, steered(fit, 0));
    tail = wider(tail, steered(fit, fit->n_knots - 2));
    fit->rate_lo = head.lo;
    fit->rate_hi = head.hi;
    fit->tail_lo = tail.lo;
    fit->tail_hi = tail.hi;
    double worst_half = 0;
    for (uint32_t i = 0; i < fit->n_knots; i++)
        worst_half = fmax(worst_half, fit->knots[i].half);
    straighten(fit, 0, fit->n_knots - 1, worst_half);
    for (uint32_t i = 0; i + 1 < fit->n_knots; i++)
        fit->residual =
            fmax(fit->residual, fmax(fit->knots[i].half, fit->knots[i + 1].half) + fit->knots[i].deviation);
    const dl_clock_knot *first = &fit->knots[0], *end = &fit->knots[fit->n_knots - 1];
    fit->rate = (end->cycles - first->cycles) / (end->ticks - first->ticks);
done:
    free(bursts);
    if (status != DEVLOG_OK) dl_clock_fit_free(fit);
    return status;
}

void dl_clock_fit_free(dl_clock_fit *fit)
{
    free(fit->knots);
    free(fit->changes);
    memset(fit, 0, sizeof *fit);
}

static bool outside(const dl_clock_knot *knot, double lo, double hi, double d, double *ticks, double *error)
{
    *ticks = knot->ticks + d * (lo + hi) / 2;
    *error = knot->half + fabs(d) * (hi - lo) / 2;
    return false;
}

bool dl_clock_fit_at(const dl_clock_fit *fit, uint64_t cycles, double *ticks, double *error)
{
    double c = since(cycles, fit->cycles);
    const dl_clock_knot *k = fit->knots, *end = &k[fit->n_knots - 1];
    if (c < k->cycles) return outside(k, fit->rate_lo, fit->rate_hi, c - k->cycles, ticks, error);
    if (c > end->cycles) return outside(end, fit->tail_lo, fit->tail_hi, c - end->cycles, ticks, error);
    uint32_t lo = 0, hi = fit->n_knots - 1;
    while (hi - lo > 1) {
        uint32_t middle = (lo + hi) / 2;
        *(k[middle].cycles <= c ? &lo : &hi) = middle;
    }
    double part = (c - k[lo].cycles) / (k[hi].cycles - k[lo].cycles);
    *ticks = k[lo].ticks + part * (k[hi].ticks - k[lo].ticks);
    *error = k[lo].half + part * (k[hi].half - k[lo].half) + k[lo].deviation;
    return true;
}
