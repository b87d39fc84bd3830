/* Which branches of markers the frontend guesses wrong. It remembers branches by the lower bits of their address
 * (sim/timing.h), so that one of a marker, which does the same nearly always, can share its counter with that of a
 * loop, which does the opposite nearly always: then each pass through the marker costs a wrong guess. For
 * price_table.c. Not for the program's own branches: what they cost they cost without markers too. */
#include "decode/capture/price_code.h"

#include <stdlib.h>

enum {
    MOST_LOOPS = 8, /* around a function, by way of its callers */
    NEAR = 64,      /* words */
    NO_LOOP = 1     /* of a word that is in none; 0: not known yet */
};

typedef struct loops {
    uint32_t n, of[MOST_LOOPS];
} loops;

/* The branch by which a loop goes on or ends. */
typedef struct loop_test {
    uint32_t at, first, last; /* words: of the branch; of the loop */
    bool found, taken;        /* to go on */
    uint32_t another;         /* with the same counter: index + 1 */
} loop_test;

typedef struct graph {
    const price_code *c;
    uint32_t *loop_of;                       /* of every word: number of the outermost loop that it is in */
    uint32_t *order, *low, *next;            /* of every word */
    uint32_t *path, n_path, *stack, n_stack; /* words */
    uint32_t n_seen, n_loops;
    uint32_t *functions, n_functions;         /* words where calls lead to, ascending; the first is 0 */
    loops *around;                            /* of every function: the loops that call it */
    loop_test *tests;                         /* of every jump backwards */
    uint32_t of_counter[SIM_BRANCH_COUNTERS]; /* index of one + 1 */
} graph;

/* ---- Loops ------------------------------------------------------------------------------------------- */

/* The next word that may follow one within its function, and *i moves on; false: there are no more. */
static bool successor(const price_code *c, uint32_t at, uint32_t *i, uint32_t *to)
{
    const sim_op op = c->ops[at];
    const uint32_t which = *i;
    if (op.code <= SIM_OP_ILLEGAL || *i == UINT32_MAX) return false;
    const bool marker = c->marker_at[at], jumps = op.code == SIM_OP_JAL || op.code == SIM_OP_JALR;
    if (marker || price_is_call(op) || !(jumps || price_is_branch(op))) {
        *i = UINT32_MAX;
        *to = at + 1;
        return *to < c->n;
    }
    if (op.code == SIM_OP_JALR) {
        while (*i < c->n_tables && c->switch_at[c->tables[*i]] != at + 1)
            ++*i;
        if (*i >= c->n_tables) return false;
        *to = c->tables[(*i)++];
        return true;
    }
    *i = jumps || which ? UINT32_MAX : 1;
    *to = jumps || which ? (op.imm - c->base) / 4 : at + 1;
    return *to < c->n || (*i != UINT32_MAX && successor(c, at, i, to));
}

static void see(graph *g, uint32_t at)
{
    g->order[at] = g->low[at] = ++g->n_seen;
    g->stack[g->n_stack++] = at;
    g->path[g->n_path++] = at;
}

/* Nothing that was seen behind `at` leads to what was seen before it. */
static void close_loop(graph *g, uint32_t at)
{
    uint32_t number = g->stack[g->n_stack - 1] == at ? NO_LOOP : ++g->n_loops + NO_LOOP, word;
    do {
        word = g->stack[--g->n_stack];
        g->loop_of[word] = number;
    } while (word != at);
}

/* Tarjan's strongly connected components, from one word. */
static void find_loops(graph *g, uint32_t from)
{
    see(g, from);
    while (g->n_path) {
        const uint32_t at = g->path[g->n_path - 1];
        uint32_t to;
        if (successor(g->c, at, &g->next[at], &to)) {
            if (!g->order[to])
                see(g, to);
            else if (!g->loop_of[to] && g->order[to] < g->low[at])
                g->low[at] = g->order[to];
            continue;
        }
        g->n_path--;
        const uint32_t before = g->n_path ? g->path[g->n_path - 1] : at;
        if (g->low[at] < g->low[before]) g->low[before] = g->low[at];
        if (g->low[at] == g->order[at]) close_loop(g, at);
    }
}

/* ---- Functions --------------------------------------------------------------------------------------- */

static uint32_t function_of(const graph *g, uint32_t at)
{
    return price_function_of(g->functions, g->n_functions, at);
}

static bool add_loop(loops *to, uint32_t loop)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (to->of[i] == loop) return false;
    if (loop <= NO_LOOP || to->n == MOST_LOOPS) return false;
    to->of[to->n++] = loop;
    return true;
}

/* The loops in which functions are called, and in which those are called that call them, and so on. */
static void find_callers(graph *g)
{
    const price_code *c = g->c;
    bool more = true;
    for (uint32_t round = 0; more && round < MOST_LOOPS; round++) {
        more = false;
        for (uint32_t i = 0; i < c->n_jumps; i++) {
            const uint32_t source = (uint32_t)c->jumps[i];
            if (!price_is_call(c->ops[source])) continue;
            loops *to = &g->around[function_of(g, (uint32_t)(c->jumps[i] >> 32))];
            const loops *from = &g->around[function_of(g, source)];
            more |= add_loop(to, g->loop_of[source]);
            for (uint32_t k = 0; k < from->n; k++)
                more |= add_loop(to, from->of[k]);
        }
    }
}

/* Whether one loop goes through both words. */
static bool go_around_together(const graph *g, uint32_t a, uint32_t b)
{
    loops x = g->around[function_of(g, a)], y = g->around[function_of(g, b)];
    add_loop(&x, g->loop_of[a]);
    add_loop(&y, g->loop_of[b]);
    for (uint32_t i = 0; i < y.n; i++)
        if (add_loop(&x, y.of[i]) == false && y.of[i] > NO_LOOP) return true;
    return false;
}

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
        if (!go_around_together(g, at, test->at)) continue;
        const bool often = is_near(c, at, test->at, g->functions[function_of(g, test->at)]);
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
    const size_t n = c->n, each = sizeof(uint32_t);
    graph g = {.c = c,
               .loop_of = calloc(n, each),
               .order = calloc(n, each),
               .low = calloc(n, each),
               .next = calloc(n, each),
               .path = calloc(n, each),
               .stack = calloc(n, each),
               .functions = calloc(c->n_jumps + 1, each),
               .tests = calloc(c->n_jumps + 1, sizeof *g.tests),
               .around = calloc(c->n_jumps + 1, sizeof *g.around)};
    c->wrong = calloc(n, 2 * sizeof *c->wrong);
    c->goes_on = calloc(n, sizeof *c->goes_on);
    bool good = g.loop_of && g.order && g.low && g.next && g.path && g.stack && g.functions && g.tests &&
                g.around && c->wrong && c->goes_on;
    if (good) {
        for (uint32_t at = 0; at < c->n; at++)
            if (!g.order[at]) find_loops(&g, at);
        g.n_functions = price_find_functions(c, g.functions);
        find_callers(&g);
        good = find_rivals(&g, c);
    }
    free(g.loop_of);
    free(g.order);
    free(g.low);
    free(g.next);
    free(g.path);
    free(g.stack);
    free(g.functions);
    free(g.tests);
    free(g.around);
    return good;
}
