/* Who ended a wait, the path and slack, against generated pipelines whose answers are known from running them: each piece
 * of work is made longer or shorter, and the pipeline run again, by a loop here that knows nothing of graphs.
 * DEVLOG_TEST_CASES: how many pipelines. By hand: test_causes_by_hand.c. Recording and
 * command: tests/sim/test_causes_run.c, test_cli_causes.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/causes.h"
#include "answers/causes_run.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/random.h"

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

/* ---- Pipelines: stages on RISCs of some cores, buffers with room for some pages between them --- */

enum {
    STAGES = 12,
    BUFFERS = 40,
    ROUNDS = 12,
    OPS = ROUNDS * BUFFERS * 4 + 1,
    GIVES = ROUNDS + 8,
    CORES = 4
};

typedef struct op {
    uint64_t work; /* in front of it */
    int kind;      /* causes_kind; -1: none, the lane's end */
    uint32_t counter, value;
    uint64_t at, until; /* when it was run */
} op;

typedef struct stage {
    op ops[OPS];
    size_t n;
    uint32_t core;
    uint64_t start;
} stage;

typedef struct pipeline {
    stage stages[STAGES];
    size_t n, cores;
    uint32_t room[BUFFERS], n_buffers;
    uint64_t over, tail[CORES];
} pipeline;

static pipeline p;

static void add_op(stage *s, int kind, uint32_t counter, uint32_t value)
{
    static const uint32_t sizes[] = {0, 10, 1000, 100000};
    const uint32_t size = sizes[dice(4)];
    s->ops[s->n++] =
        (op){.work = size ? 1 + dice(size) : 0, .kind = kind, .counter = counter, .value = value};
}

/* Counter 2b: pages in buffer b; 2b + 1: pages taken from it. */
static void generate(void)
{
    uint32_t from[BUFFERS], to[BUFFERS];
    memset(&p, 0, sizeof p);
    p.n = 2 + dice(STAGES - 1);
    p.cores = 1 + dice(CORES);
    p.over = dice(3) ? dice(40) : 0;
    for (uint32_t j = 1; j < p.n; j++) {
        const uint32_t inputs = 1 + (dice(3) == 0);
        for (uint32_t k = 0; k < inputs && p.n_buffers < BUFFERS; k++) {
            from[p.n_buffers] = dice(j);
            to[p.n_buffers] = j;
            p.room[p.n_buffers++] = 1 + dice(4);
        }
    }
    const uint32_t rounds = 1 + dice(ROUNDS);
    for (uint32_t i = 0; i < p.n; i++) {
        stage *s = &p.stages[i];
        s->core = dice((uint32_t)p.cores);
        s->start = 1000000 + dice(500);
        for (uint32_t r = 0; r < rounds; r++) {
            for (uint32_t b = 0; b < p.n_buffers; b++)
                if (to[b] == i) add_op(s, CAUSES_WANT, 2 * b, r + 1);
            for (uint32_t b = 0; b < p.n_buffers; b++)
                if (from[b] == i && r + 1 > p.room[b]) add_op(s, CAUSES_WANT, 2 * b + 1, r + 1 - p.room[b]);
            for (uint32_t b = 0; b < p.n_buffers; b++) {
                if (to[b] == i) add_op(s, CAUSES_GIVE, 2 * b + 1, r + 1);
                if (from[b] == i) add_op(s, CAUSES_GIVE, 2 * b, r + 1);
            }
        }
        add_op(s, -1, 0, 0);
    }
    for (uint32_t c = 0; c < p.cores; c++)
        p.tail[c] = dice(300);
}

/* Runs it: the end. What is run stays in the ops. */
static uint64_t run(void)
{
    static uint64_t given[2 * BUFFERS][GIVES];
    size_t next[STAGES] = {0}, left = p.n;
    uint64_t now[STAGES], end = 0;
    memset(given, 0, sizeof given);
    for (size_t i = 0; i < p.n; i++)
        now[i] = p.stages[i].start;
    while (left) {
        const size_t before = left;
        bool moved = false;
        for (size_t i = 0; i < p.n; i++) {
            for (stage *s = &p.stages[i]; next[i] < s->n; next[i]++) {
                op *o = &s->ops[next[i]];
                uint64_t t = now[i] + o->work;
                o->at = t;
                if (o->kind == CAUSES_WANT) {
                    const uint64_t by = given[o->counter][o->value];
                    if (!by) break;
                    if (by + p.over > t) t = by + p.over;
                }
                o->until = now[i] = t;
                if (o->kind == CAUSES_GIVE) given[o->counter][o->value] = t;
                if (o->kind == -1) {
                    left--;
                    if (t + p.tail[s->core] > end) end = t + p.tail[s->core];
                }
                moved = true;
            }
        }
        assert_true(moved || left < before);
    }
    return end;
}

