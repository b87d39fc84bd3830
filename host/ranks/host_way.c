/* By what the clock of each rank's host is known beside that of the root: hosts are joined where two are one (the same boot), where they have
 * exchanged something, and, where nothing else joins them, by CLOCK_REALTIME. Of several ways the one that is known best at its best is
 * taken; the others are held against it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/host_clocks.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

const char *ranks_way_name(ranks_way way)
{
    static const char *const names[] = {[RANKS_WAY_NONE] = NULL,
                                        [RANKS_WAY_COLLECTIVES] = "collective ops",
                                        [RANKS_WAY_SAME] = "one host",
                                        [RANKS_WAY_EXCHANGES] = "exchanges",
                                        [RANKS_WAY_REALTIME] = "CLOCK_REALTIME"};
    return names[way];
}

/* ---- Edges -------------------------------------------------------------------------------------------------- */

static host_edge *add_edge(struct host_ways *w, uint32_t a, uint32_t b, ranks_way way)
{
    if (w->n_edges == w->cap_edges) {
        const size_t cap = w->cap_edges ? w->cap_edges * 2 : 64;
        host_edge *grown = realloc(w->edges, cap * sizeof *grown);
        if (!grown) return NULL;
        w->edges = grown;
        w->cap_edges = cap;
    }
    host_edge *e = &w->edges[w->n_edges++];
    *e = (host_edge){.a = a, .b = b, .way = way, .half = NAN};
    return e;
}

/* The place of a launcher's number: a rank's, or a new one for who is not here. SIZE_MAX: no memory. */
static size_t place_of(struct host_ways *w, size_t *cap, uint32_t number)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->numbers[i] == number) return i;
    if (w->n == *cap) {
        uint32_t *grown = realloc(w->numbers, *cap * 2 * sizeof *grown);
        if (!grown) return SIZE_MAX;
        w->numbers = grown;
        *cap *= 2;
    }
    w->numbers[w->n] = number;
    return w->n++;
}

/* What an exchange says of the clocks of a and b, of which a asked: as a pin of the edge. */
static bool add_pin(host_edge *e, bool asked_by_b, const devlog_clock_stamps *s)
{
    const int64_t sent = (int64_t)s->sent, arrived = (int64_t)s->arrived, received = (int64_t)s->received,
                  answered = (int64_t)s->answered;
    if (!e->pins.n) {
        e->from = asked_by_b ? received : sent;
        e->ahead = asked_by_b ? sent - received : received - sent;
    }
    /* Stamps are whole ns, and a clock may gain or lose something on the way. */
    const double slack = 1 + 2 * PINS_FAST * (double)(arrived - sent);
    if (asked_by_b)
        return pins_add(&e->pins, (pin){(double)(received - e->from) + (double)(answered - received) / 2,
                                        (double)(sent - received - e->ahead) - slack,
                                        (double)(arrived - answered - e->ahead) + slack});
    return pins_add(&e->pins, (pin){(double)(sent - e->from) + (double)(arrived - sent) / 2,
                                    (double)(answered - arrived - e->ahead) - slack,
                                    (double)(received - sent - e->ahead) + slack});
}

static host_edge *exchanges_of(struct host_ways *w, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < w->n_edges; i++)
        if (w->edges[i].a == a && w->edges[i].b == b && w->edges[i].way == RANKS_WAY_EXCHANGES)
            return &w->edges[i];
    return add_edge(w, a, b, RANKS_WAY_EXCHANGES);
}

static bool is_of_boot(const host_clocks *h, const char *boot, uint64_t time_namespace)
{
    if (!*boot || !h->boot[0]) return true; /* nothing speaks against it */
    return strcmp(h->boot, boot) == 0 &&
           (!time_namespace || !h->time_namespace || h->time_namespace == time_namespace);
}

static bool add_exchanges(struct host_ways *w, const ranks *r)
{
    size_t cap = r->n + 1;
    for (uint32_t k = 0; k < r->n; k++) {
        const host_clocks *h = &w->clocks[k];
        host_edge *edge = NULL;
        uint32_t last = RANKS_NONE;
        for (size_t i = 0; i < h->n; i++) {
            const host_exchange *x = &h->items[i];
            const size_t peer = place_of(w, &cap, x->peer);
            if (peer == SIZE_MAX) return false;
            if (peer >= r->n && !w->absent++) w->absent_1 = x->peer;
            const bool foreign =
                peer == k || (peer < r->n && !is_of_boot(&w->clocks[peer], x->boot, x->time_namespace));
            w->foreign += foreign;
            if (foreign) continue;
            const uint32_t a = k < peer ? k : (uint32_t)peer, b = k < peer ? (uint32_t)peer : k;
            if (!edge || last != peer) edge = exchanges_of(w, a, b);
            last = (uint32_t)peer;
            if (!edge || !add_pin(edge, k != a, &x->stamps)) return false;
        }
    }
    for (size_t i = 0; i < w->n_edges; i++) {
        host_edge *e = &w->edges[i];
        e->refused = !pins_make(&e->pins);
        if (e->refused && !w->jumps++) {
            w->jumps_a = w->numbers[e->a];
            w->jumps_b = w->numbers[e->b];
        }
        double half = INFINITY;
        for (size_t k = 0; k < e->pins.n; k++)
            half = fmin(half, (e->pins.items[k].high - e->pins.items[k].low) / 2);
        e->half = half;
    }
    return true;
}

