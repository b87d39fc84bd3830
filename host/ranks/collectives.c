/* What ranks do together: the time of collective ops divided into skew, in which those who came first wait for the last one, and
 * transfer, from when all are there to the end (as TraceLens divides it); who came last, and what had kept it. */
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])
enum { PERIODS = 10 };

/* One collective op. */
typedef struct meeting {
    uint32_t op;             /* ranks.ops */
    double first, last, end; /* common time: the first and the last to begin, the last end */
    double waited;           /* of all lanes together, until the last one came */
    uint32_t last_lane;      /* who came last */
    uint32_t lanes;          /* whose times are known */
    double late;             /* how long after the last of another rank */
    uint32_t
        culprit; /* ranks.ops: what took longer on the last lane than on the mean; RANKS_NONE: what lies between ops */
    double excess; /* by so much */
} meeting;

typedef struct meetings {
    meeting *items;
    size_t n;
    double *waits, *caused; /* by lane: ns that it waited; that others waited for it */
    uint32_t *times;        /* by lane: how often it came last */
} meetings;

static const rank_item *item_on(const ranks *r, const rank_op *op, uint32_t lane)
{
    for (size_t k = 0; k < op->lanes; k++)
        if (r->lane_of[r->by_op[op->first + k]] == lane) return &r->ops_of_lanes[r->by_op[op->first + k]];
    return NULL;
}

/* What kept the last one: of the ops since the meeting before, the one that took most longer than on the others. */
static void find_culprit(const ranks *r, meeting *m, size_t from, size_t place)
{
    m->culprit = RANKS_NONE;
    for (size_t i = from; i < place; i++) {
        const rank_op *op = &r->ops[r->order[i]];
        const rank_item *own = item_on(r, op, m->last_lane);
        double sum = 0, n = 0;
        if (!own || !isfinite(own->time)) continue;
        for (size_t k = 0; k < op->lanes; k++) {
            const rank_item *item = &r->ops_of_lanes[r->by_op[op->first + k]];
            if (item == own || !isfinite(item->time)) continue;
            sum += item->time;
            n++;
        }
        const double excess = n > 0 ? own->time - sum / n : 0;
        if (excess > m->excess && excess > 0) {
            m->excess = excess;
            m->culprit = r->order[i];
        }
    }
    /* Ops explain it only when they explain most of it: the rest is between them, and so the host's or the dispatcher's. */
    if (m->excess * 2 < m->late) m->culprit = RANKS_NONE;
}

/* When the last lane of another rank than the one that came last began: what a rank's chips have in common keeps all of them. */
static double before_that_rank(const ranks *r, const rank_op *op, const meeting *m)
{
    double second = -INFINITY;
    for (size_t k = 0; k < op->lanes; k++) {
        const rank_lane *l = &r->lanes[r->lane_of[r->by_op[op->first + k]]];
        const double start = ranks_start(r, r->by_op[op->first + k]);
        const bool other = r->n > 1 ? l->rank != r->lanes[m->last_lane].rank : l != &r->lanes[m->last_lane];
        if (other && start > second) second = start;
    }
    return second;
}

static bool measure(const ranks *r, const rank_op *op, uint32_t number, meeting *m)
{
    *m = (meeting){.op = number, .first = INFINITY, .last = -INFINITY, .end = -INFINITY};
    for (size_t k = 0; k < op->lanes; k++) {
        const uint32_t lane = r->lane_of[r->by_op[op->first + k]];
        const double start = ranks_start(r, r->by_op[op->first + k]),
                     end = ranks_end(r, r->by_op[op->first + k]);
        if (!isfinite(start) || !isfinite(end)) continue;
        m->lanes++;
        if (start < m->first) m->first = start;
        if (end > m->end) m->end = end;
        if (start > m->last) {
            m->last = start;
            m->last_lane = lane;
        }
    }
    if (m->lanes < 2) return false;
    const double second = before_that_rank(r, op, m);
    m->late = isfinite(second) ? m->last - second : 0;
    return true;
}