/* ---- The same as records --- */

static causes_event events[STAGES][OPS];
static causes_lane lanes[STAGES];
static uint64_t ends[CORES];
static causes_graph graph;
static size_t op_of[STAGES][OPS]; /* of each event */

static void record(bool skewed)
{
    int64_t skew[CORES];
    memset(ends, 0, sizeof ends);
    for (size_t c = 0; c < p.cores; c++)
        skew[c] = skewed ? (int64_t)dice(101) - 50 : 0;
    for (size_t i = 0; i < p.n; i++) {
        const stage *s = &p.stages[i];
        const uint64_t by = (uint64_t)skew[s->core];
        size_t n = 0;
        for (size_t k = 0; k + 1 < s->n; k++) {
            op_of[i][n] = k;
            events[i][n++] = (causes_event){.at = s->ops[k].at + by,
                                            .until = s->ops[k].until + by,
                                            .counter = s->ops[k].counter,
                                            .value = s->ops[k].value,
                                            .kind = (uint8_t)s->ops[k].kind,
                                            .why = s->ops[k].counter & 1 ? CAUSES_FULL : CAUSES_EMPTY};
        }
        lanes[i] = (causes_lane){.start = s->start + by,
                                 .end = s->ops[s->n - 1].until + by,
                                 .events = events[i],
                                 .n = n,
                                 .group = s->core,
                                 .clock = s->core,
                                 .error = skewed ? 50 : 0,
                                 .lost_from = CAUSES_NEVER};
        const uint64_t end = lanes[i].end + p.tail[s->core];
        if (end > ends[s->core]) ends[s->core] = end;
    }
    graph = (causes_graph){.lanes = lanes,
                           .n_lanes = p.n,
                           .group_ends = ends,
                           .n_groups = p.cores,
                           .hand_over = (int64_t)p.over};
}

static void make(causes *c)
{
    devlog_error err = {0};
    check_ok(causes_make(c, &graph, &err), &err);
}

/* The path by walking back through what was run: stage and op of each stop. *tie: at some place two ways are equally long,
 * and either is right. */
typedef struct stop {
    size_t stage, op; /* op: SIZE_MAX for the start */
} stop;

static size_t walk_back(uint64_t end, stop *stops, bool *tie)
{
    size_t n = 0, lasts = 0;
    stop at = {0};
    *tie = false;
    for (size_t i = 0; i < p.n; i++) {
        const size_t k = p.stages[i].n - 1;
        uint64_t last = 0; /* of its core */
        for (size_t j = 0; j < p.n; j++)
            if (p.stages[j].core == p.stages[i].core && p.stages[j].ops[p.stages[j].n - 1].until > last)
                last = p.stages[j].ops[p.stages[j].n - 1].until;
        if (p.stages[i].ops[k].until != last || last + p.tail[p.stages[i].core] != end) continue;
        at = (stop){i, k};
        lasts++;
    }
    *tie = lasts != 1;
    for (;;) {
        stops[n++] = at;
        const op *o = &p.stages[at.stage].ops[at.op];
        if (o->kind == CAUSES_WANT) {
            stop by = {0};
            for (size_t i = 0; i < p.n; i++)
                for (size_t k = 0; k < p.stages[i].n; k++) {
                    const op *g = &p.stages[i].ops[k];
                    if (g->kind == CAUSES_GIVE && g->counter == o->counter && g->value == o->value)
                        by = (stop){i, k};
                }
            *tie |= p.stages[by.stage].ops[by.op].at + p.over == o->at;
            if (o->until > o->at) {
                at = by;
                continue;
            }
        }
        if (at.op == 0) break;
        at.op--;
    }
    stops[n++] = (stop){at.stage, SIZE_MAX};
    return n;
}

/* Whether that is the path: the last two steps of which are its core's end and the end of all. */
static void check_path(const causes *c, uint64_t end, size_t number, bool *tie)
{
    static stop stops[STAGES * OPS];
    const size_t n = walk_back(end, stops, tie);
    bool same = n + 2 == c->n_path;
    for (size_t i = 0; i < n && same; i++)
        same = c->path[n - 1 - i].node == c->first[stops[i].stage] + 1 + stops[i].op;
    if (!same && !*tie) fail_msg("pipeline %zu: another path", number);
}

