/* The graph of a launch: who ended each wait, what is unknown, and the order of causes. See causes.h. */
#include <stdlib.h>

#include "answers/causes_internal.h"

#include "base/intern.h"

/* ---- Which give meets a want: by counter and value --- */

typedef struct given {
    uint64_t counter;
    uint32_t value, node; /* node: CAUSES_NONE when several give it */
    bool used;
} given;

typedef struct gives {
    given *items;
    size_t mask;
} gives;

static given *find_give(const gives *g, uint64_t counter, uint32_t value)
{
    size_t at = (size_t)dl_hash_u64(counter * UINT64_C(0x9E3779B97F4A7C15) + value) & g->mask;
    while (g->items[at].used && (g->items[at].counter != counter || g->items[at].value != value))
        at = (at + 1) & g->mask;
    return &g->items[at];
}

static bool collect_gives(const causes *c, gives *g)
{
    size_t n = 0, cap = 16;
    for (size_t l = 0; l < c->graph->n_lanes; l++)
        for (size_t i = 0; i < c->graph->lanes[l].n; i++)
            n += c->graph->lanes[l].events[i].kind == CAUSES_GIVE;
    while (cap < 2 * n)
        cap *= 2;
    g->items = calloc(cap, sizeof *g->items);
    if (!g->items) return false;
    g->mask = cap - 1;
    for (size_t i = 0; i < c->group_0; i++) {
        if (!causes_is_event(c, i) || causes_event_of(c, i)->kind != CAUSES_GIVE) continue;
        given *to = find_give(g, causes_event_of(c, i)->counter, causes_event_of(c, i)->value);
        const uint32_t node = to->used ? CAUSES_NONE : (uint32_t)i;
        *to = (given){causes_event_of(c, i)->counter, causes_event_of(c, i)->value, node, true};
    }
    return true;
}

/* How far the stamps of two lanes may be off against one another. */
static double error_of(const causes_graph *g, uint32_t a, uint32_t b)
{
    return g->lanes[a].clock == g->lanes[b].clock ? 0 : g->lanes[a].error + g->lanes[b].error;
}

static void match(causes *c, const gives *g)
{
    for (size_t i = 0; i < c->group_0; i++) {
        causes_node *n = &c->nodes[i];
        if (!causes_is_event(c, i) || causes_event_of(c, i)->kind != CAUSES_WANT) continue;
        const causes_event *e = causes_event_of(c, i);
        n->state = CAUSES_UNNAMED;
        if (e->counter == CAUSES_NO_COUNTER) continue;
        const given *by = find_give(g, e->counter, e->value);
        n->state = CAUSES_UNGIVEN;
        if (!by->used) continue;
        n->state = CAUSES_TWICE;
        if (by->node == CAUSES_NONE) continue;
        n->state = CAUSES_TOO_LATE;
        const uint64_t gave = causes_event_of(c, by->node)->at;
        if (gave > e->until &&
            (double)(gave - e->until) > error_of(c->graph, n->lane, c->nodes[by->node].lane))
            continue;
        n->state = e->until > e->at ? CAUSES_ENDED : CAUSES_READY;
        n->give = by->node;
    }
}

/* ---- Hand-overs: what lies between a give and what it lets go on --- */

static int64_t measured(const causes *c, size_t node)
{
    return (int64_t)(causes_event_of(c, node)->until - causes_event_of(c, c->nodes[node].give)->at);
}

static void find_hand_overs(causes *c)
{
    int64_t least = INT64_MAX, by[CAUSES_WHYS];
    for (int w = 0; w < CAUSES_WHYS; w++)
        by[w] = INT64_MAX;
    for (size_t i = 0; i < c->group_0; i++) {
        if (c->nodes[i].state != CAUSES_ENDED) continue;
        const causes_event *e = causes_event_of(c, i);
        if (causes_event_of(c, c->nodes[i].give)->at <= e->at || measured(c, i) < 0) continue;
        if (measured(c, i) < by[e->why]) by[e->why] = measured(c, i);
        if (measured(c, i) < least) least = measured(c, i);
    }
    for (int w = 0; w < CAUSES_WHYS; w++)
        c->hand_over[w] = c->graph->hand_over >= 0 ? c->graph->hand_over
                          : by[w] != INT64_MAX     ? by[w]
                          : least != INT64_MAX     ? least
                                                   : 0;
}