static void free_meetings(meetings *ms)
{
    free(ms->items);
    free(ms->waits);
    free(ms->caused);
    free(ms->times);
}

/* Lanes that wait for this one: of other ranks. */
static double others(const ranks *r, const rank_op *op, uint32_t lane)
{
    double n = 0;
    for (size_t k = 0; k < op->lanes; k++) {
        const uint32_t other = r->lane_of[r->by_op[op->first + k]];
        n += r->n > 1 ? r->lanes[other].rank != r->lanes[lane].rank : other != lane;
    }
    return n;
}

static bool find_meetings(const ranks *r, meetings *ms)
{
    *ms = (meetings){.items = calloc(r->n_ops + 1, sizeof *ms->items),
                     .waits = calloc(r->n_lanes + 1, sizeof *ms->waits),
                     .caused = calloc(r->n_lanes + 1, sizeof *ms->caused),
                     .times = calloc(r->n_lanes + 1, sizeof *ms->times)};
    if (!ms->items || !ms->waits || !ms->caused || !ms->times) return false;
    size_t from = 0;
    for (size_t i = 0; i < r->n_ops; i++) {
        const rank_op *op = &r->ops[r->order[i]];
        meeting *m = &ms->items[ms->n];
        if (!op->collective || !measure(r, op, r->order[i], m)) continue;
        ms->n++;
        for (size_t k = 0; k < op->lanes; k++) {
            const uint32_t lane = r->lane_of[r->by_op[op->first + k]];
            const double start = ranks_start(r, r->by_op[op->first + k]);
            if (!isfinite(start)) continue;
            ms->waits[lane] += m->last - start;
            m->waited += m->last - start;
        }
        ms->times[m->last_lane]++;
        ms->caused[m->last_lane] += m->late * others(r, op, m->last_lane);
        find_culprit(r, m, from, i);
        from = i + 1;
    }
    return true;
}

/* ---- Tables --- */

typedef struct sum {
    uint32_t code;
    double n, time, transfer, skew, worst;
} sum;

static int by_skew(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return x->skew > y->skew ? -1 : x->skew < y->skew ? 1 : x->code < y->code ? -1 : x->code > y->code;
}

static bool add_sums(answer *a, const ranks *r, const meetings *ms)
{
    static const answer_column columns[] = {
        {"op", "op", ANSWER_TEXT, 0},      {"n", "n", ANSWER_COUNT, 0},
        {"time", "time", ANSWER_TIME, 0},  {"transfer", "transfer", ANSWER_TIME, 0},
        {"skew", "skew", ANSWER_TIME, 0},  {"skew_share", "skew %", ANSWER_PERCENT, 0},
        {"worst", "most", ANSWER_TIME, 1},
    };
    answer_section *t = answer_table(a, "collectives", "COLLECTIVE OPS", COLUMNS(columns));
    sum *sums = calloc(ms->n + 1, sizeof *sums);
    size_t n = 0;
    if (!sums) return false;
    for (size_t i = 0; i < ms->n; i++) {
        const meeting *m = &ms->items[i];
        size_t k = 0;
        while (k < n && sums[k].code != r->ops[m->op].code)
            k++;
        if (k == n) sums[n++].code = r->ops[m->op].code;
        const double skew = m->waited / m->lanes;
        sums[k].n++;
        sums[k].time += skew + (m->end - m->last);
        sums[k].transfer += m->end - m->last;
        sums[k].skew += skew;
        if (m->last - m->first > sums[k].worst) sums[k].worst = m->last - m->first;
    }
    qsort(sums, n, sizeof *sums, by_skew);
    for (size_t i = 0; i < n; i++) {
        answer_text(t, ranks_text(r, sums[i].code));
        answer_number(t, sums[i].n);
        answer_number(t, sums[i].time);
        answer_number(t, sums[i].transfer);
        answer_number(t, sums[i].skew);
        answer_number(t, sums[i].time > 0 ? 100 * sums[i].skew / sums[i].time : NAN);
        answer_number(t, sums[i].worst);
    }
    answer_note(
        a, t,
        "transfer: from when the last chip has begun to the end. skew: how long a chip waits for the last one, the mean of "
        "all chips. most: from the first to the last, of the worst one. All known to about twice what RANKS says of clocks.");
    free(sums);
    return true;
}

