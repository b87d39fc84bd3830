/* Gates. See gate.h. A limit on times fails when it is exceeded and chance does not explain it; when there are too
 * few samples for anything to be more than chance, the gate cannot shut, and that is its result. */
#include "answers/gate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum what { W_OP, W_ZONE, W_TOTAL, W_GAPS, W_HOST, W_COUNT, W_MISSING, W_NEW, W_ALL, WHATS } what;
typedef enum stat_of { S_MEAN, S_MEDIAN, S_P90, S_P95, S_P99, STATS } stat_of;
typedef enum unit_of { U_PERCENT, U_NS, U_US, U_MS, U_CYCLES, UNITS } unit_of;

static const struct {
    const char *name;
    bool alone, stats, below; /* alone: takes no limit; below: "<" makes sense */
    const char *of;           /* what it compares; NULL: whatever there is */
} whats[WHATS] = {
    [W_OP] = {"op", false, true, true, "op's time"},
    [W_ZONE] = {"zone", false, true, true, "zone's time"},
    [W_TOTAL] = {"total", false, false, true, "time on the device"},
    [W_GAPS] = {"gaps", false, false, true, "time of gaps on the device"},
    [W_HOST] = {"host", false, false, true, "host time"},
    [W_COUNT] = {"count", false, false, true, NULL},
    [W_MISSING] = {"missing", true, false, false, NULL},
    [W_NEW] = {"new", true, false, false, NULL},
    [W_ALL] = {"all", false, false, false, NULL},
};

static const struct {
    const char *name;
    double q;
} stats[STATS] = {
    [S_MEAN] = {"mean", 0},  [S_MEDIAN] = {"median", 0}, [S_P90] = {"p90", 0.90},
    [S_P95] = {"p95", 0.95}, [S_P99] = {"p99", 0.99},
};

static const struct {
    const char *name;
    double ns;
} units[UNITS] = {
    [U_PERCENT] = {"%", 0}, [U_NS] = {"ns", 1},         [U_US] = {"us", 1e3},
    [U_MS] = {"ms", 1e6},   [U_CYCLES] = {"cycles", 1},
};

/* ---- Reading --- */