/* A give that came so early that it was seen at once ended nothing. */
static void weigh(causes *c)
{
    for (size_t i = 0; i < c->group_0; i++) {
        causes_node *n = &c->nodes[i];
        if (n->give == CAUSES_NONE) continue;
        const causes_event *e = causes_event_of(c, i);
        const int64_t usual = c->hand_over[e->why];
        const int64_t before = (int64_t)(e->at - causes_event_of(c, n->give)->at);
        if (n->state == CAUSES_ENDED && before >= usual) n->state = CAUSES_OWN;
        n->waited = n->state == CAUSES_ENDED;
        n->over = measured(c, i);
        if (!n->waited && n->over > usual) n->over = usual;
    }
}

/* ---- What is not known --- */

static bool is_lost(const causes_lane *l, uint64_t from, uint64_t until)
{
    return (l->lost_until && from < l->lost_until) || (l->lost_from != CAUSES_NEVER && until > l->lost_from);
}

static void find_unknown(causes *c)
{
    bool lost = c->graph->incomplete;
    for (size_t i = 0; i < c->group_0; i++) {
        causes_node *n = &c->nodes[i];
        if (causes_has_work(c, i))
            n->unknown =
                c->graph->incomplete || is_lost(&c->graph->lanes[n->lane], c->nodes[i - 1].time, n->time);
        lost |= n->unknown;
    }
    c->exact = !lost;
    for (size_t i = 0; i < c->group_0; i++) {
        causes_node *n = &c->nodes[i];
        if (n->state < CAUSES_UNNAMED) continue;
        const bool waits = causes_event_of(c, i)->until > causes_event_of(c, i)->at;
        if (waits) {
            c->unknown_wants++;
            n->unknown = true;
            c->exact = false;
        } else if (n->state != CAUSES_UNGIVEN) {
            c->exact = false; /* met before, by whom is not known */
        }
    }
}

/* ---- The order of causes --- */

static void link_wants(causes *c)
{
    for (size_t i = c->group_0; i-- > 0;) {
        causes_node *n = &c->nodes[i];
        if (n->give == CAUSES_NONE) continue;
        n->next = c->nodes[n->give].wants;
        c->nodes[n->give].wants = (uint32_t)i;
    }
}

void causes_each_behind(const causes *c, uint32_t node, causes_visit *visit, void *ctx)
{
    const causes_node *n = &c->nodes[node];
    if (node == c->n - 1) return;
    if (node >= c->group_0) {
        visit(ctx, (uint32_t)c->n - 1, false);
        return;
    }
    const causes_lane *l = &c->graph->lanes[n->lane];
    if (node == c->first[n->lane] + l->n + 1)
        visit(ctx, (uint32_t)c->group_0 + l->group, false);
    else
        visit(ctx, node + 1, false);
    for (uint32_t w = n->wants; w != CAUSES_NONE; w = c->nodes[w].next)
        visit(ctx, w, true);
}

typedef struct ordering {
    uint32_t *missing; /* causes that have no place yet */
    uint32_t *order;
    size_t n;
} ordering;

static void has_come(void *ctx, uint32_t node, bool by_give)
{
    ordering *o = ctx;
    (void)by_give;
    if (--o->missing[node] == 0) o->order[o->n++] = node;
}

/* False: there is a circle, which only wrong records can make. */
static bool put_in_order(causes *c, ordering *o)
{
    o->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const causes_node *n = &c->nodes[i];
        o->missing[i] = i < c->group_0 ? (uint32_t)causes_has_work(c, i) + (n->give != CAUSES_NONE) : 0;
    }
    for (size_t l = 0; l < c->graph->n_lanes; l++)
        o->missing[c->group_0 + c->graph->lanes[l].group]++;
    o->missing[c->n - 1] = (uint32_t)c->graph->n_groups;
    for (size_t i = 0; i < c->n; i++)
        if (o->missing[i] == 0) o->order[o->n++] = (uint32_t)i;
    for (size_t i = 0; i < o->n; i++) {
        c->nodes[o->order[i]].place = (uint32_t)i;
        causes_each_behind(c, o->order[i], has_come, o);
    }
    return o->n == c->n;
}