static int by_caused(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] > y[0] ? -1 : x[0] < y[0] ? 1 : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* What most often kept a lane; `of_code`: 0 of every text, and so again behind it. */
static const char *reason(answer *a, const ranks *r, const meetings *ms, uint32_t lane, double *of_code)
{
    double best = 0, between = 0;
    uint32_t code = RANKS_NONE;
    for (size_t i = 0; i < ms->n; i++) {
        const meeting *m = &ms->items[i];
        if (m->last_lane != lane) continue;
        if (m->culprit == RANKS_NONE)
            between += m->late;
        else
            of_code[r->ops[m->culprit].code] += m->excess;
    }
    for (size_t i = 0; i < ms->n; i++) {
        const meeting *m = &ms->items[i];
        if (m->last_lane != lane || m->culprit == RANKS_NONE) continue;
        const uint32_t of = r->ops[m->culprit].code;
        if (of_code[of] > best) {
            best = of_code[of];
            code = of;
        }
        of_code[of] = 0;
    }
    if (code == RANKS_NONE || between > best)
        return between > 0 ? "between ops: its host, or dispatch" : NULL;
    return answer_keepf(a, "%s takes longer there", ranks_text(r, code));
}

static bool add_late(answer *a, const ranks *r, const meetings *ms, size_t top)
{
    static const answer_column columns[] = {
        {"who", "who came last", ANSWER_TEXT, 0},      {"rank", "rank", ANSWER_COUNT, ANSWER_HIDDEN},
        {"chip", "chip", ANSWER_COUNT, ANSWER_HIDDEN}, {"times", "times", ANSWER_COUNT, 0},
        {"share", "of all %", ANSWER_PERCENT, 1},      {"caused", "others waited", ANSWER_TIME, 0},
        {"waited", "it waited", ANSWER_TIME, 2},       {"why", "what kept it", ANSWER_TEXT, 0},
    };
    answer_section *t = answer_table(a, "late", "WHO WAITED FOR WHOM", COLUMNS(columns));
    double(*order)[2] = calloc(r->n_lanes + 1, sizeof *order);
    double *of_code = calloc((size_t)dl_intern_count(r->texts) + 1, sizeof *of_code);
    size_t n = 0;
    if (!order || !of_code) {
        free(order);
        free(of_code);
        return false;
    }
    for (size_t i = 0; i < r->n_lanes; i++)
        if (ms->times[i]) {
            order[n][0] = ms->caused[i];
            order[n++][1] = (double)i;
        }
    qsort(order, n, sizeof *order, by_caused);
    for (size_t i = 0; i < n; i++) {
        const uint32_t lane = (uint32_t)order[i][1];
        answer_text(t, ranks_lane_name(a, r, &r->lanes[lane]));
        answer_number(t, r->items[r->lanes[lane].rank].number);
        answer_number(t, r->lanes[lane].chip);
        answer_number(t, ms->times[lane]);
        answer_number(t, ms->n ? 100.0 * ms->times[lane] / (double)ms->n : NAN);
        answer_number(t, ms->caused[lane]);
        answer_number(t, ms->waits[lane]);
        answer_text(t, top && i >= top ? NULL : reason(a, r, ms, lane, of_code));
    }
    answer_top(t, top);
    answer_note(
        a, t,
        "others waited: by how much it came after the last chip of another rank, times their chips. it waited: for those "
        "that came last elsewhere.");
    free(of_code);
    free(order);
    return true;
}

