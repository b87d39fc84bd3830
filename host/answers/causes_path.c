/* The longest ways through the graph of a launch: slack, the path, and what could take its place. See causes.h. */
#include <stdlib.h>

#include "answers/causes_internal.h"

/* ---- The longest ways --- */

uint64_t causes_work_until(const causes *c, size_t node)
{
    return c->nodes[node].waited ? causes_event_of(c, node)->at : c->nodes[node].time;
}

static uint64_t work_of(const causes *c, size_t node)
{
    const uint64_t from = causes_work_from(c, node), until = causes_work_until(c, node);
    return until > from ? until - from : 0;
}

static uint32_t last_of(const causes *c, uint32_t lane)
{
    return (uint32_t)(c->first[lane] + c->graph->lanes[lane].n + 1);
}

/* From the last lane of each group to its end. */
static void find_tails(const causes *c, uint64_t *tails)
{
    for (uint32_t l = 0; l < c->graph->n_lanes; l++) {
        const uint32_t group = c->graph->lanes[l].group;
        const uint64_t end = c->nodes[last_of(c, l)].time;
        if (end > tails[group]) tails[group] = end;
    }
    for (size_t g = 0; g < c->graph->n_groups; g++)
        tails[g] = tails[g] ? c->nodes[c->group_0 + g].time - tails[g] : 0;
}

static void set_behind(causes *c, const uint32_t *order, const uint64_t *tails)
{
    for (size_t k = c->n; k-- > 0;) {
        const uint32_t i = order[k];
        causes_node *n = &c->nodes[i];
        if (i >= c->group_0) continue; /* nothing follows a group's end */
        const causes_lane *l = &c->graph->lanes[n->lane];
        if (i == c->first[n->lane] + l->n + 1)
            n->behind = tails[l->group];
        else
            n->behind = work_of(c, i + 1) + c->nodes[i + 1].behind;
        for (uint32_t w = n->wants; w != CAUSES_NONE; w = c->nodes[w].next) {
            const int64_t by = (int64_t)((uint64_t)c->nodes[w].over + c->nodes[w].behind);
            if (by > (int64_t)n->behind) n->behind = (uint64_t)by;
        }
    }
}

static uint64_t left(const causes *c, uint64_t long_way)
{
    const uint64_t whole = c->end - c->start;
    return long_way < whole ? whole - long_way : 0;
}

uint64_t causes_slack(const causes *c, size_t node)
{
    return left(c, causes_work_from(c, node) - c->start + work_of(c, node) + c->nodes[node].behind);
}