static devlog_status wrong(const char *text, const char *why, devlog_error *err)
{
    char shown[81];
    snprintf(shown, sizeof shown, "%.80s", text);
    dl_shown_in_place(shown);
    return dl_fail(
        err, DEVLOG_ERR_ARGUMENT,
        "'%s' %s; a condition is op, zone, total, gaps, host, count or all, then > or < and a change "
        "(op>+5%%, op_p95>+5%%, total>+20us, count<-1%%), or missing, or new",
        shown, why);
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

/* Digits with a decimal point, perhaps; NULL: there is none. */
static const char *number(const char *p, double *out)
{
    size_t digits = 0;
    double place = 1;
    bool point = false;
    *out = 0;
    for (;; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9') break;
        if (++digits > 15) return NULL;
        *out = *out * 10 + (*p - '0');
        if (point) place *= 10;
    }
    *out /= place;
    return digits ? p : NULL;
}

static devlog_status parse_limit(gate *g, const char *p, devlog_error *err)
{
    g->below = *p == '<';
    if (g->below && !whats[g->what].below) return wrong(g->text, "takes > only", err);
    p++;
    const char sign = *p;
    if (sign != '+' && sign != '-')
        return wrong(g->text, "compares with a change, which begins with + or -", err);
    if ((sign == '-') != g->below)
        return wrong(g->text, "wants >+ for more than before, or <- for less", err);
    const char *unit = number(p + 1, &g->limit);
    if (!unit) return wrong(g->text, "has no number behind its sign", err);
    for (int i = 0; i < UNITS; i++) {
        if (strcmp(units[i].name, unit) != 0) continue;
        g->unit = (uint8_t)i;
        if ((g->what == W_COUNT || g->what == W_ALL) && i != U_PERCENT)
            return wrong(g->text, "wants a change in %", err);
        return DEVLOG_OK;
    }
    return wrong(g->text,
                 *unit ? "has a unit that is none of %, ns, us, ms, cycles"
                       : "has no unit: one of %, ns, us, ms, cycles",
                 err);
}

devlog_status gate_parse(gate *g, const char *text, devlog_error *err)
{
    *g = (gate){.text = text};
    const size_t word = strcspn(text, "<>"), name = strcspn(text, "_<>");
    int at = 0;
    while (at < WHATS && !is_word(text, name, whats[at].name))
        at++;
    if (at == WHATS) return wrong(text, "speaks of nothing that is compared", err);
    g->what = (uint8_t)at;
    if (name < word) {
        int s = 0;
        while (s < STATS && !is_word(text + name + 1, word - name - 1, stats[s].name))
            s++;
        if (s == STATS || !whats[at].stats)
            return wrong(text,
                         whats[at].stats ? "has an ending that is none of _mean, _median, _p90, _p95, _p99"
                                         : "has an ending, which only op and zone take",
                         err);
        g->stat = (uint8_t)s;
    }
    if (whats[at].alone) return text[word] ? wrong(text, "takes no limit", err) : DEVLOG_OK;
    if (!text[word]) return wrong(text, "has no limit", err);
    return parse_limit(g, text + word, err);
}

void gate_free(gate *g)
{
    for (size_t i = 0; i < g->n_reasons; i++)
        free(g->reasons[i]);
    g->n_reasons = 0;
}

/* ---- Judging --- */

/* `l`: what it is about, or NULL. */
static void DL_PRINTF(4, 5) reason(gate *g, gate_result result, const diff_line *l, const char *fmt, ...)
{
    *(result == GATE_FAILED ? &g->failed : &g->undecided) += 1;
    if (g->n_reasons == GATE_REASONS) {
        if (result != GATE_FAILED || g->failed > GATE_REASONS) return;
        free(g->reasons[--g->n_reasons]); /* one that is undecided */
    }
    va_list args;
    char said[300];
    dl_str text = {0};
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    if (l) {
        diff_line_name(l, &text);
        dl_str_add(&text, ": ");
    }
    dl_str_add(&text, said);
    if (text.failed) {
        dl_str_free(&text);
        return;
    }
    size_t at = g->n_reasons++;
    /* What failed stands before what is undecided. */
    const size_t to = g->failed ? g->failed - 1 : at;
    if (result == GATE_FAILED && to < at) {
        memmove(g->reasons + to + 1, g->reasons + to, (at - to) * sizeof *g->reasons);
        at = to;
    }
    g->reasons[at] = text.text;
}

static double stat_value(const diff_part *p, uint8_t stat)
{
    return stat == S_MEAN     ? p->mean
           : stat == S_MEDIAN ? p->median
                              : rank_test_quantile(p->sorted, p->n, stats[stat].q);
}

/* Whether a time is beyond the limit; *percent: by how much it changed. */
static bool beyond(const gate *g, double before, double after, double *percent)
{
    *percent = before > 0 ? 100 * (after / before - 1) : 0;
    const double limit = g->unit == U_PERCENT ? before * g->limit / 100 : g->limit * units[g->unit].ns;
    return g->below ? before - after > limit : after - before > limit;
}

/* Whether the greatest samples alone are more than chance: what ranks as a whole do not show. */
static gate_result tail_result(const gate *g, const diff *d, const diff_line *l, rank_test *t)
{
    const diff_part *x = &l->part[g->below ? DIFF_NEW : DIFF_OLD],
                    *y = &l->part[g->below ? DIFF_OLD : DIFF_NEW];
    double least, p = rank_test_tail(t, x->sorted, x->n, y->sorted, y->n, stats[g->stat].q, &least);
    if (p < 0) return GATE_UNDECIDED;
    /* Each line is tested twice, by all ranks and by its tail: Bonferroni's correction, for all lines. */
    const double times = 2 * (double)(d->tested ? d->tested : 1);
    if (p * times <= d->alpha) return GATE_FAILED;
    return least * times > d->alpha ? GATE_UNDECIDED : GATE_PASSED;
}

static gate_result time_result(const gate *g, const diff *d, const diff_line *l, bool is_beyond, rank_test *t)
{
    const bool worse = l->verdict == (g->below ? DIFF_FASTER : DIFF_SLOWER);
    const bool tail = stats[g->stat].q > 0;
    if (!is_beyond) return l->verdict == DIFF_UNDECIDED ? GATE_UNDECIDED : GATE_PASSED;
    if (d->exact) return GATE_FAILED;
    if (worse && (!tail || 2 * l->corrected <= d->alpha)) return GATE_FAILED;
    if (l->verdict == DIFF_UNDECIDED) return GATE_UNDECIDED;
    return tail && l->tested ? tail_result(g, d, l, t) : GATE_PASSED;
}

/* Whether a greater part of it than before has no time: the slow ones may be among those. */
static bool more_missing(const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    return x->count && y->count &&
           (double)y->without * (double)x->count > (double)x->without * (double)y->count;
}

static void say_missing(gate *g, const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    reason(g, GATE_FAILED, l, "%llu of %llu have no time, before %llu of %llu",
           (unsigned long long)y->without, (unsigned long long)y->count, (unsigned long long)x->without,
           (unsigned long long)x->count);
}

static void judge_time(gate *g, const diff *d, const diff_line *l, rank_test *t)
{
    double percent;
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    if (l->verdict == DIFF_LOST_TIME) { /* what cannot be judged does not pass */
        reason(g, GATE_FAILED, l, "has no time any more");
        return;
    }
    if (l->kind == DIFF_TOTAL && !y->n && x->n) reason(g, GATE_FAILED, l, "is not known any more");
    if (l->kind != DIFF_TOTAL && !x->n && x->count && y->n)
        reason(g, GATE_FAILED, l, "had no time before: there is nothing to compare it with");
    if (l->kind != DIFF_TOTAL && x->n && y->n && more_missing(l)) {
        say_missing(g, l);
        return;
    }
    if (!x->n || !y->n) return;
    if (l->is_small && !d->exact) return;
    g->judged++;
    const double before = stat_value(x, g->stat), after = stat_value(y, g->stat);
    const bool is_beyond = beyond(g, before, after, &percent);
    const gate_result result = time_result(g, d, l, is_beyond, t);
    if (result == GATE_PASSED) return;
    const char *unit = l->by_clock ? "cycles" : "ns";
    reason(g, result, l, "%s %.0f %s before, %.0f now, %+.2f %%%s",
           l->kind == DIFF_TOTAL ? "all" : stats[g->stat].name, before, unit, after, percent,
           result == GATE_UNDECIDED ? "; too few samples to tell" : "");
}

static void judge_count(gate *g, const diff *d, const diff_line *l)
{
    double percent;
    const double before = (double)l->part[DIFF_OLD].count / d->side_runs[DIFF_OLD],
                 after = (double)l->part[DIFF_NEW].count / d->side_runs[DIFF_NEW];
    if (l->kind == DIFF_TOTAL || before <= 0 || after <= 0) return;
    if (beyond(g, before, after, &percent))
        reason(g, GATE_FAILED, l, "%.6g a run before, %.6g now", before, after);
}

/* What was there and is not: lines, times of some of their ops, and records. */
static void judge_missing(gate *g, const diff_line *l)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    if (l->verdict == DIFF_IS_GONE)
        reason(g, GATE_FAILED, l, "is gone");
    else if (l->verdict == DIFF_LOST_TIME || (l->kind == DIFF_TOTAL && x->n && !y->n))
        reason(g, GATE_FAILED, l, "has no time any more");
    else if (more_missing(l))
        say_missing(g, l);
}