/* Wants in a circle are met by nobody knows whom. */
static void break_circles(causes *c, const ordering *o)
{
    for (size_t i = 0; i < c->group_0; i++) {
        causes_node *n = &c->nodes[i];
        n->wants = n->next = CAUSES_NONE;
        if (!o->missing[i] || n->give == CAUSES_NONE) continue;
        n->give = CAUSES_NONE;
        n->state = CAUSES_TOO_LATE;
        n->waited = false;
    }
    link_wants(c);
}

/* ---- All of it --- */

static bool lay_out(causes *c)
{
    const causes_graph *g = c->graph;
    size_t n = 0;
    c->first = calloc(g->n_lanes + 1, sizeof *c->first);
    if (!c->first) return false;
    for (size_t l = 0; l < g->n_lanes; l++) {
        c->first[l] = n;
        n += g->lanes[l].n + 2;
    }
    c->group_0 = n;
    c->n = n + g->n_groups + 1;
    c->nodes = c->n < CAUSES_NONE ? malloc(c->n * sizeof *c->nodes) : NULL;
    if (!c->nodes) return false;
    const causes_node none = {
        .give = CAUSES_NONE, .wants = CAUSES_NONE, .next = CAUSES_NONE, .lane = CAUSES_NONE};
    c->start = UINT64_MAX;
    for (size_t i = n; i < c->n; i++)
        c->nodes[i] = none;
    for (size_t gr = 0; gr < g->n_groups; gr++)
        c->nodes[n + gr].time = g->group_ends[gr];
    for (size_t l = 0; l < g->n_lanes; l++) {
        const causes_lane *lane = &g->lanes[l];
        causes_node *to = &c->nodes[c->first[l]], *group = &c->nodes[n + lane->group];
        uint64_t time = lane->start;
        for (size_t i = 0; i < lane->n + 2; i++) {
            to[i] = none;
            to[i].lane = (uint32_t)l;
            const uint64_t next = i == 0         ? lane->start
                                  : i <= lane->n ? lane->events[i - 1].kind == CAUSES_WANT
                                                       ? lane->events[i - 1].until
                                                       : lane->events[i - 1].at
                                                 : lane->end;
            time = next > time ? next : time; /* damaged stamps never go back */
            to[i].time = time;
        }
        if (lane->start < c->start) c->start = lane->start;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): every lane has a group */
        if (time > group->time) group->time = time;
    }
    if (c->start == UINT64_MAX) c->start = 0;
    c->end = c->start;
    for (size_t i = n; i + 1 < c->n; i++) {
        if (c->nodes[i].time < c->start) c->nodes[i].time = c->start; /* no lane is in it */
        if (c->nodes[i].time > c->end) c->end = c->nodes[i].time;
    }
    c->nodes[c->n - 1].time = c->end;
    return true;
}

devlog_status causes_make(causes *c, const causes_graph *graph, devlog_error *err)
{
    gives g = {0};
    ordering o = {0};
    *c = (causes){.graph = graph};
    bool good = lay_out(c) && collect_gives(c, &g);
    o.missing = good ? malloc(c->n * sizeof *o.missing) : NULL;
    o.order = good ? malloc(c->n * sizeof *o.order) : NULL;
    good = good && o.missing && o.order;
    if (good) {
        match(c, &g);
        find_hand_overs(c);
        weigh(c);
        link_wants(c);
        if (!put_in_order(c, &o)) {
            break_circles(c, &o);
            put_in_order(c, &o);
        }
        find_unknown(c);
        good = causes_find_path(c, o.order);
    }
    free(g.items);
    free(o.missing);
    free(o.order);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void causes_free(causes *c)
{
    free(c->nodes);
    free(c->first);
    free(c->path);
    *c = (causes){0};
}
