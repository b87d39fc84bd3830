/* What many ranks say: who they are and how well their clocks are known, and where they differ. Times of one rank are those of its
 * slowest chip. collectives.c has what they do together. */
#include <stdlib.h>

#include "ranks/ranks.h"

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])

const char *ranks_lane_name(answer *a, const ranks *r, const rank_lane *l)
{
    const unsigned number = r->items[l->rank].number;
    bool several = false;
    for (size_t i = 0; i < r->n_lanes; i++)
        several |= r->lanes[i].rank == l->rank && r->lanes[i].chip != l->chip;
    return several ? answer_keepf(a, "rank %u chip %u", number, l->chip) : answer_keepf(a, "rank %u", number);
}

/* "rank 3", "ranks 3, 7-9 and 200": all of them, as they are what somebody has to look for. */
static void add_numbers(dl_str *s, const unsigned *numbers, size_t n)
{
    dl_str_add(s, n == 1 ? "rank " : "ranks ");
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && numbers[next] == numbers[next - 1] + 1)
            next++;
        if (next - i == 2) next--;
        dl_str_add(s, i == 0 ? "" : next == n ? " and " : ", ");
        dl_str_fmt(s, next - i > 2 ? "%u-%u" : "%u", numbers[i], numbers[next - 1]);
    }
}

static bool is_silent(const ranks *r, size_t rank)
{
    return r->items[rank].silent;
}

static bool has_jumped(const ranks *r, size_t rank)
{
    for (size_t i = 0; i < r->n_lanes; i++)
        if (r->lanes[i].rank == rank && r->lanes[i].impossible) return true;
    return false;
}

/* The ranks that something holds for. */
static const char *who(answer *a, const ranks *r, bool (*holds)(const ranks *r, size_t rank))
{
    unsigned *numbers = malloc((r->n + 1) * sizeof *numbers);
    dl_str text = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->n && numbers; i++)
        if (holds(r, i)) numbers[n++] = r->items[i].number;
    if (n) add_numbers(&text, numbers, n);
    const char *kept = answer_keepf(a, "%s", text.len && !text.failed ? text.text : "ranks");
    dl_str_free(&text);
    free(numbers);
    return kept;
}

/* What speaks against folders being of one run. */
static void add_doubts(answer *a, answer_section *f, const ranks *r)
{
    enum { APART = 3600 }; /* seconds; ranks end within seconds of one another */
    const rank_entry *apart = NULL, *oldest = NULL, *newest = NULL, *one = NULL, *other = NULL;
    double n_apart = 0, of_other_size = 0;
    for (size_t i = 0; i < r->n; i++) {
        const rank_entry *e = &r->items[i];
        n_apart += e->apart;
        of_other_size += ranks_of_other_size(r, i);
        if (e->apart && !apart) apart = e;
        if (e->stamp && (!oldest || e->stamp < oldest->stamp)) oldest = e;
        if (e->stamp && (!newest || e->stamp > newest->stamp)) newest = e;
        if (e->arch && !one) one = e;
        if (e->arch && one->arch != e->arch && !other) other = e;
    }
    if (apart)
        answer_fact(
            a, f, "apart", "with no common op", ANSWER_COUNT, n_apart,
            answer_keepf(a, "rank %u%s: no other rank has one of its ops; leave out what is of another run",
                         apart->number, n_apart > 1 ? " and others" : ""));
    if (of_other_size > 0) {
        const rank_entry *e = r->items;
        while (!e->ranks)
            e++;
        answer_fact(a, f, "other_sizes", "of other runs", ANSWER_COUNT, of_other_size,
                    answer_keepf(a, "rank %u is one of %u, %s not: leave out what is of another run",
                                 e->number, e->ranks, who(a, r, ranks_of_other_size)));
    }
    for (size_t i = 0; i < r->n; i++) {
        const rank_entry *e = &r->items[i];
        if (!e->said_by || e->said == e->number) continue;
        double n = 0;
        for (size_t k = i; k < r->n; k++)
            n += r->items[k].said_by && r->items[k].said != r->items[k].number;
        answer_fact(
            a, f, "renamed", "names are not ranks", ANSWER_COUNT, n,
            answer_keepf(
                a, "%s is rank %u by its name and rank %u by its %s%s: the name counts; rename what is wrong",
                e->folder, e->number, e->said, e->said_by, n > 1 ? ", and others likewise" : ""));
        break;
    }
    if (oldest && newest->stamp - oldest->stamp > APART)
        answer_fact(
            a, f, "reports_apart", "reports lie apart", ANSWER_TIME,
            (double)(newest->stamp - oldest->stamp) * 1e9,
            answer_keepf(
                a,
                "rank %u's is the oldest, rank %u's the newest: are they of one run? Run again, or name the reports",
                oldest->number, newest->number));
    if (other)
        answer_fact_text(
            a, f, "boards", "boards differ", ranks_text(r, other->arch),
            answer_keepf(a, "rank %u's; rank %u's is %s: times of ops are not comparable between them",
                         other->number, one->number, ranks_text(r, one->arch)));
}

