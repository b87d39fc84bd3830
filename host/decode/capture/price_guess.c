/* Which branches of markers the frontend guesses wrong. It remembers branches by the lower bits of their address
 * (sim/timing.h), so that one of a marker, which is hardly ever taken, can share its counter with that of a loop,
 * which is taken nearly always: then each pass through the marker costs a wrong guess. For price_table.c. Not for
 * the program's own branches: what they cost they cost without markers too. */
#include "decode/capture/price_code.h"

#include <stdlib.h>

enum {
    LINK = 1,
    MOST_LOOPS = 8, /* around a function, by way of its callers */
    NEAR = 64,      /* words */
    NO_LOOP = 1     /* of a word that is in none; 0: not known yet */
};

typedef struct loops {
    uint32_t n, of[MOST_LOOPS];
} loops;

typedef struct graph {
    const price_code *c;
    uint32_t *loop_of;                       /* of every word: number of the outermost loop that it is in */
    uint32_t *order, *low, *next;            /* of every word */
    uint32_t *path, n_path, *stack, n_stack; /* words */
    uint32_t n_seen, n_loops;
    uint32_t *functions, n_functions; /* words where calls lead to, ascending; the first is 0 */
    loops *around;                    /* of every function: the loops that call it */
    uint32_t of_counter[SIM_BRANCH_COUNTERS],
        *another; /* loops' branches by counter: index of the jump + 1 */
} graph;

static bool is_call(sim_op op)
{
    return (op.code == SIM_OP_JAL || op.code == SIM_OP_JALR) && op.rd == LINK;
}

/* ---- Loops ------------------------------------------------------------------------------------------- */

/* The next word that may follow one within its function, and *i moves on; false: there are no more. */
static bool successor(const price_code *c, uint32_t at, uint32_t *i, uint32_t *to)
{
    const sim_op op = c->ops[at];
    const uint32_t which = *i;
    if (op.code <= SIM_OP_ILLEGAL || *i == UINT32_MAX) return false;
    const bool marker = c->marker_at[at], jumps = op.code == SIM_OP_JAL || op.code == SIM_OP_JALR;
    if (marker || is_call(op) || !(jumps || price_is_branch(op))) {
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

static void find_functions(graph *g)
{
    const price_code *c = g->c;
    g->functions[g->n_functions++] = 0;
    for (uint32_t i = 0; i < c->n_jumps; i++) { /* ascending */
        uint32_t target = (uint32_t)(c->jumps[i] >> 32);
        if (is_call(c->ops[(uint32_t)c->jumps[i]]) && target != g->functions[g->n_functions - 1])
            g->functions[g->n_functions++] = target;
    }
}

static uint32_t function_of(const graph *g, uint32_t at)
{
    uint32_t low = 0, high = g->n_functions;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (g->functions[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
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
            if (!is_call(c->ops[source])) continue;
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

static bool is_loops_branch(const price_code *c, uint64_t jump)
{
    return (uint32_t)jump >= jump >> 32 && price_is_branch(c->ops[(uint32_t)jump]);
}

/* Whether a loop's branch comes between two passes through a marker's, for all that the distance tells: other loops
 * are in other cases, of which nobody knows how often each one comes. */
static bool is_near(const price_code *c, uint32_t at, uint32_t loop, uint32_t function)
{
    if (loop - at + NEAR <= 2 * NEAR) return true;
    for (uint32_t word = at > NEAR ? at - NEAR : 0; word < c->n && word <= at + NEAR; word++)
        if (c->ops[word].code == SIM_OP_JAL && is_call(c->ops[word]) &&
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
    for (uint32_t i = g->of_counter[counter_of(c, at)]; i && *tries; i = g->another[i - 1], --*tries) {
        const uint32_t first = (uint32_t)(c->jumps[i - 1] >> 32), last = (uint32_t)c->jumps[i - 1];
        if (!go_around_together(g, at, last)) continue;
        const bool often = is_near(c, at, last, g->functions[function_of(g, last)]);
        if (!add_rival(c, (price_rival){at, first, last, often})) return false;
    }
    return true;
}

/* All pairs of a marker's branch and a loop's that share a counter. False: no memory. */
static bool find_rivals(graph *g, price_code *c)
{
    uint32_t tries = 1 << 24; /* more are in no program */
    for (uint32_t i = 0; i < c->n_jumps; i++) {
        if (!is_loops_branch(c, c->jumps[i])) continue;
        uint32_t *first = &g->of_counter[counter_of(c, (uint32_t)c->jumps[i])];
        g->another[i] = *first;
        *first = i + 1;
    }
    for (uint32_t m = 0; m < c->n_markers; m++)
        for (uint32_t at = c->markers[m].start; at < c->markers[m].end; at++)
            if (c->markers[m].part != PRICE_NONE && price_is_branch(c->ops[at]) &&
                !find_rivals_of(g, c, at, &tries))
                return false;
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
               .another = calloc(c->n_jumps + 1, each),
               .around = calloc(c->n_jumps + 1, sizeof *g.around)};
    c->wrong = calloc(n, sizeof *c->wrong);
    bool good = g.loop_of && g.order && g.low && g.next && g.path && g.stack && g.functions && g.another &&
                g.around && c->wrong;
    if (good) {
        for (uint32_t at = 0; at < c->n; at++)
            if (!g.order[at]) find_loops(&g, at);
        find_functions(&g);
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
    free(g.another);
    free(g.around);
    return good;
}