size_t causes_node_behind(const causes *c, uint32_t lane, uint64_t time)
{
    size_t low = c->first[lane] + 1, high = c->first[lane] + c->graph->lanes[lane].n + 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->nodes[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t causes_slack_of(const causes *c, uint32_t lane, uint64_t from, uint64_t until)
{
    uint64_t least = CAUSES_NEVER;
    const size_t end = c->first[lane] + c->graph->lanes[lane].n + 1;
    for (size_t i = causes_node_behind(c, lane, from); i <= end && causes_work_from(c, i) < until; i++) {
        const uint64_t a = causes_work_from(c, i) > from ? causes_work_from(c, i) : from;
        const uint64_t b = causes_work_until(c, i) < until ? causes_work_until(c, i) : until;
        if (a < b && causes_slack(c, i) < least) least = causes_slack(c, i);
    }
    return least;
}

/* ---- The path --- */

static uint32_t last_lane_of(const causes *c, uint32_t group)
{
    uint32_t best = CAUSES_NONE;
    for (uint32_t l = 0; l < c->graph->n_lanes; l++)
        if (c->graph->lanes[l].group == group &&
            (best == CAUSES_NONE || c->nodes[last_of(c, l)].time > c->nodes[best].time))
            best = last_of(c, l);
    return best;
}

/* One step back from a node; CAUSES_NONE: there is none, *by says why. */
static uint32_t step_back(const causes *c, uint32_t node, uint8_t *by)
{
    const causes_node *n = &c->nodes[node];
    *by = CAUSES_BY_LAST;
    if (node == c->n - 1) {
        uint32_t best = CAUSES_NONE;
        for (size_t g = 0; g < c->graph->n_groups; g++)
            if (best == CAUSES_NONE || c->nodes[c->group_0 + g].time > c->nodes[best].time)
                best = (uint32_t)(c->group_0 + g);
        return best;
    }
    if (node >= c->group_0) return last_lane_of(c, node - (uint32_t)c->group_0);
    *by = CAUSES_BY_UNKNOWN;
    if (n->unknown && !n->waited) return CAUSES_NONE;
    *by = CAUSES_BY_START;
    if (causes_is_start(c, node)) return CAUSES_NONE;
    *by = n->waited ? CAUSES_BY_GIVE : CAUSES_BY_WORK;
    return n->waited ? n->give : node - 1;
}

static bool find_path(causes *c)
{
    size_t n = 0, cap = 0;
    for (uint32_t node = (uint32_t)c->n - 1; node != CAUSES_NONE;) {
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            causes_step *grown = realloc(c->path, cap * sizeof *grown);
            if (!grown) return false;
            c->path = grown;
        }
        causes_step *s = &c->path[n++];
        *s = (causes_step){.node = node};
        node = step_back(c, node, &s->by);
    }
    for (size_t i = 0; i < n / 2; i++) {
        const causes_step s = c->path[i];
        c->path[i] = c->path[n - 1 - i];
        c->path[n - 1 - i] = s;
    }
    c->n_path = n;
    return true;
}

/* ---- What could take the path's place: the longest way that goes around each part of it. Cut the order of causes behind
 * a node of the path: every way to the end has one edge across, and those that are not the path's go around the part behind
 * that node. So the answer is the longest of the edges that are open there. --- */

typedef struct open_edge {
    uint64_t length;
    uint32_t to; /* place of its end */
} open_edge;

typedef struct open_edges {
    open_edge *items; /* a heap, the longest on top */
    size_t n, cap;
    const causes *c;
    uint32_t from, path_to; /* the node whose edges are being opened, and where the path goes from there */
    bool path_given, failed;
} open_edges;

static void heap_add(open_edges *h, uint64_t length, uint32_t to)
{
    if (h->n == h->cap) {
        const size_t cap = h->cap ? h->cap * 2 : 256;
        open_edge *grown = realloc(h->items, cap * sizeof *grown);
        if (!grown) {
            h->failed = true;
            return;
        }
        h->items = grown;
        h->cap = cap;
    }
    size_t at = h->n++;
    while (at && h->items[(at - 1) / 2].length < length) {
        h->items[at] = h->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->items[at] = (open_edge){length, to};
}

static void heap_drop(open_edges *h)
{
    const open_edge last = h->items[--h->n];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= h->n) break;
        if (child + 1 < h->n && h->items[child + 1].length > h->items[child].length) child++;
        if (h->items[child].length <= last.length) break;
        h->items[at] = h->items[child];
        at = child;
    }
    if (h->n) h->items[at] = last;
}

static void open_one(void *ctx, uint32_t to, bool by_give)
{
    open_edges *h = ctx;
    const causes_node *n = &h->c->nodes[to], *from = &h->c->nodes[h->from];
    const uint64_t so_far = from->time - h->c->start;
    if (to == h->path_to && by_give == h->path_given) return;
    if (to >= h->c->group_0)
        heap_add(h, so_far + from->behind, n->place);
    else if (by_give)
        heap_add(h, so_far + (uint64_t)n->over + n->behind, n->place);
    else
        heap_add(h, so_far + work_of(h->c, to) + n->behind, n->place);
}