/* What the clocks are known by. */
static const char *by_what(answer *a, const ranks *r, size_t collective, size_t unaligned, size_t strangers)
{
    size_t by[RANKS_WAY_REALTIME + 1] = {0}, unknown = 0;
    for (size_t i = 0; i < r->n_lanes; i++) {
        by[r->lanes[i].way] += r->lanes[i].aligned;
        unknown += r->lanes[i].aligned && isnan(r->lanes[i].residual);
    }
    const size_t by_hosts = by[RANKS_WAY_SAME] + by[RANKS_WAY_EXCHANGES] + by[RANKS_WAY_REALTIME];
    if (unknown)
        return answer_keepf(a, "by CLOCK_REALTIME, of which for %zu chips no kernel says how far off it is",
                            unknown);
    if (by_hosts && !by[RANKS_WAY_COLLECTIVES])
        return answer_keepf(a, "by the clocks of hosts (CLOCKS), the worst of all chips%s",
                            unaligned ? answer_keepf(a, "; of %zu nothing is known", unaligned) : "");
    if (by_hosts)
        return answer_keepf(a, "by the ends of collective ops; %zu chips by the clocks of hosts (CLOCKS)",
                            by_hosts);
    if (!collective) return "no collective op, and no clock of a host: nothing that all ranks saw";
    if (strangers)
        return answer_keepf(a, "by the ends of collective ops; %zu of them contradict the others", strangers);
    if (unaligned) return answer_keepf(a, "%zu chips have no collective op with times", unaligned);
    return "by the ends of collective ops, the worst of all chips";
}

static void add_summary(answer *a, const ranks *r)
{
    static const char *const how[] = {
        [RANKS_BY_ID] = "the same op by its id (GLOBAL CALL COUNT)",
        [RANKS_BY_ORDER] = "the same op by the order of ops and their shapes: ids differ between ranks",
        [RANKS_BY_KIND] =
            ("ranks' ops differ in thousands of places: the nth of a code and shape on one is taken "
             "for the nth on all, which is a guess"),
    };
    answer_section *f = answer_facts(a, "verdict", "RANKS AS ONE RUN");
    size_t shared = 0, collective = 0, unaligned = 0, strangers = 0, jumped = 0, impossible = 0;
    double worst = 0, bound = 0;
    for (size_t i = 0; i < r->n_ops; i++) {
        shared += r->ops[i].lanes == r->n_lanes;
        collective += r->ops[i].collective;
    }
    for (size_t i = 0; i < r->n_lanes; i++) {
        const rank_lane *l = &r->lanes[i];
        unaligned += !l->aligned;
        strangers += l->strangers;
        jumped += l->impossible != 0;
        impossible += l->impossible;
        if (l->aligned && !isnan(worst) && !(l->residual <= worst)) worst = l->residual;
        if (l->aligned && !isnan(bound) && !(l->bound <= bound)) bound = l->bound;
    }
    answer_fact(a, f, "ranks", "ranks", ANSWER_COUNT, (double)r->n, NULL);
    answer_fact(a, f, "chips", "chips", ANSWER_COUNT, (double)r->n_lanes, NULL);
    answer_fact(a, f, "ops", "ops", ANSWER_COUNT, (double)r->n_ops, how[r->by]);
    answer_fact(a, f, "shared", "on all chips", ANSWER_COUNT, (double)shared,
                shared == r->n_ops ? NULL : "the others are missing somewhere, or ran only on some");
    answer_fact(a, f, "collective", "collective", ANSWER_COUNT, (double)collective, NULL);
    answer_fact(a, f, "residual", "clocks known to", ANSWER_TIME, unaligned == r->n_lanes ? NAN : worst,
                by_what(a, r, collective, unaligned, strangers));
    if (unaligned < r->n_lanes)
        answer_fact(
            a, f, "bound", "in any case", ANSWER_TIME, bound,
            isnan(bound) ? NULL
            : r->by_hosts
                ? "the same: it is a bound"
                : "however far the ends of a collective op lie apart: none is before all chips have begun");
    ranks_answer_doubts_of_clocks(a, f, r);
    if (jumped)
        answer_fact(
            a, f, "jumped", "clocks that jump", ANSWER_COUNT, (double)jumped,
            answer_keepf(
                a,
                "of %s: by them %zu collective ops were over before others began, or began when others had ended; not counted in these",
                who(a, r, has_jumped), impossible));
    if (r->n_missing) {
        dl_str text = {0};
        add_numbers(&text, r->missing, r->n_missing);
        answer_fact(a, f, "missing", "missing ranks", ANSWER_COUNT, (double)r->n_missing,
                    answer_keepf(a, "%s: not in the folder; did %s die, or not get copied?",
                                 text.failed ? "" : text.text, r->n_missing > 1 ? "they" : "it"));
        dl_str_free(&text);
    }
    if (r->n_silent) {
        const rank_entry *e = r->items;
        while (!e->silent)
            e++;
        answer_fact(a, f, "silent", "without data", ANSWER_COUNT, (double)r->n_silent,
                    r->n_silent == 1
                        ? answer_keepf(a, "rank %u: %s", e->number, e->silent)
                        : answer_keepf(a, "%s; rank %u: %s", who(a, r, is_silent), e->number, e->silent));
    }
    add_doubts(a, f, r);
}