static void judge_runs(gate *g, const diff *d)
{
    bool ops[DIFF_SIDES] = {0}, logs[DIFF_SIDES] = {0};
    uint64_t lost[DIFF_SIDES] = {0};
    for (size_t i = 0; i < d->n_runs; i++) {
        const diff_run *r = &d->runs[i];
        ops[r->side] |= r->has_ops;
        logs[r->side] |= r->has_log;
        lost[r->side] += r->lost;
        if (r->side == DIFF_NEW && r->has_ops && !r->ops)
            reason(g, GATE_FAILED, NULL, "%s: has no ops", r->name);
    }
    if (ops[DIFF_OLD] && !ops[DIFF_NEW]) reason(g, GATE_FAILED, NULL, "there is no op report any more");
    if (logs[DIFF_OLD] && !logs[DIFF_NEW]) reason(g, GATE_FAILED, NULL, "there is no device log any more");
    if (lost[DIFF_NEW] && !lost[DIFF_OLD])
        reason(g, GATE_FAILED, NULL, "something was lost of the new device log; devlog decode says what");
}

/* Which lines a gate looks at. */
static bool looks_at(const gate *g, const diff_line *l)
{
    switch ((what)g->what) {
    case W_OP: return l->kind == DIFF_OP;
    case W_ZONE: return l->kind == DIFF_ZONE;
    case W_TOTAL: return l->kind == DIFF_TOTAL && l->place == DIFF_DEVICE;
    case W_GAPS: return l->kind == DIFF_TOTAL && l->place == DIFF_GAPS;
    case W_HOST: return l->kind == DIFF_TOTAL && l->place == DIFF_HOST;
    case W_COUNT:
    case W_NEW: return l->kind == DIFF_OP || l->kind == DIFF_ZONE;
    case W_MISSING: return l->kind != DIFF_CAUSE;
    case W_ALL:
    default: return false;
    }
}

