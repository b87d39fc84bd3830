/* Parts of RISCs' time, and paths as segments. See causes_parts.h. */
#include "answers/causes_parts.h"

#include <stdlib.h>

/* ---- Parts --- */

static int outer_first(const void *a, const void *b)
{
    const causes_zone *x = *(causes_zone *const *)a, *y = *(causes_zone *const *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x < y ? 1 : x > y ? -1 : 0; /* what closed last is around the others */
}

static bool add_part(causes_parts *p, uint64_t *from, uint64_t until, uint32_t site)
{
    if (until <= *from) return true;
    if (p->n == p->cap) {
        const size_t cap = p->cap ? p->cap * 2 : 1024;
        causes_part *grown = realloc(p->items, cap * sizeof *grown);
        if (!grown) return false;
        p->items = grown;
        p->cap = cap;
    }
    p->items[p->n++] = (causes_part){*from, until, site};
    *from = until;
    return true;
}

static bool cut_lane(causes_parts *p, const causes_launch *l, uint32_t lane)
{
    const causes_risc *r = &l->riscs[lane];
    const causes *c = l->causes;
    const size_t start = c->first[lane], end = start + c->graph->lanes[lane].n + 1;
    const causes_zone **zones = malloc((r->n + 1) * sizeof *zones),
                      **open = malloc((r->n + 1) * sizeof *open);
    size_t n = 0, n_open = 0;
    bool good = zones && open;
    uint64_t at = c->nodes[start].time;
    for (size_t i = 0; good && i < r->n; i++)
        if (causes_is_zone(&r->zones[i])) zones[n++] = &r->zones[i];
    if (n > 1) qsort(zones, n, sizeof *zones, outer_first);
    for (size_t i = 0; i <= n && good; i++) {
        const uint64_t next = i < n ? zones[i]->start : c->nodes[end].time;
        while (n_open && open[n_open - 1]->end <= next && good) {
            good = add_part(p, &at, open[n_open - 1]->end, open[n_open - 1]->site);
            n_open--;
        }
        good = good && add_part(p, &at, next, n_open ? open[n_open - 1]->site : DL_NONE);
        if (i < n) open[n_open++] = zones[i];
    }
    free(zones);
    free(open);
    return good;
}

bool causes_cut(causes_parts *p, const causes_launch *l)
{
    const size_t n = l->causes->graph->n_lanes;
    size_t *grown = realloc(p->first, (n + 1) * sizeof *grown);
    if (!grown) return false;
    p->first = grown;
    p->n = 0;
    for (size_t i = 0; i < n; i++) {
        p->first[i] = p->n;
        if (!cut_lane(p, l, (uint32_t)i)) return false;
    }
    p->first[n] = p->n;
    return true;
}

void causes_parts_free(causes_parts *p)
{
    free(p->items);
    free(p->first);
    *p = (causes_parts){0};
}

/* The first part of a lane that ends behind this time. */
size_t causes_part_at(const causes_parts *p, uint32_t lane, uint64_t time)
{
    size_t low = p->first[lane], high = p->first[lane + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->items[middle].until <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- The path --- */

static bool add_segment(causes_segments *s, const causes_launch *l, uint32_t lane, uint8_t what,
                        uint32_t site, uint64_t from, uint64_t until)
{
    const uint64_t start = l->causes->start;
    if (until <= from) return true;
    causes_segment *last = s->n ? &s->items[s->n - 1] : NULL;
    if (last && last->lane == lane && last->what == what && last->site == site && !last->ends_wait &&
        last->until == from - start) {
        last->until = until - start;
        return true;
    }
    if (s->n == s->cap) {
        const size_t cap = s->cap ? s->cap * 2 : 64;
        causes_segment *grown = realloc(s->items, cap * sizeof *grown);
        if (!grown) return false;
        s->items = grown;
        s->cap = cap;
    }
    s->items[s->n++] = (causes_segment){.stream = lane == CAUSES_NONE ? DL_NONE : l->riscs[lane].stream,
                                        .site = site,
                                        .lane = lane,
                                        .what = what,
                                        .from = from - start,
                                        .until = until - start,
                                        .gain = CAUSES_NEVER};
    return true;
}

static bool add_work(causes_segments *s, const causes_parts *p, const causes_launch *l, size_t node)
{
    const causes *c = l->causes;
    const uint32_t lane = c->nodes[node].lane;
    uint64_t at = causes_work_from(c, node);
    const uint64_t until = causes_work_until(c, node);
    for (size_t i = causes_part_at(p, lane, at); i < p->first[lane + 1] && at < until; i++) {
        const causes_part *part = &p->items[i];
        const uint64_t end = part->until < until ? part->until : until;
        if (!add_segment(s, l, lane, part->site == DL_NONE ? CAUSES_NO_ZONE : CAUSES_IN_ZONE, part->site, at,
                         end))
            return false;
        at = end;
    }
    return add_segment(s, l, lane, CAUSES_NO_ZONE, DL_NONE, at, until);
}

/* The last segment ends a wait, of the lane of this node. */
static void say_why(causes_segments *s, const causes *c, const causes_node *n, size_t node)
{
    const causes_event *e = &c->graph->lanes[n->lane].events[node - c->first[n->lane] - 1];
    if (!s->n) return;
    causes_segment *last = &s->items[s->n - 1];
    last->ends_wait = true;
    last->why = e->why;
    last->address = causes_address(e->counter);
    last->value = e->value;
    last->waited = e->until - e->at;
}

bool causes_segment_path(causes_segments *s, const causes_parts *p, const causes_launch *l)
{
    const causes *c = l->causes;
    bool good = true;
    uint32_t lane = CAUSES_NONE; /* the last on the path */
    s->n = 0;
    for (size_t i = 0; i < c->n_path && good; i++) {
        const causes_step *step = &c->path[i];
        const causes_node *n = &c->nodes[step->node];
        const uint64_t before = i ? c->nodes[c->path[i - 1].node].time : c->start;
        switch ((causes_by)step->by) {
        case CAUSES_BY_START:
            good = add_segment(s, l, n->lane, CAUSES_STARTING, DL_NONE, before, n->time);
            break;
        case CAUSES_BY_UNKNOWN:
            good = add_segment(s, l, n->lane, CAUSES_NOBODY, DL_NONE, before, n->time);
            break;
        case CAUSES_BY_WORK: good = add_work(s, p, l, step->node); break;
        case CAUSES_BY_GIVE:
            say_why(s, c, n, step->node);
            good = add_segment(s, l, n->lane, CAUSES_HANDING, DL_NONE, before, n->time);
            break;
        case CAUSES_BY_LAST: good = add_segment(s, l, lane, CAUSES_ENDING, DL_NONE, before, n->time); break;
        }
        if (n->lane != CAUSES_NONE) lane = n->lane;
    }
    return good;
}

/* ---- If it took less --- */

void causes_take_out(const causes *c, uint32_t lane, uint64_t from, uint64_t until, uint64_t *less)
{
    const size_t end = c->first[lane] + c->graph->lanes[lane].n + 1;
    for (size_t i = causes_node_behind(c, lane, from); i <= end && causes_work_from(c, i) < until; i++) {
        const uint64_t a = causes_work_from(c, i) > from ? causes_work_from(c, i) : from;
        const uint64_t b = causes_work_until(c, i) < until ? causes_work_until(c, i) : until;
        if (a < b) less[i] += b - a;
    }
}
