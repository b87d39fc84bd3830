/* Which loops of the code there are, and which of them functions are called in: price_loops.h. By Tarjan's strongly connected
 * components, of the words of each function. */
#include "decode/price/price_loops.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph {
    const price_code *c;
    uint32_t *loop_of;                       /* of every word, the one that is being found .. */
    const uint32_t *within;                  /* .. in which loop; NULL: in the code */
    uint8_t *begins;                         /* of every word: a loop is entered there */
    uint32_t *order, *low, *next;            /* of every word */
    uint32_t *path, n_path, *stack, n_stack; /* words */
    uint32_t *found, *met; /* loops within others; words in the order in which they were met */
    uint32_t n_seen, n_loops;
} graph;

bool price_successor(const price_code *c, uint32_t at, uint32_t *i, uint32_t *to)
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
    return *to < c->n || (*i != UINT32_MAX && price_successor(c, at, i, to));
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
    uint32_t number = g->stack[g->n_stack - 1] == at ? PRICE_NO_LOOP : ++g->n_loops + PRICE_NO_LOOP, word;
    if (number != PRICE_NO_LOOP) g->begins[at] = true;
    do {
        word = g->stack[--g->n_stack];
        g->loop_of[word] = number;
    } while (word != at);
}

/* Within a loop it is not gone around. */
static bool is_left(const graph *g, uint32_t from, uint32_t to)
{
    return g->within && (g->within[from] != g->within[to] || g->within[to] == PRICE_NO_LOOP || g->begins[to]);
}

/* Tarjan's strongly connected components, from one word. */
static void find_loops(graph *g, uint32_t from)
{
    see(g, from);
    while (g->n_path) {
        const uint32_t at = g->path[g->n_path - 1];
        uint32_t to;
        if (price_successor(g->c, at, &g->next[at], &to)) {
            if (is_left(g, at, to)) continue;
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

static uint32_t function_of(const price_loops *l, uint32_t at)
{
    return price_function_of(l->functions, l->n_functions, at);
}

static bool add_loop(price_around_loops *to, uint32_t loop)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (to->of[i] == loop) return false;
    if (loop <= PRICE_NO_LOOP || to->n == PRICE_LOOPS_AROUND) return false;
    to->of[to->n++] = loop;
    return true;
}

/* The loops in which functions are called, and in which those are called that call them, and so on. */
static void find_callers(price_loops *l, const price_code *c)
{
    bool more = true;
    for (uint32_t round = 0; more && round < PRICE_LOOPS_AROUND; round++) {
        more = false;
        for (uint32_t i = 0; i < c->n_jumps; i++) {
            const uint32_t source = (uint32_t)c->jumps[i];
            if (!price_is_call(c->ops[source])) continue;
            price_around_loops *to = &l->around[function_of(l, (uint32_t)(c->jumps[i] >> 32))];
            const price_around_loops *from = &l->around[function_of(l, source)];
            more |= add_loop(to, l->loop_of[source]);
            for (uint32_t k = 0; k < from->n; k++)
                more |= add_loop(to, from->of[k]);
        }
    }
}

bool price_go_around_together(const price_loops *l, uint32_t a, uint32_t b)
{
    price_around_loops x = l->around[function_of(l, a)], y = l->around[function_of(l, b)];
    add_loop(&x, l->loop_of[a]);
    add_loop(&y, l->loop_of[b]);
    for (uint32_t i = 0; i < y.n; i++)
        if (add_loop(&x, y.of[i]) == false && y.of[i] > PRICE_NO_LOOP) return true;
    return false;
}

/* From the outermost loops inwards, until none has another in it; in the order in which words were met first, so that what is
 * met first of a loop is where it is entered. */
static void find_all(graph *g, price_loops *out)
{
    enum { DEEPEST = 8 };
    const uint32_t n = g->c->n;
    for (uint32_t at = 0; at < n; at++)
        if (!g->order[at]) find_loops(g, at);
    memcpy(out->inner, out->loop_of, n * sizeof *out->inner);
    for (uint32_t at = 0; at < n; at++)
        g->met[g->order[at] - 1] = at;
    g->within = out->inner;
    g->loop_of = g->found;
    uint32_t before = 0;
    for (int depth = 1; g->n_loops > before && depth < DEEPEST; depth++) {
        before = g->n_loops;
        g->n_seen = 0;
        memset(g->order, 0, n * sizeof *g->order);
        memset(g->next, 0, n * sizeof *g->next);
        memset(g->found, 0, n * sizeof *g->found);
        for (uint32_t i = 0; i < n; i++)
            if (!g->order[g->met[i]]) find_loops(g, g->met[i]);
        for (uint32_t at = 0; at < n; at++)
            if (g->found[at] != PRICE_NO_LOOP) out->inner[at] = g->found[at];
    }
    out->n_loops = g->n_loops + PRICE_NO_LOOP + 1;
}

void price_loops_free(price_loops *l)
{
    if (!l) return;
    free(l->loop_of);
    free(l->inner);
    free(l->functions);
    free(l->around);
    free(l);
}

price_loops *price_loops_find(const price_code *c)
{
    const size_t n = c->n, each = sizeof(uint32_t);
    price_loops *out = calloc(1, sizeof *out);
    if (!out) return NULL;
    out->loop_of = calloc(n, each);
    out->inner = calloc(n, each);
    out->functions = calloc(c->n_jumps + 1, each);
    out->around = calloc(c->n_jumps + 1, sizeof *out->around);
    graph g = {.c = c,
               .loop_of = out->loop_of,
               .begins = calloc(n, 1),
               .found = calloc(n, each),
               .met = calloc(n, each),
               .order = calloc(n, each),
               .low = calloc(n, each),
               .next = calloc(n, each),
               .path = calloc(n, each),
               .stack = calloc(n, each)};
    const bool good = out->loop_of && out->inner && out->functions && out->around && g.begins && g.found &&
                      g.met && g.order && g.low && g.next && g.path && g.stack;
    if (good) {
        find_all(&g, out);
        out->n_functions = price_find_functions(c, out->functions);
        find_callers(out, c);
    }
    free(g.begins);
    free(g.found);
    free(g.met);
    free(g.order);
    free(g.low);
    free(g.next);
    free(g.path);
    free(g.stack);
    if (good) return out;
    price_loops_free(out);
    return NULL;
}