/* Tenths of the run, by its collective ops: stragglers that come and go. */
static bool add_periods(answer *a, const ranks *r, const meetings *ms)
{
    static const answer_column columns[] = {
        {"from", "from", ANSWER_TIME, 0},
        {"until", "until", ANSWER_TIME, 1},
        {"collectives", "collectives", ANSWER_COUNT, 2},
        {"transfer", "transfer", ANSWER_TIME, 0},
        {"skew", "skew", ANSWER_TIME, 0},
        {"straggler", "came last most", ANSWER_TEXT, 0},
        {"times", "times", ANSWER_COUNT, 0},
    };
    answer_section *t = answer_table(a, "periods", "STRAGGLERS OVER TIME", COLUMNS(columns));
    uint32_t *times = calloc(r->n_lanes + 1, sizeof *times);
    if (!times) return false;
    const size_t periods = ms->n < PERIODS ? ms->n : PERIODS;
    for (size_t p = 0; p < periods; p++) {
        const size_t from = p * ms->n / periods, to = (p + 1) * ms->n / periods;
        double transfer = 0, skew = 0;
        uint32_t most = 0;
        memset(times, 0, r->n_lanes * sizeof *times);
        for (size_t i = from; i < to; i++) {
            const meeting *m = &ms->items[i];
            transfer += m->end - m->last;
            skew += m->waited / m->lanes;
            if (++times[m->last_lane] > times[most]) most = m->last_lane;
        }
        answer_number(t, ms->items[from].first - ms->items[0].first);
        answer_number(t, ms->items[to - 1].end - ms->items[0].first);
        answer_number(t, (double)(to - from));
        answer_number(t, transfer);
        answer_number(t, skew);
        answer_text(t, ranks_lane_name(a, r, &r->lanes[most]));
        answer_number(t, times[most]);
    }
    free(times);
    return true;
}

/* ---- Steps --- */

typedef struct step {
    uint32_t name; /* ranks.texts */
    double ops, meetings, transfer, skew;
} step;

/* The step of each op, + 1, by when the first of its items belongs to one. False: no memory. */
static bool find_steps(const ranks *r, uint32_t *of_op, step *steps, size_t *n)
{
    uint32_t *at = calloc((size_t)dl_intern_count(r->texts) + 1, sizeof *at);
    *n = 0;
    for (size_t i = 0; i < r->n_ops && at; i++) {
        const rank_op *op = &r->ops[r->order[i]];
        const uint32_t name = r->ops_of_lanes[r->by_op[op->first]].step;
        if (!name) continue;
        if (!at[name]) {
            steps[(*n)++].name = name;
            at[name] = (uint32_t)*n;
        }
        of_op[r->order[i]] = at[name];
        steps[at[name] - 1].ops++;
    }
    const bool good = at != NULL;
    free(at);
    return good;
}

/* Own work of a rank in an op: of its slowest chip. */
static void add_step_work(const ranks *r, const rank_op *op, double *work)
{
    for (size_t k = 0; k < op->lanes;) {
        const uint32_t rank = r->lanes[r->lane_of[r->by_op[op->first + k]]].rank;
        double longest = 0;
        for (; k < op->lanes && r->lanes[r->lane_of[r->by_op[op->first + k]]].rank == rank; k++)
            longest = fmax(longest, r->ops_of_lanes[r->by_op[op->first + k]].time);
        work[rank] += longest;
    }
}