static void judge_line(gate *g, const diff *d, const diff_line *l, rank_test *t)
{
    switch ((what)g->what) {
    case W_COUNT: judge_count(g, d, l); break;
    case W_MISSING: judge_missing(g, l); break;
    case W_NEW:
        if (l->verdict == DIFF_IS_NEW) reason(g, GATE_FAILED, l, "is new");
        break;
    default: judge_time(g, d, l, t);
    }
}

static void judge_one(gate *g, const diff *d, rank_test *t)
{
    for (size_t i = 0; i < d->n_order; i++) {
        const diff_line *l = &d->lines[d->order[i]];
        if (looks_at(g, l)) judge_line(g, d, l, t);
    }
    if (g->what == W_MISSING) judge_runs(g, d);
}

/* A condition that speaks of what is not there on both sides could not be true. */
static void judge_nothing(gate *g, const diff *d)
{
    if (g->judged || g->failed || g->undecided || !whats[g->what].of) return;
    reason(g, GATE_UNDECIDED, NULL, "no %s is known before and after%s", whats[g->what].of,
           d->min_share > 0 && (g->what == W_OP || g->what == W_ZONE) ? " that --min-share leaves" : "");
}

/* Percent by which gaps and host times may grow under "all": they are times of a whole machine. */
enum { HOST_LIMIT = 400 };

/* "all": everything that a gate can look at. */
static void judge_all(gate *g, const diff *d, rank_test *t)
{
    static const uint8_t parts[] = {W_MISSING, W_NEW, W_COUNT, W_TOTAL, W_OP, W_ZONE, W_GAPS, W_HOST};
    const double limit = g->limit;
    for (size_t i = 0; i < sizeof parts; i++) {
        const bool host = parts[i] == W_GAPS || parts[i] == W_HOST;
        g->what = parts[i];
        g->limit = host && limit < HOST_LIMIT ? HOST_LIMIT : limit;
        judge_one(g, d, t);
        g->below = parts[i] == W_COUNT; /* fewer, too */
        if (g->below) judge_one(g, d, t);
        g->below = false;
    }
    g->what = W_ALL;
    g->limit = limit;
}

devlog_status gate_judge(gate *g, const diff *d, devlog_error *err)
{
    rank_test t = {0};
    const bool cycles = g->unit == U_CYCLES, ns = g->unit == U_NS || g->unit == U_US || g->unit == U_MS;
    for (size_t i = 0; i < d->n_order && (cycles || ns); i++) {
        const diff_line *l = &d->lines[d->order[i]];
        if (looks_at(g, l) && l->by_clock != cycles)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "'%s' speaks of %s, and these times are %s%s", g->text,
                           units[g->unit].name, cycles ? "nanoseconds" : "cycles",
                           cycles ? "" : ", as the clock of a log is unknown");
    }
    if (g->what == W_ALL)
        judge_all(g, d, &t);
    else
        judge_one(g, d, &t);
    judge_nothing(g, d);
    rank_test_free(&t);
    g->result = g->failed ? GATE_FAILED : g->undecided ? GATE_UNDECIDED : GATE_PASSED;
    return DEVLOG_OK;
}