/* Whose give meets a want, by looking through everything. */
static void check_givers(const causes *c)
{
    for (size_t i = 0; i < p.n; i++) {
        for (size_t k = 0; k < lanes[i].n; k++) {
            const causes_node *n = &c->nodes[c->first[i] + 1 + k];
            const causes_event *e = &lanes[i].events[k];
            if (e->kind != CAUSES_WANT || n->give == CAUSES_NONE) continue;
            const causes_lane *by = &lanes[c->nodes[n->give].lane];
            const causes_event *g = &by->events[n->give - c->first[c->nodes[n->give].lane] - 1];
            assert_int_equal(g->kind, CAUSES_GIVE);
            assert_int_equal(g->counter, e->counter);
            assert_int_equal(g->value, e->value);
        }
    }
}

static bool compare(size_t number)
{
    bool tie;
    causes c;
    const uint64_t end = run();
    static const uint64_t more = UINT64_C(1) << 40;
    record(false);
    make(&c);
    assert_int_equal(c.end, end);
    assert_true(c.exact);
    check_givers(&c);
    check_path(&c, end, number, &tie);
    bool *on_path = calloc(c.n, sizeof *on_path);
    uint64_t *most = calloc(c.n, sizeof *most), *less = calloc(c.n, sizeof *less);
    assert_true(on_path && most && less);
    assert_int_equal(c.path[0].by, CAUSES_BY_START);
    for (size_t i = 0; i < c.n_path; i++) {
        if (c.path[i].by == CAUSES_BY_WORK) on_path[c.path[i].node] = true;
        most[c.path[i].node] = c.path[i].most;
    }
    for (size_t i = 0; i < p.n; i++) {
        for (size_t k = 0; k < p.stages[i].n; k++) {
            const size_t node = c.first[i] + 1 + k;
            const uint64_t work = p.stages[i].ops[k].work;
            assert_int_equal(causes_work_until(&c, node) - causes_work_from(&c, node), work);
            p.stages[i].ops[k].work = work + more;
            const uint64_t slack = end + more - run();
            p.stages[i].ops[k].work = 0;
            const uint64_t gain = end - run();
            p.stages[i].ops[k].work = work;
            if (causes_slack(&c, node) != slack)
                fail_msg("pipeline %zu, stage %zu, op %zu: slack %llu, not %llu", number, i, k,
                         (unsigned long long)slack, (unsigned long long)causes_slack(&c, node));
            if (work && on_path[node] != (slack == 0) && (on_path[node] || !tie))
                fail_msg("pipeline %zu, stage %zu, op %zu: slack %llu and %son the path", number, i, k,
                         (unsigned long long)slack, on_path[node] ? "" : "not ");
            if (most[node] != gain)
                fail_msg("pipeline %zu, stage %zu, op %zu: gains %llu, not %llu", number, i, k,
                         (unsigned long long)gain, (unsigned long long)most[node]);
            if (dice(3) == 0) less[node] = dice((uint32_t)work + 1);
        }
    }
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < p.stages[i].n; k++)
            p.stages[i].ops[k].work -= less[c.first[i] + 1 + k];
    devlog_error err = {0};
    uint64_t other = 0;
    check_ok(causes_end_if(&c, less, &other, &err), &err);
    assert_int_equal(other, run());
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < p.stages[i].n; k++)
            p.stages[i].ops[k].work += less[c.first[i] + 1 + k];
    run();
    free(on_path);
    free(most);
    free(less);
    causes_free(&c);
    return tie;
}

static size_t cases(size_t few)
{
    return test_cases((unsigned)few); /* by hand: 1,000 and more */
}

/* ---- Several launches on several chips --- */

enum { LAUNCHES = 6, CHIPS = 3 };

typedef struct one_launch {
    uint64_t seed; /* of its pipeline */
    uint32_t chip;
    int64_t duration, gap, back, forward;
} one_launch;

typedef struct whole_run {
    one_launch launches[LAUNCHES];
    size_t n;
    bool by_host; /* the host calls for one after the other, whatever chip it is for */
} whole_run;

/* Runs it, by launches that take so long: the end; *times: what is recorded, NULL: not wanted. */
static int64_t run_launches(const whole_run *w, causes_run_launch *times)
{
    int64_t free_at[CHIPS] = {0}, end = 0;
    for (size_t i = 0; i < w->n; i++) {
        const one_launch *l = &w->launches[i];
        const uint32_t lane = w->by_host ? 0 : l->chip;
        const int64_t call = free_at[lane] + l->gap, start = call + l->forward, done = start + l->duration;
        free_at[lane] = done + l->back;
        if (done > end) end = done;
        if (!times) continue;
        times[i] = (causes_run_launch){.chip = l->chip,
                                       .number = (uint32_t)i,
                                       .start = start,
                                       .end = done,
                                       .call_start = w->by_host ? call : CAUSES_RUN_UNKNOWN,
                                       .call_end = w->by_host ? done + l->back : CAUSES_RUN_UNKNOWN,
                                       .pull_start = CAUSES_RUN_UNKNOWN,
                                       .pull_end = CAUSES_RUN_UNKNOWN};
    }
    return end;
}

