/* Which branches of markers the frontend guesses wrong. It remembers branches by the lower bits of their address
 * (sim/timing.h), so that one of a marker, which does the same nearly always, can share its counter with that of a
 * loop, which does the opposite nearly always: then each pass through the marker costs a wrong guess. For
 * price_table.c. Not for the program's own branches: what they cost they cost without markers too. */
#include "decode/price/price_loops.h"

#include <stdlib.h>

enum { NEAR = 64 /* words */ };

/* The branch by which a loop goes on or ends. */
typedef struct loop_test {
    uint32_t at, first, last; /* words: of the branch; of the loop */
    bool found, taken;        /* to go on */
    uint32_t another;         /* with the same counter: index + 1 */
} loop_test;

typedef struct graph {
    const price_code *c;
    const price_loops *loops;
    loop_test *tests;                         /* of every jump backwards */
    uint32_t of_counter[SIM_BRANCH_COUNTERS]; /* index of one + 1 */
} graph;

/* ---- Guesses ----------------------------------------------------------------------------------------- */

static uint32_t counter_of(const price_code *c, uint32_t at)
{
    return (c->base / 4 + at) % SIM_BRANCH_COUNTERS;
}

static uint32_t target_of(const price_code *c, uint32_t at)
{
    return (c->ops[at].imm - c->base) / 4;
}

/* The first branch or jump of the program's from a word on, before another one; that one, if there is none. */
static uint32_t first_turn(const price_code *c, uint32_t from, uint32_t to)
{
    for (; from < to; from++) {
        const sim_op op = c->ops[from];
        if (c->marker_at[from]) continue;
        if (price_is_branch(op) || op.code == SIM_OP_JAL || op.code == SIM_OP_JALR) break;
    }
    return from;
}

/* The test of a loop around which a jump goes. One that does not ask for anything is of a loop whose test is in front:
 * it leaves the loop, or goes to its body, which stands elsewhere. */
static loop_test test_of(const price_code *c, uint64_t jump)
{
    const uint32_t first = (uint32_t)(jump >> 32), last = (uint32_t)jump;
    loop_test test = {last, first, last, true, true, 0};
    if (first > last) return (loop_test){0};
    if (price_is_branch(c->ops[last])) return test;
    if (price_is_call(c->ops[last]) || last - first > NEAR) return (loop_test){0};
    test.at = first_turn(c, first, last);
    if (!price_is_branch(c->ops[test.at])) return (loop_test){0};
    const uint32_t target = target_of(c, test.at);
    test.taken = target > test.at && target <= last;
    if (!test.taken) return test;
    test.first = target;
    test.found = first_turn(c, target, last) == last;
    return test;
}

/* The branch at which what is out of line tells whether a marker that found no place is counted already: with
 * `at`, the marker's own, which is not taken then. 0: it is taken then, as that one is. */
static uint32_t test_of_drop(const price_code *c, const price_marker *m, uint32_t at)
{
    enum { STEPS = 8 };
    const uint32_t target = target_of(c, at);
    if (target < m->start || target >= m->end) return 0;
    for (uint32_t i = 0, word = at + 1; i < STEPS && word < c->n; i++) {
        if (price_is_branch(c->ops[word])) return word;
        word = c->ops[word].code == SIM_OP_JAL ? target_of(c, word) : word + 1;
    }
    return 0;
}

/* Whether a loop's branch comes between two passes through a marker's, for all that the distance tells: other loops
 * are in other cases, of which nobody knows how often each one comes. */
static bool is_near(const price_code *c, uint32_t at, uint32_t loop, uint32_t function)
{
    if (loop - at + NEAR <= 2 * NEAR) return true;
    for (uint32_t word = at > NEAR ? at - NEAR : 0; word < c->n && word <= at + NEAR; word++)
        if (c->ops[word].code == SIM_OP_JAL && price_is_call(c->ops[word]) &&
            (c->ops[word].imm - c->base) / 4 == function)
            return true;
    return false;
}

static bool add_rival(price_code *c, price_rival rival)
{
    enum { STEP = 256 };
    if (c->n_rivals % STEP == 0) {
        price_rival *more = realloc(c->rivals, (c->n_rivals + STEP) * sizeof *more);
        if (!more) return false;
        c->rivals = more;
    }
    c->rivals[c->n_rivals++] = rival;
    return true;
}

/* The loops that share a counter with the branch at a word; *tries: how many pairs may still be looked at. */
static bool find_rivals_of(const graph *g, price_code *c, uint32_t at, uint32_t *tries)
{
    const loop_test *test;
    for (uint32_t i = g->of_counter[counter_of(c, at)]; i && *tries; i = test->another, --*tries) {
        test = &g->tests[i - 1];
        if (!price_go_around_together(g->loops, at, test->at)) continue;
        const bool often = is_near(
            c, at, test->at,
            g->loops->functions[price_function_of(g->loops->functions, g->loops->n_functions, test->at)]);
        if (!add_rival(c, (price_rival){.at = at,
                                        .first = test->first,
                                        .last = test->last,
                                        .taken = test->taken,
                                        .near = often,
                                        .around = test->first <= at && at <= test->last}))
            return false;
    }
    return true;
}

/* All pairs of a marker's branch and a loop's that share a counter, or one that every drop comes to. False: no
 * memory. */
static bool find_rivals(graph *g, price_code *c)
{
    uint32_t tries = 1 << 24; /* more are in no program */
    for (uint32_t i = 0; i < c->n_jumps; i++) {
        loop_test *test = &g->tests[i];
        *test = test_of(c, c->jumps[i]);
        if (!test->found) continue;
        c->goes_on[test->at] = test->taken ? PRICE_TAKEN : PRICE_NOT_TAKEN;
        uint32_t *first = &g->of_counter[counter_of(c, test->at)];
        test->another = *first;
        *first = i + 1;
    }
    for (uint32_t i = 0; i < c->n_markers; i++) {
        const price_marker *m = &c->markers[i];
        for (uint32_t at = m->start; at < m->end && m->part != PRICE_NONE; at++) {
            if (!price_is_branch(c->ops[at])) continue;
            if (!find_rivals_of(g, c, at, &tries)) return false;
            const uint32_t drop = m->part == PRICE_RECORD ? test_of_drop(c, m, at) : 0;
            if (!drop || counter_of(c, drop) != counter_of(c, at)) continue;
            if (!add_rival(c, (price_rival){at, drop, drop, true, true, true})) return false;
        }
    }
    return true;
}

bool price_guess(price_code *c)
{
    graph g = {.c = c, .loops = c->loops, .tests = calloc(c->n_jumps + 1, sizeof *g.tests)};
    c->wrong = calloc(c->n, 2 * sizeof *c->wrong);
    c->goes_on = calloc(c->n, sizeof *c->goes_on);
    const bool good = g.tests && c->wrong && c->goes_on && find_rivals(&g, c);
    free(g.tests);
    return good;
}
