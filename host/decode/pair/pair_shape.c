/* Shapes: what a whole run of hits means, remembered. */
#include "decode/pair/pair_shape.h"

#include <stdlib.h>
#include <string.h>

#define COMMON (DL_HIT_STREAM | DL_HIT_FRAME | DL_HIT_RARE)

/* What is found out about a run. */
typedef struct finding {
    pair_shape shape; /* points to what follows */
    uint8_t order[SHAPE_HITS], points[SHAPE_HITS];
    shape_zone zones[SHAPE_HITS];
    bool in_order;
} finding;

static uint64_t hash_of(const dl_hit *sorted, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = dl_hash_u64(hash ^ (sorted[i].code & ~COMMON));
    return hash;
}

/* The places of the hits in the log, in the order of their stamps. False when hits that are not in order have
 * the same stamp: which of them is first is then another matter. */
static bool find_order(finding *f, const dl_hit *hits, const dl_hit *sorted, uint32_t n)
{
    f->in_order = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        if (hits[i].time != sorted[i].time || hits[i].code != sorted[i].code)
            for (at = 0; at < n && (hits[at].time != sorted[i].time || hits[at].code != sorted[i].code);)
                at++;
        if (at == n) return false;
        f->order[i] = (uint8_t)at;
        if (at != i) f->in_order = false;
    }
    for (uint32_t i = 1; i < n && !f->in_order; i++)
        if (sorted[i].time == sorted[i - 1].time) return false;
    return f->order[0] == 0;
}

/* Which hits are zones. False when the run is not ordinary in itself. */
static bool find_zones(finding *f, const dl_hit *sorted, uint32_t n)
{
    uint32_t open[SHAPE_DEPTH], n_open = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t code = sorted[i].code;
        uint64_t type = (code & DL_HIT_TYPE) >> DL_HIT_TYPE_SHIFT;
        dl_role role = (dl_role)((code & DL_HIT_ROLE) >> DL_HIT_ROLE_SHIFT);
        if ((i == 0) != ((code & DL_HIT_FW_START) != 0)) return false;
        if (role == DL_ROLE_DROPPED) return false;
        if (type > DL_ROW_ZONE_END) {
            f->points[f->shape.n_points++] = f->order[i];
            continue;
        }
        if (type == DL_ROW_ZONE_START) {
            if (n_open == SHAPE_DEPTH) return false;
            if (role == DL_ROLE_KERNEL && f->shape.has_kernel && n_open == 0) return false;
            if (role == DL_ROLE_KERNEL) f->shape.has_kernel = true;
            open[n_open++] = i;
            continue;
        }
        if (n_open == 0 || dl_hit_site(sorted[open[n_open - 1]].code) != dl_hit_site(code)) return false;
        f->zones[f->shape.n_zones++] =
            (shape_zone){f->order[open[--n_open]], f->order[i], role != DL_ROLE_USER};
        if (role == DL_ROLE_FW) f->shape.fw_end = f->order[i];
    }
    return n_open == 0;
}

static shape_step step_of(const finding *f, const dl_hit *sorted, uint32_t i)
{
    return (shape_step){f->in_order ? 0 : 1, (sorted[i].code & ~COMMON) - (sorted[i - 1].code & ~COMMON)};
}

/* A shape that is known already. */
static const pair_shape *find_shape(const dl_pair *p, const finding *f, const dl_hit *sorted)
{
    const pair_shape *shape = p->shapes;
    for (; shape; shape = shape->next) {
        if (shape->hash != f->shape.hash || shape->n != f->shape.n) continue;
        if (shape->first[1] != f->shape.first[1] || !shape->order != f->in_order) continue;
        if (shape->order && memcmp(shape->order, f->order, shape->n) != 0) continue;
        uint32_t i = 1;
        while (i < shape->n && shape->steps[i][1] == step_of(f, sorted, i)[1])
            i++;
        if (i == shape->n) return shape;
    }
    return NULL;
}

