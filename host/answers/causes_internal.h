/* What the files of causes.h share: nodes and the events that they stand for. Not for others. */
#ifndef DEVLOG_ANSWERS_CAUSES_INTERNAL_H
#define DEVLOG_ANSWERS_CAUSES_INTERNAL_H

#include "answers/causes.h"

static inline const causes_event *causes_event_of(const causes *c, size_t node)
{
    const causes_lane *l = &c->graph->lanes[c->nodes[node].lane];
    return &l->events[node - c->first[c->nodes[node].lane] - 1];
}

static inline bool causes_is_start(const causes *c, size_t node)
{
    return node < c->group_0 && node == c->first[c->nodes[node].lane];
}

static inline bool causes_is_event(const causes *c, size_t node)
{
    return node < c->group_0 && !causes_is_start(c, node) &&
           node <= c->first[c->nodes[node].lane] + c->graph->lanes[c->nodes[node].lane].n;
}

static inline bool causes_has_work(const causes *c, size_t node)
{
    return node < c->group_0 && !causes_is_start(c, node);
}

/* Calls for every node that comes directly behind this one; `by_give`: by a give, not along the lane. */
typedef void causes_visit(void *ctx, uint32_t node, bool by_give);
void causes_each_behind(const causes *c, uint32_t node, causes_visit *visit, void *ctx);

/* The longest ways, the path, and what each part of it could gain; `order`: nodes by their place. False: no memory. */
bool causes_find_path(causes *c, const uint32_t *order);

#endif