static void say_apart(struct host_ways *w, uint32_t a, ranks_way one, ranks_way other, double apart,
                      double most)
{
    if (w->disagree++) return;
    snprintf(w->disagrees, sizeof w->disagrees,
             "the host of rank %u lies %.3f us elsewhere by %s than by %s, which can be %.3f us off together",
             w->numbers[a], apart / 1000, ranks_way_name(other), ranks_way_name(one), most / 1000);
}

/* Hosts of one boot and time namespace have one clock, unless what they have exchanged says otherwise. */
static bool add_same(struct host_ways *w, const ranks *r)
{
    const size_t exchanges = w->n_edges;
    for (uint32_t b = 0; b < r->n; b++) {
        const host_clocks *h = &w->clocks[b];
        uint32_t a = 0;
        while (a < b &&
               !(h->boot[0] && w->clocks[a].boot[0] && is_of_boot(&w->clocks[a], h->boot, h->time_namespace)))
            a++;
        if (a == b) continue;
        host_edge *e = add_edge(w, a, b, RANKS_WAY_SAME);
        if (!e) return false;
        e->half = 0;
        for (size_t i = 0; i < exchanges && !e->refused; i++) {
            const host_edge *x = &w->edges[i];
            for (size_t k = 0; k < x->pins.n && x->a == a && x->b == b && !x->refused && !e->refused; k++) {
                const pin *p = &x->pins.items[k];
                const double low = (double)x->ahead + p->low, high = (double)x->ahead + p->high;
                e->refused = low > 0 || high < 0;
                if (e->refused)
                    say_apart(w, b, RANKS_WAY_SAME, RANKS_WAY_EXCHANGES, fabs(low + (high - low) / 2),
                              (high - low) / 2);
            }
        }
    }
    return true;
}

/* ---- Ways --------------------------------------------------------------------------------------------------- */

/* Until nothing becomes better: Bellman and Ford. */
static void search(struct host_ways *w)
{
    enum { HOP = 1 }; /* ns: of ways that are as good the one with fewer hosts */
    for (size_t i = 0; i < w->n; i++) {
        w->next[i] = 0;
        w->way[i] = RANKS_WAY_NONE;
        w->reached[i] = i == w->root;
        w->cost[i] = i == w->root ? 0 : INFINITY;
    }
    bool better = true;
    for (size_t round = 0; round < w->n && better; round++) {
        better = false;
        for (size_t i = 0; i < w->n_edges; i++) {
            const host_edge *e = &w->edges[i];
            if (e->refused) continue;
            for (int back = 0; back < 2; back++) {
                const uint32_t from = back ? e->b : e->a, to = back ? e->a : e->b;
                /* What is not known is worse than all that is. */
                const double cost = w->cost[from] + HOP + (isfinite(e->half) ? e->half : 1e15);
                if (!w->reached[from] || (w->reached[to] && !(cost < w->cost[to]))) continue;
                w->reached[to] = better = true;
                w->cost[to] = cost;
                w->next[to] = (uint32_t)i + 1;
            }
        }
    }
    for (size_t i = 0; i < w->n; i++)
        for (size_t at = i; w->next[at];) {
            const host_edge *e = &w->edges[w->next[at] - 1];
            if (e->way > w->way[i]) w->way[i] = e->way;
            at = e->a == at ? e->b : e->a;
        }
}

/* By how much CLOCK_REALTIME of two may differ, beyond what its readings are known to; NAN: nobody knows. */
static double real_error(const host_clocks *x, const host_clocks *y)
{
    const double read = (double)(x->real_high - x->real_low) / 2 + (double)(y->real_high - y->real_low) / 2;
    if (x->most == DL_CLOCK_UNKNOWN || y->most == DL_CLOCK_UNKNOWN) return NAN;
    return read + (double)x->most + (double)y->most;
}

/* By how much b's CLOCK_MONOTONIC is ahead of a's, if their CLOCK_REALTIME are alike. */
static int64_t real_ahead(const host_clocks *a, const host_clocks *b)
{
    return a->real_low + (a->real_high - a->real_low) / 2 - b->real_low - (b->real_high - b->real_low) / 2;
}

/* To whom nothing else leads: from the first of those that are reached. */
static bool add_realtime(struct host_ways *w, const ranks *r)
{
    bool any = false;
    uint32_t from = 0;
    while (from < r->n && !(w->reached[from] && w->clocks[from].n_readings))
        from++;
    for (uint32_t to = 0; to < r->n && from < r->n; to++) {
        if (w->reached[to] || !w->clocks[to].n_readings) continue;
        host_edge *e = add_edge(w, from, to, RANKS_WAY_REALTIME);
        if (!e) return false;
        e->ahead = real_ahead(&w->clocks[from], &w->clocks[to]);
        e->half = real_error(&w->clocks[from], &w->clocks[to]);
        any = true;
    }
    if (any) search(w);
    return true;
}