static int64_t duration(void)
{
    uint64_t start = UINT64_MAX;
    const uint64_t end = run();
    for (size_t i = 0; i < p.n; i++)
        if (p.stages[i].start < start) start = p.stages[i].start;
    return (int64_t)(end - start);
}

/* The end of the run when a piece of work takes `work`. */
static int64_t end_when(whole_run *w, size_t launch, op *o, uint64_t work)
{
    const uint64_t was = o->work;
    const int64_t took = w->launches[launch].duration;
    o->work = work;
    w->launches[launch].duration = duration();
    const int64_t end = run_launches(w, NULL);
    o->work = was;
    w->launches[launch].duration = took;
    return end;
}

/* Every piece of work of a launch: its slack and its gain in the run, by running all of it again. */
static size_t compare_launch(whole_run *w, const causes_run_launch *l, int64_t end)
{
    static const int64_t more = INT64_C(1) << 40;
    const size_t number = l->number;
    size_t on_path = 0;
    causes c;
    seed = w->launches[number].seed;
    generate();
    run();
    record(false);
    make(&c);
    uint64_t *most = calloc(c.n, sizeof *most);
    assert_non_null(most);
    for (size_t i = 0; i < c.n_path; i++)
        most[c.path[i].node] = c.path[i].most;
    for (size_t i = 0; i < p.n; i++) {
        for (size_t k = 0; k < p.stages[i].n; k += 1 + dice(3)) {
            const size_t node = c.first[i] + 1 + k;
            op *o = &p.stages[i].ops[k];
            const int64_t slack = end + more - end_when(w, number, o, o->work + (uint64_t)more);
            const int64_t gain = end - end_when(w, number, o, 0);
            assert_int_equal((int64_t)causes_slack(&c, node) + l->slack, slack);
            assert_int_equal((int64_t)most[node] < l->most ? (int64_t)most[node] : l->most, gain);
            on_path += gain > 0;
        }
    }
    free(most);
    causes_free(&c);
    return on_path;
}

static void runs_of_launches_are_exact(void **state)
{
    (void)state;
    const size_t n = cases(40);
    size_t on_path = 0, several = 0, by_host = 0;
    for (size_t i = 0; i < n; i++) {
        whole_run w = {0};
        causes_run_launch times[LAUNCHES];
        causes_run r;
        devlog_error err = {0};
        seed = 1000 + i;
        w.n = 1 + dice(LAUNCHES);
        w.by_host = dice(2);
        uint64_t next = seed;
        const uint32_t chips = 1 + dice(CHIPS);
        for (size_t k = 0; k < w.n; k++) {
            one_launch *l = &w.launches[k];
            l->chip = dice(chips);
            l->gap = dice(3000);
            l->back = dice(500);
            l->forward = dice(500);
            next = next * 31 + seed;
            l->seed = next;
            const uint64_t kept = seed;
            seed = next;
            generate();
            l->duration = duration();
            seed = kept;
        }
        const int64_t end = run_launches(&w, times);
        check_ok(causes_run_make(&r, times, w.n, &err), &err);
        assert_int_equal(r.end, end);
        int64_t covered = 0;
        for (size_t k = 0; k < w.n; k++) {
            const one_launch *l = &w.launches[times[k].number];
            const causes_run_gap gap = causes_run_gap_of(&r, k);
            if (times[k].on_path) covered += gap.whole + times[k].end - times[k].start;
            assert_int_equal(times[k].on_path, times[k].on_path && times[k].slack == 0);
            if (!gap.known) continue;
            assert_int_equal(gap.forward, l->forward);
            assert_int_equal(gap.host, l->gap);
            assert_int_equal(gap.back, w.launches[times[times[k].before].number].back);
        }
        assert_int_equal(covered, end - r.start); /* the path has no hole */
        assert_int_equal(r.by_host, w.by_host);
        for (size_t k = 0; k < w.n; k++)
            on_path += compare_launch(&w, &times[k], end);
        several += chips > 1 && w.n > 1;
        by_host += w.by_host;
    }
    printf("%zu runs, %zu of several chips, %zu by the host; %zu pieces of work on paths\n", n, several,
           by_host, on_path);
    assert_true(on_path > 0 && several > 0 && by_host > 0);
}