static bool add_steps(answer *a, const ranks *r, const meetings *ms, size_t top)
{
    static const answer_column columns[] = {
        {"step", "step", ANSWER_TEXT, 0},           {"ops", "ops", ANSWER_COUNT, 3},
        {"work", "own work", ANSWER_TIME, 0},       {"spread", "spread %", ANSWER_PERCENT, 0},
        {"slow_rank", "slow rank", ANSWER_TEXT, 1}, {"collectives", "collectives", ANSWER_COUNT, 2},
        {"transfer", "transfer", ANSWER_TIME, 0},   {"skew", "skew", ANSWER_TIME, 0},
    };
    uint32_t *of_op = calloc(r->n_ops + 1, sizeof *of_op);
    step *steps = calloc(r->n_ops + 1, sizeof *steps);
    double *work = NULL;
    size_t n = 0;
    bool good = of_op && steps && find_steps(r, of_op, steps, &n);
    if (good && n) good = (work = calloc(n * r->n, sizeof *work)) != NULL;
    for (size_t i = 0; i < ms->n && n && good; i++) {
        const meeting *m = &ms->items[i];
        if (!of_op[m->op]) continue;
        step *s = &steps[of_op[m->op] - 1];
        s->meetings++;
        s->transfer += m->end - m->last;
        s->skew += m->waited / m->lanes;
    }
    for (size_t i = 0; i < r->n_ops && n && good; i++)
        if (of_op[i] && !r->ops[i].collective) add_step_work(r, &r->ops[i], &work[(of_op[i] - 1) * r->n]);
    answer_section *t = good && n ? answer_table(a, "steps", "STEPS", COLUMNS(columns)) : NULL;
    for (size_t k = 0; t && k < n; k++) {
        double all = 0, most = 0, least = INFINITY;
        size_t slow = 0;
        for (size_t i = 0; i < r->n; i++) {
            const double own = work[k * r->n + i];
            if (r->items[i].silent) continue;
            all += own;
            least = fmin(least, own);
            if (own > most) slow = i;
            if (own > most) most = own;
        }
        const double mean = all / (double)(r->n - r->n_silent),
                     spread = mean > 0 ? 100 * (most - least) / mean : NAN;
        answer_text(t, ranks_text(r, steps[k].name));
        answer_number(t, steps[k].ops);
        answer_number(t, mean);
        answer_number(t, spread);
        answer_text(t, spread > RANKS_SPREAD ? answer_keepf(a, "%u", r->items[slow].number) : NULL);
        answer_number(t, steps[k].meetings);
        answer_number(t, steps[k].transfer);
        answer_number(t, steps[k].skew);
    }
    if (t) answer_top(t, top);
    if (t)
        answer_note(
            a, t,
            "From a step to the next one, or from a signpost where a program has no steps; those of one name together. own "
            "work: the mean of all ranks; transfer and skew: the sums of its collective ops.");
    free(of_op);
    free(steps);
    free(work);
    return good;
}

/* Each collective op, for programs. */
static void add_each(answer *a, const ranks *r, const meetings *ms)
{
    static const answer_column columns[] = {
        {"op", "op", ANSWER_TEXT, 0},
        {"place", "place", ANSWER_COUNT, ANSWER_HIDDEN},
        {"start", "start", ANSWER_TIME, 0},
        {"chips", "chips", ANSWER_COUNT, 3},
        {"transfer", "transfer", ANSWER_TIME, 0},
        {"skew", "skew", ANSWER_TIME, 0},
        {"spread", "first to last", ANSWER_TIME, 1},
        {"last", "came last", ANSWER_TEXT, 0},
        {"late", "late by", ANSWER_TIME, 2},
        {"why", "what kept it", ANSWER_TEXT, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "each", "EACH COLLECTIVE OP", COLUMNS(columns));
    for (size_t i = 0; i < ms->n; i++) {
        const meeting *m = &ms->items[i];
        answer_text(t, ranks_text(r, r->ops[m->op].code));
        answer_number(t, r->ops[m->op].place);
        answer_number(t, m->first - ms->items[0].first);
        answer_number(t, m->lanes);
        answer_number(t, m->end - m->last);
        answer_number(t, m->waited / m->lanes);
        answer_number(t, m->last - m->first);
        answer_text(t, ranks_lane_name(a, r, &r->lanes[m->last_lane]));
        answer_number(t, m->late);
        answer_text(t, m->culprit == RANKS_NONE ? NULL : ranks_text(r, r->ops[m->culprit].code));
    }
}

devlog_status ranks_answer_collectives(answer *a, const ranks *r, const ranks_wishes *w, devlog_error *err)
{
    meetings ms;
    bool good = find_meetings(r, &ms);
    if (good && ms.n) {
        good = add_sums(a, r, &ms) && add_late(a, r, &ms, w->top) && add_periods(a, r, &ms);
        if (good && !w->top) add_each(a, r, &ms);
    }
    if (good) good = add_steps(a, r, &ms, w->top);
    free_meetings(&ms);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}