/* ---- Each rank --- */

/* Of each rank: its time in ops that are not collective, by its slowest chip op by op. */
static void add_work(const ranks *r, const rank_op *op, double *work, uint32_t *ops)
{
    for (size_t k = 0; k < op->lanes;) {
        const uint32_t rank = r->lanes[r->lane_of[r->by_op[op->first + k]]].rank;
        double longest = -1;
        for (; k < op->lanes && r->lanes[r->lane_of[r->by_op[op->first + k]]].rank == rank; k++) {
            const double time = r->ops_of_lanes[r->by_op[op->first + k]].time;
            if (time > longest) longest = time;
        }
        ops[rank] += longest >= 0;
        if (longest > 0 && !op->collective) work[rank] += longest;
    }
}

static double ranks_that_say(const ranks *r)
{
    return (double)(r->n - r->n_silent);
}

static bool add_ranks(answer *a, const ranks *r)
{
    static const answer_column columns[] = {
        {"rank", "rank", ANSWER_COUNT, 0},
        {"host", "host", ANSWER_TEXT, 2},
        {"chips", "chips", ANSWER_COUNT, 4},
        {"ops", "ops", ANSWER_COUNT, 0},
        {"work", "own work", ANSWER_TIME, 0},
        {"of_mean", "of mean", ANSWER_RATIO, 0},
        {"offset", "clock", ANSWER_TIME, ANSWER_HIDDEN},
        {"drift", "drift", ANSWER_RATIO, ANSWER_HIDDEN},
        {"residual", "known to", ANSWER_TIME, 1},
        {"anchors", "anchors", ANSWER_COUNT, 3},
        {"lost", "no data", ANSWER_COUNT, 0},
        {"folder", "folder", ANSWER_TEXT, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "ranks", "RANKS", COLUMNS(columns));
    double *work = calloc(r->n, sizeof *work), sum = 0;
    uint32_t *ops = calloc(r->n, sizeof *ops);
    if (work && ops) {
        for (size_t i = 0; i < r->n_ops; i++)
            add_work(r, &r->ops[r->order[i]], work, ops);
        for (size_t i = 0; i < r->n; i++)
            sum += work[i];
        for (size_t i = 0; i < r->n; i++) {
            const rank_lane *worst = NULL;
            double chips = 0;
            for (size_t k = 0; k < r->n_lanes; k++) {
                const rank_lane *l = &r->lanes[k];
                if (l->rank != i) continue;
                chips++;
                if (!worst || !(l->residual <= worst->residual)) worst = l;
            }
            answer_number(t, r->items[i].number);
            answer_text(t, r->items[i].host);
            answer_number(t, chips);
            answer_number(t, ops[i]);
            answer_number(t, r->items[i].silent ? NAN : work[i]);
            answer_number(t, sum > 0 && !r->items[i].silent ? work[i] * ranks_that_say(r) / sum : NAN);
            answer_number(t, worst && worst->aligned ? worst->offset : NAN);
            answer_number(t, worst && worst->aligned ? worst->drift : NAN);
            answer_number(t, worst ? worst->residual : NAN);
            answer_number(t, worst ? (double)worst->anchors : NAN);
            answer_number(t, (double)r->items[i].lost);
            answer_text(t, r->items[i].folder);
        }
        answer_note(
            a, t,
            "own work: kernels of ops that are not collective, each by the rank's slowest chip. known to: how far off "
            "the rank's clock may be laid beside the others. no data: ops without device data.");
    }
    const bool good = work && ops;
    free(work);
    free(ops);
    return good;
}

/* ---- Where they differ --- */

typedef struct kind {
    uint32_t code;
    double *of_rank; /* sum of times */
    uint32_t *n_of_rank;
    uint32_t ops;
    double sum, min, max;
    size_t slow, fast; /* ranks */
} kind;

static int by_difference(const void *a, const void *b)
{
    const kind *x = a, *y = b;
    const double of_x = x->max - x->min, of_y = y->max - y->min;
    return of_x > of_y ? -1 : of_x < of_y ? 1 : x->code < y->code ? -1 : x->code > y->code;
}

/* Only ops that all ranks have count: others would make differences of what was lost. */
static bool on_all_ranks(const ranks *r, const rank_op *op)
{
    size_t ranks_of = 0;
    uint32_t last = RANKS_NONE;
    for (size_t k = 0; k < op->lanes; k++) {
        const uint32_t item = r->by_op[op->first + k], rank = r->lanes[r->lane_of[item]].rank;
        if (rank != last) ranks_of++;
        last = rank;
    }
    return ranks_of == r->n - r->n_silent;
}

static void add_op(const ranks *r, const rank_op *op, kind *to)
{
    to->ops++;
    for (size_t k = 0; k < op->lanes;) {
        const uint32_t rank = r->lanes[r->lane_of[r->by_op[op->first + k]]].rank;
        double longest = 0;
        for (; k < op->lanes && r->lanes[r->lane_of[r->by_op[op->first + k]]].rank == rank; k++) {
            const double time = r->ops_of_lanes[r->by_op[op->first + k]].time;
            if (time > longest) longest = time;
        }
        to->of_rank[rank] += longest;
    }
}

static void finish(const ranks *r, kind *k)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        if (r->items[i].silent) continue;
        k->sum += k->of_rank[i];
        if (!any || k->of_rank[i] > k->max) {
            k->max = k->of_rank[i];
            k->slow = i;
        }
        if (!any || k->of_rank[i] < k->min) {
            k->min = k->of_rank[i];
            k->fast = i;
        }
        any = true;
    }
}