static bool spend(dl_pair *p, size_t bytes)
{
    if (bytes > SHAPE_BYTES - p->shape_bytes) return false;
    p->shape_bytes += bytes;
    return true;
}

static const pair_shape *add_shape(dl_pair *p, const finding *f, const dl_hit *sorted)
{
    const uint32_t n = f->shape.n, n_zones = f->shape.n_zones, n_points = f->shape.n_points;
    size_t head = (sizeof(pair_shape) + sizeof(shape_step) - 1) & ~(sizeof(shape_step) - 1);
    size_t bytes = head + n * (sizeof(shape_step) + 1) + n_zones * sizeof(shape_zone) + n_points;
    char *memory = spend(p, bytes) ? malloc(bytes) : NULL;
    if (!memory) return NULL;
    pair_shape *shape = (pair_shape *)(void *)memory;
    shape_step *steps = (shape_step *)(void *)(memory + head);
    shape_zone *zones = (shape_zone *)(void *)(steps + n);
    uint8_t *order = (uint8_t *)(zones + n_zones), *points = order + n;
    steps[0] = (shape_step){0, 0};
    for (uint32_t i = 1; i < n; i++)
        steps[i] = step_of(f, sorted, i);
    memcpy(zones, f->zones, n_zones * sizeof *zones);
    memcpy(order, f->order, n);
    memcpy(points, f->points, n_points);
    *shape = f->shape;
    shape->steps = steps;
    shape->zones = zones;
    shape->points = points;
    shape->order = f->in_order ? NULL : order;
    shape->next = p->shapes;
    return p->shapes = shape;
}

void dl_pair_learn_shape(dl_pair *p, stream_state *s, const dl_hit *hits, const dl_hit *sorted, uint32_t n)
{
    if (n < 2 || n > SHAPE_HITS || s->n_shapes == SHAPES_PER_STREAM || s->costs) return;
    finding f;
    f.shape = (pair_shape){.n = n, .first = {0, hits[0].code & ~COMMON}, .hash = hash_of(sorted, n)};
    if (!find_order(&f, hits, sorted, n) || !find_zones(&f, sorted, n)) return;
    f.shape.last = f.order[n - 1];
    const pair_shape *shape = find_shape(p, &f, sorted);
    if (!shape) shape = add_shape(p, &f, sorted);
    if (!shape) return;
    for (uint32_t i = 0; i < s->n_shapes; i++)
        if (s->shapes[i]->shape == shape) return; /* it was the stamps */
    if (!s->shapes && spend(p, SHAPES_PER_STREAM * sizeof *s->shapes))
        s->shapes = malloc(SHAPES_PER_STREAM * sizeof *s->shapes);
    size_t bytes =
        sizeof(stream_shape) + shape->n_zones * sizeof(dl_key *) + shape->n_points * sizeof(uint32_t);
    stream_shape *known = s->shapes && spend(p, bytes) ? malloc(bytes) : NULL;
    if (!known) return;
    known->shape = shape;
    known->follows = known;
    known->n_keys = shape->n_zones;
    for (uint32_t i = 0; i < shape->n_zones; i++)
        known->keys[i] = dl_pair_known_key(s, dl_hit_site(hits[shape->zones[i].start].code));
    known->series = (uint32_t *)(void *)(known->keys + shape->n_zones);
    for (uint32_t i = 0; i < shape->n_points; i++) {
        uint64_t code = hits[shape->points[i]].code;
        dl_event_kind kind = (dl_event_kind)dl_pair_kinds[(code & DL_HIT_TYPE) >> DL_HIT_TYPE_SHIFT];
        known->series[i] = dl_series_number(&p->series, dl_hit_stream(code), dl_hit_site(code), kind);
    }
    if (s->shape) s->shape->follows = known;
    s->shapes[s->n_shapes++] = s->shape = known;
}

void dl_pair_free_shapes(dl_pair *p)
{
    for (pair_shape *shape = p->shapes; shape;) {
        pair_shape *next = shape->next;
        free(shape);
        shape = next;
    }
    p->shapes = NULL;
}