/* A moment of one end of an edge on the other's clock. */
static host_moment cross(const host_edge *e, bool from_b, host_moment at, double *error)
{
    double ahead = 0, off = e->half;
    if (e->way == RANKS_WAY_EXCHANGES) {
        /* Pins are by the time of a, which b's time says to less than a clock gains in what it is off by. */
        const int64_t from = from_b ? e->from + e->ahead : e->from;
        pins_at(&e->pins, host_since(at, from), &ahead, &off);
        if (from_b) pins_at(&e->pins, host_since(at, from) - ahead, &ahead, &off);
        if (from_b) off += 4 * PINS_FAST * off;
    }
    *error += off;
    return from_b ? (host_moment){host_minus(at.base, e->ahead), at.rel - ahead}
                  : (host_moment){host_plus(at.base, e->ahead), at.rel + ahead};
}

bool host_ways_at(const struct host_ways *w, uint32_t rank, host_moment at, host_moment *out, double *error)
{
    *error = 0;
    *out = at;
    if (!w->reached[rank]) return false;
    for (uint32_t here = rank; w->next[here];) {
        const host_edge *e = &w->edges[w->next[here] - 1];
        *out = cross(e, here == e->b, *out, error);
        here = here == e->b ? e->a : e->b;
    }
    return true;
}

/* ---- One way against another ---------------------------------------------------------------------------------- */

/* What an edge that no way takes says of a moment of a, and what the ways of both ends say. */
static void compare(struct host_ways *w, const host_edge *e, int64_t at)
{
    const host_moment here = {at, 0};
    host_moment by_a, by_b;
    double error_a, error_b, error = 0;
    const host_moment there = cross(e, false, here, &error);
    if (!host_ways_at(w, e->a, here, &by_a, &error_a) || !host_ways_at(w, e->b, there, &by_b, &error_b))
        return;
    const double apart = fabs(host_since(by_b, by_a.base) - by_a.rel), most = error + error_a + error_b;
    const uint32_t far = e->b == w->root ? e->a : e->b;
    if (apart > most) say_apart(w, far, w->way[far], e->way, apart, most);
}

static bool is_taken(const struct host_ways *w, size_t edge)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->next[i] == edge + 1) return true;
    return false;
}

static void compare_all(struct host_ways *w, const ranks *r)
{
    for (size_t i = 0; i < w->n_edges; i++) {
        const host_edge *e = &w->edges[i];
        if (e->refused || e->way != RANKS_WAY_EXCHANGES || is_taken(w, i)) continue;
        compare(w, e, e->from + (int64_t)e->pins.items[0].x);
        if (e->pins.n > 1) compare(w, e, e->from + (int64_t)e->pins.items[e->pins.n - 1].x);
    }
    if (w->root >= r->n || !w->clocks[w->root].n_readings) return;
    for (uint32_t b = 0; b < r->n; b++) {
        const host_clocks *root = &w->clocks[w->root], *h = &w->clocks[b];
        if (b == w->root || !h->n_readings || !w->reached[b] || w->way[b] == RANKS_WAY_REALTIME) continue;
        const host_edge e = {.a = w->root,
                             .b = b,
                             .way = RANKS_WAY_REALTIME,
                             .ahead = real_ahead(root, h),
                             .half = real_error(root, h)};
        if (!isnan(e.half)) compare(w, &e, (int64_t)root->at);
    }
}

devlog_status host_ways_find(struct host_ways *w, const ranks *r, uint32_t root, devlog_error *err)
{
    w->numbers = malloc((r->n + 1) * sizeof *w->numbers);
    if (!w->numbers) return no_memory(err);
    for (uint32_t i = 0; i < r->n; i++) {
        const rank_entry *e = &r->items[i];
        w->numbers[i] = e->said_by ? e->said : e->number; /* peers are told by their launcher's numbers */
        w->impossible += w->clocks[i].impossible;
        w->foreign += w->clocks[i].foreign;
        w->set += w->clocks[i].set;
    }
    w->n = r->n;
    w->root = root;
    if (!add_exchanges(w, r) || !add_same(w, r)) return no_memory(err);
    w->next = calloc(w->n + 1, sizeof *w->next);
    w->cost = calloc(w->n + 1, sizeof *w->cost);
    w->way = calloc(w->n + 1, sizeof *w->way);
    w->reached = calloc(w->n + 1, sizeof *w->reached);
    if (!w->next || !w->cost || !w->way || !w->reached) return no_memory(err);
    search(w);
    if (!add_realtime(w, r)) return no_memory(err);
    compare_all(w, r);
    return DEVLOG_OK;
}

void host_ways_free(struct host_ways *w)
{
    for (size_t i = 0; i < w->n_edges; i++)
        pins_free(&w->edges[i].pins);
    free(w->edges);
    free(w->numbers);
    free(w->next);
    free(w->cost);
    free(w->way);
    free(w->reached);
    w->edges = NULL;
    w->n_edges = 0;
}