static bool add_imbalance(answer *a, const ranks *r, size_t top)
{
    static const answer_column columns[] = {
        {"op", "op", ANSWER_TEXT, 0},
        {"ops", "ops", ANSWER_COUNT, 2},
        {"mean", "mean", ANSWER_TIME, 0},
        {"min", "min", ANSWER_TIME, 1},
        {"max", "max", ANSWER_TIME, 0},
        {"spread", "spread %", ANSWER_PERCENT, 0},
        {"slow_rank", "slow rank", ANSWER_TEXT, 0},
        {"fast_rank", "fast rank", ANSWER_TEXT, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "imbalance", "WHERE RANKS DIFFER", COLUMNS(columns));
    const size_t n_texts = dl_intern_count(r->texts);
    uint32_t *kind_of = calloc(n_texts + 1, sizeof *kind_of);
    kind *kinds = calloc(r->n_ops + 1, sizeof *kinds);
    size_t n = 0;
    bool good = kind_of && kinds;
    for (size_t i = 0; i < r->n_ops && good; i++) {
        const rank_op *op = &r->ops[r->order[i]];
        if (op->collective || !on_all_ranks(r, op)) continue;
        if (!kind_of[op->code]) {
            kinds[n] = (kind){.code = op->code, .of_rank = calloc(r->n, sizeof *kinds->of_rank)};
            good = kinds[n].of_rank != NULL;
            kind_of[op->code] = (uint32_t)++n;
        }
        if (good) add_op(r, op, &kinds[kind_of[op->code] - 1]);
    }
    for (size_t i = 0; i < n && good; i++)
        finish(r, &kinds[i]);
    if (good) qsort(kinds, n, sizeof *kinds, by_difference);
    for (size_t i = 0; i < n && good; i++) {
        const kind *k = &kinds[i];
        const double mean = k->sum / ranks_that_say(r),
                     spread = mean > 0 ? 100 * (k->max - k->min) / mean : NAN;
        answer_text(t, ranks_text(r, k->code));
        answer_number(t, k->ops);
        answer_number(t, mean);
        answer_number(t, k->min);
        answer_number(t, k->max);
        answer_number(t, spread);
        answer_text(t, spread > RANKS_SPREAD ? answer_keepf(a, "%u", r->items[k->slow].number) : NULL);
        answer_text(t, spread > RANKS_SPREAD ? answer_keepf(a, "%u", r->items[k->fast].number) : NULL);
    }
    answer_top(t, top);
    answer_note(
        a, t,
        "Per rank the sum of its ops of this name that all ranks have, of several chips the slowest. spread: from the "
        "fastest rank to the slowest, by the mean; above 5 % the slow rank is named.");
    for (size_t i = 0; i < n; i++)
        free(kinds[i].of_rank);
    free(kinds);
    free(kind_of);
    return good;
}

devlog_status ranks_answer(answer *a, const ranks *r, const ranks_wishes *w, devlog_error *err)
{
    add_summary(a, r);
    if (!add_ranks(a, r)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    ranks_answer_clocks(a, r, w);
    if (!add_imbalance(a, r, w->top)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const devlog_status status = ranks_answer_collectives(a, r, w, err);
    return status ? status : answer_status(a, err);
}