static bool find_most(causes *c, const uint32_t *order)
{
    open_edges h = {.c = c};
    size_t opened = 0;
    for (size_t l = 0; l < c->graph->n_lanes; l++) {
        const causes_node *start = &c->nodes[c->first[l]];
        heap_add(&h, start->time - c->start + start->behind, start->place);
    }
    for (size_t i = 0; i + 1 < c->n_path && !h.failed; i++) {
        const uint32_t at = c->path[i].node, to = c->path[i + 1].node;
        const uint32_t place = c->nodes[at].place;
        for (; opened <= place; opened++) {
            h.from = order[opened];
            h.path_to = h.from == at ? to : CAUSES_NONE;
            h.path_given = c->path[i + 1].by == CAUSES_BY_GIVE;
            causes_each_behind(c, h.from, open_one, &h);
        }
        while (h.n && h.items[0].to <= place)
            heap_drop(&h);
        if (c->path[i + 1].by != CAUSES_BY_WORK) continue;
        const uint64_t other = h.n ? left(c, h.items[0].length) : c->end - c->start;
        const uint64_t work = work_of(c, to);
        c->path[i + 1].most = other < work ? other : work;
    }
    free(h.items);
    return !h.failed;
}

bool causes_find_path(causes *c, const uint32_t *order)
{
    uint64_t *tails = calloc(c->graph->n_groups + 1, sizeof *tails);
    if (!tails) return false;
    find_tails(c, tails);
    set_behind(c, order, tails);
    free(tails);
    return find_path(c) && find_most(c, order);
}

/* ---- If something were otherwise --- */

/* The give that a want would wait for, and how long the hand-over is. */
static uint32_t give_for(const causes *c, uint32_t node, const causes_change *change, int64_t *over)
{
    const causes_node *n = &c->nodes[node];
    *over = n->over;
    if (!change->room || n->give == CAUSES_NONE) return n->give;
    const causes_event *e = causes_event_of(c, node);
    if (e->why != CAUSES_FULL) return n->give;
    if (*over > c->hand_over[CAUSES_FULL]) *over = c->hand_over[CAUSES_FULL];
    /* A counter has one who raises it, one number after the other. */
    const uint32_t value = e->value - change->room;
    enum { NEAR = 4096 }; /* further away, records are missing */
    for (uint32_t at = n->give, k = 0; (int32_t)value > 0 && k < NEAR && !causes_is_start(c, at); at--, k++) {
        const causes_event *g = causes_event_of(c, at);
        if (g->kind == CAUSES_GIVE && g->counter == e->counter && g->value == value) return at;
    }
    return CAUSES_NONE;
}

devlog_status causes_end_with(const causes *c, const causes_change *change, uint64_t *end, devlog_error *err)
{
    uint32_t *order = malloc(c->n * sizeof *order);
    uint64_t *time = malloc(c->n * sizeof *time), *tails = calloc(c->graph->n_groups + 1, sizeof *tails);
    const bool good = order && time && tails;
    for (size_t i = 0; good && i < c->n; i++) {
        order[c->nodes[i].place] = (uint32_t)i;
        time[i] = c->start;
    }
    if (good) find_tails(c, tails);
    for (size_t k = 0; good && k < c->n; k++) {
        const uint32_t i = order[k];
        const causes_node *n = &c->nodes[i];
        if (i >= c->group_0) {
            if (time[i] > time[c->n - 1]) time[c->n - 1] = time[i];
            continue;
        }
        if (causes_is_start(c, i)) {
            time[i] = n->time;
        } else {
            const uint64_t work = work_of(c, i), less = change->less ? change->less[i] : 0;
            int64_t over;
            const uint32_t give = give_for(c, i, change, &over);
            time[i] = time[i - 1] + work - (less < work ? less : work);
            if (give != CAUSES_NONE && time[give] + (uint64_t)over > time[i])
                time[i] = time[give] + (uint64_t)over;
        }
        const uint32_t group = c->graph->lanes[n->lane].group;
        uint64_t *whole = &time[c->group_0 + group];
        if (i == last_of(c, n->lane) && time[i] + tails[group] > *whole) *whole = time[i] + tails[group];
    }
    if (good) *end = time[c->n - 1];
    free(order);
    free(time);
    free(tails);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status causes_end_if(const causes *c, const uint64_t *less, uint64_t *end, devlog_error *err)
{
    return causes_end_with(c, &(causes_change){.less = less}, end, err);
}