static void path_and_slack_are_exact(void **state)
{
    (void)state;
    seed = 1;
    const size_t n = cases(1000);
    size_t ties = 0;
    for (size_t i = 0; i < n; i++) {
        generate();
        ties += compare(i);
    }
    printf(
        "%zu pipelines: path, slack and gains of every piece of work are exact; %zu have two longest paths\n",
        n, ties);
    assert_true(ties * 5 < n);
}

/* The hand-over is measured where nobody says it: the shortest of the waits that really waited. */
static void hand_overs_are_measured(void **state)
{
    (void)state;
    seed = 2;
    size_t measured = 0;
    for (size_t i = 0; i < cases(200); i++) {
        causes c;
        generate();
        run();
        record(false);
        graph.hand_over = -1;
        make(&c);
        for (int w = 0; w <= CAUSES_EMPTY; w++) {
            assert_true(c.hand_over[w] == (int64_t)p.over || c.hand_over[w] == 0);
            measured += c.hand_over[w] && c.hand_over[w] == (int64_t)p.over;
        }
        assert_int_equal(c.path[0].by, CAUSES_BY_START);
        causes_free(&c);
    }
    assert_true(measured > 100);
}

/* ---- What is lost makes "unknown", and nothing wrong --- */

/* Loses records of some stages: the first, the last, or ones in between of nobody knows which stage. */
static void lose(void)
{
    const uint32_t how = dice(3);
    const size_t n_lanes = 1 + dice((uint32_t)p.n);
    for (size_t k = 0; k < n_lanes; k++) {
        const uint32_t i = dice((uint32_t)p.n);
        causes_lane *l = &lanes[i];
        if (l->n == 0) continue;
        const size_t at = dice((uint32_t)l->n);
        if (how == 0) {
            l->n = at;
            l->lost_from = at ? l->events[at - 1].until : l->start;
        } else if (how == 1) {
            l->lost_until = l->events[at].at;
            l->events += at;
            l->n -= at;
            memmove(op_of[i], op_of[i] + at, l->n * sizeof **op_of);
        } else {
            memmove(&events[i][at], &events[i][at + 1], (l->n - at - 1) * sizeof **events);
            l->n--;
            graph.incomplete = true;
        }
    }
}

typedef struct place {
    uint64_t time;
    uint32_t lane;
} place;

static void losses_are_never_a_wrong_cause(void **state)
{
    (void)state;
    seed = 3;
    static place whole[STAGES * OPS];
    size_t kept = 0, unknown = 0;
    for (size_t i = 0; i < cases(300); i++) {
        causes c;
        generate();
        run();
        record(false);
        make(&c);
        const size_t n_whole = c.n_path;
        for (size_t k = 0; k < n_whole; k++)
            whole[k] = (place){c.nodes[c.path[k].node].time, c.nodes[c.path[k].node].lane};
        causes_free(&c);
        lose();
        make(&c);
        check_givers(&c);
        assert_false(c.exact && c.path[0].by == CAUSES_BY_UNKNOWN);
        /* What is left of the path is the end of the whole one, with fewer stops. */
        size_t at = n_whole;
        for (size_t k = c.n_path; k-- > 0;) {
            const causes_node *n = &c.nodes[c.path[k].node];
            while (at > 0 && (whole[at - 1].time != n->time || whole[at - 1].lane != n->lane))
                at--;
            assert_true(at > 0);
        }
        kept += c.path[0].by == CAUSES_BY_START;
        unknown += c.path[0].by == CAUSES_BY_UNKNOWN;
        causes_free(&c);
    }
    printf("with losses: %zu paths whole, %zu known in part\n", kept, unknown);
    assert_true(unknown > 50 && kept > 0);
}

/* Clocks of cores that are off within their bounds: who ended a wait stays known, as it follows from numbers. */
static void clocks_may_be_off(void **state)
{
    (void)state;
    seed = 4;
    for (size_t i = 0; i < cases(200); i++) {
        causes c;
        generate();
        run();
        record(true);
        make(&c);
        check_givers(&c);
        assert_true(c.exact);
        for (size_t k = 0; k < c.group_0; k++)
            assert_true(c.nodes[k].state < CAUSES_UNNAMED);
        causes_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_and_slack_are_exact), cmocka_unit_test(runs_of_launches_are_exact),
        cmocka_unit_test(hand_overs_are_measured),  cmocka_unit_test(losses_are_never_a_wrong_cause),
        cmocka_unit_test(clocks_may_be_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
