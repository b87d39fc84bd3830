/* Shapes: what a whole run of marks means, remembered. */
#include "decode/pair/pair_shape.h"

#include <stdlib.h>
#include <string.h>

/* What is found out about a run. */
typedef struct finding {
    pair_shape shape; /* points to what follows */
    uint8_t order[SHAPE_MARKS];
    shape_item items[SHAPE_MARKS];
    bool in_order;
} finding;

static uint64_t kind_of(const dl_mark *mark)
{
    return mark->code & (DL_MARK_KIND | DL_MARK_FW_START | DL_MARK_FW_END);
}

static uint64_t hash_of(const dl_mark *sorted, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = dl_hash_u64(hash ^ kind_of(&sorted[i]));
    return hash;
}

/* The places of the marks in the batch, in the order of their stamps. False when marks that are not in order
 * have the same stamp: which of them is first is then another matter. */
static bool find_order(finding *f, const pair_run *run)
{
    f->in_order = true;
    for (uint32_t i = 0; i < run->n; i++) {
        uint32_t place = run->places ? run->places[i] : i;
        if (place & DL_TORN) return false;
        f->order[i] = (uint8_t)place;
        if (place != i) f->in_order = false;
    }
    for (uint32_t i = 1; i < run->n && !f->in_order; i++)
        if (run->sorted[i].time == run->sorted[i - 1].time) return false;
    return f->order[0] == 0;
}

/* Marks that are rare in their shape: values without meta data, and, in front, what names an op. */
static bool is_known(const dl_pair *p, const dl_mark *mark, bool first, bool is_zone)
{
    const dl_rare *rare = dl_mark_rare(p->batch, mark->code);
    if (!rare || first) return true;
    return !is_zone && !rare->meta && !rare->op;
}

/* What closes, in which order. False when the run is not ordinary in itself. */
static bool find_items(const dl_pair *p, finding *f, const dl_mark *sorted)
{
    uint32_t open[SHAPE_DEPTH], n_open = 0;
    pair_shape *shape = &f->shape;
    uint32_t n_default = 0;
    shape->fw_end = shape->kernel_start = shape->kernel_end = SHAPE_NONE;
    for (uint32_t i = 0; i < shape->n; i++) {
        const dl_kind *kind = &p->tables->kinds[dl_mark_kind(sorted[i].code)];
        const dl_role role = (dl_role)kind->role;
        const uint8_t place = f->order[i];
        if ((i == 0) != ((sorted[i].code & DL_MARK_FW_START) != 0)) return false;
        if (role == DL_ROLE_DROPPED) return false;
        if (!is_known(p, &sorted[i], i == 0, kind->type <= DL_ROW_ZONE_END)) return false;
        if (kind->type > DL_ROW_ZONE_END) {
            uint8_t event = dl_pair_kinds[kind->type];
            if (event == DL_EVENT_SUM) return false;
            if (event == DL_EVENT_VALUE) shape->has_data = true;
            f->items[shape->n_items++] = (shape_item){place, place, event, (uint8_t)n_open, false};
            continue;
        }
        if (kind->type == DL_ROW_ZONE_START) {
            if (n_open == SHAPE_DEPTH) return false;
            if (role == DL_ROLE_KERNEL && shape->has_kernel && n_open == 0) return false;
            if (role == DL_ROLE_KERNEL && !shape->has_kernel) shape->kernel_start = place;
            if (role == DL_ROLE_KERNEL) shape->has_kernel = true;
            open[n_open++] = i;
            continue;
        }
        if (n_open == 0) return false;
        const dl_kind *start = &p->tables->kinds[dl_mark_kind(sorted[open[--n_open]].code)];
        if (start->site != kind->site) return false;
        f->items[shape->n_items++] =
            (shape_item){f->order[open[n_open]], place, DL_EVENT_ZONE, (uint8_t)n_open, role != DL_ROLE_USER};
        n_default += role != DL_ROLE_USER;
        if (role == DL_ROLE_FW) shape->fw_end = place;
        if (role == DL_ROLE_KERNEL) shape->kernel_end = place;
    }
    shape->once = n_default == 1u + shape->has_kernel;
    return n_open == 0;
}

static shape_step step_of(const finding *f, const dl_mark *sorted, uint32_t i)
{
    return (shape_step){f->in_order ? 0 : 1, kind_of(&sorted[i]) - kind_of(&sorted[i - 1])};
}

/* A shape that is known already. */
static const pair_shape *find_shape(const dl_pair *p, const finding *f, const dl_mark *sorted)
{
    const pair_shape *shape = p->shapes ? p->shapes[f->shape.hash % SHAPE_SLOTS] : NULL;
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

/* The items of a shape as consumers are told them: places in the batch become places in the order of the stamps. */
static void tell_items(const finding *f, dl_run_item *told)
{
    uint8_t places[SHAPE_MARKS] = {0};
    for (uint32_t i = 0; i < f->shape.n; i++)
        places[f->order[i]] = (uint8_t)i;
    for (uint32_t i = 0; i < f->shape.n_items; i++) {
        const shape_item *item = &f->items[i];
        told[i] = (dl_run_item){places[item->start], places[item->end], item->kind, item->depth, item->end};
    }
}

static const pair_shape *add_shape(dl_pair *p, const finding *f, const dl_mark *sorted)
{
    const uint32_t n = f->shape.n, n_items = f->shape.n_items;
    size_t head = (sizeof(pair_shape) + sizeof(shape_step) - 1) & ~(sizeof(shape_step) - 1);
    size_t bytes = head + n * (sizeof(shape_step) + 1) + n_items * (sizeof(shape_item) + sizeof(dl_run_item));
    if (!p->shapes && !(p->shapes = calloc(SHAPE_SLOTS, sizeof(pair_shape *)))) return NULL;
    char *memory = spend(p, bytes) ? malloc(bytes) : NULL;
    if (!memory) return NULL;
    pair_shape *shape = (pair_shape *)(void *)memory;
    shape_step *steps = (shape_step *)(void *)(memory + head);
    shape_item *items = (shape_item *)(void *)(steps + n);
    dl_run_item *told = (dl_run_item *)(void *)(items + n_items);
    uint8_t *order = (uint8_t *)(told + n_items);
    steps[0] = (shape_step){0, 0};
    for (uint32_t i = 1; i < n; i++)
        steps[i] = step_of(f, sorted, i);
    memcpy(items, f->items, n_items * sizeof *items);
    tell_items(f, told);
    memcpy(order, f->order, n);
    *shape = f->shape;
    shape->number = p->n_shapes < DL_RUN_SHAPES - 1 ? ++p->n_shapes : 0;
    shape->steps = steps;
    shape->items = items;
    shape->told = told;
    shape->order = f->in_order ? NULL : order;
    pair_shape **list = &p->shapes[shape->hash % SHAPE_SLOTS];
    shape->next = *list;
    return *list = shape;
}

/* What counts the items of a shape on the stream; false when one of them is not counted at all. */
static bool find_counters(dl_pair *p, stream_state *s, const pair_shape *shape, const dl_mark *marks,
                          shape_counter *counters)
{
    for (uint32_t i = 0; i < shape->n_items; i++) {
        const shape_item *item = &shape->items[i];
        const uint64_t code = marks[item->end].code;
        const uint32_t site = p->tables->kinds[dl_mark_kind(code)].site;
        if (item->kind == DL_EVENT_ZONE) {
            counters[i].key = dl_pair_known_key(s, site);
            if (!counters[i].key) return false;
            continue;
        }
        bool kept = !p->filter || dl_filter_site(p->filter, p->tables, &p->tables->sites[site]);
        counters[i].series =
            kept ? dl_series_number(&p->series, dl_mark_stream(code), site, (dl_event_kind)item->kind)
                 : DL_NONE;
        if (kept && counters[i].series == DL_NONE) return false;
    }
    return true;
}

void dl_pair_learn_shape(dl_pair *p, stream_state *s, const pair_run *run)
{
    const uint32_t n = run->n;
    const dl_mark *marks = p->batch->items + run->at;
    const bool full = SHAPE_BYTES - p->shape_bytes < sizeof(finding); /* nothing more is remembered */
    if (n < 2 || n > SHAPE_MARKS || s->n_shapes == SHAPES_PER_STREAM || s->costs || full) return;
    if (s->fruitless == MOST_FRUITLESS) return;
    s->fruitless++;
    finding f;
    f.shape = (pair_shape){.n = n, .first = {0, kind_of(&marks[0])}, .hash = hash_of(run->sorted, n)};
    if (!find_order(&f, run) || !find_items(p, &f, run->sorted)) return;
    f.shape.last = f.order[n - 1];
    const pair_shape *shape = find_shape(p, &f, run->sorted);
    if (!shape) shape = add_shape(p, &f, run->sorted);
    if (!shape) return;
    for (const stream_shape *known = s->shapes; known; known = known->others)
        if (known->shape == shape) return; /* it was the stamps */
    size_t bytes = sizeof(stream_shape) + shape->n_items * sizeof(shape_counter);
    stream_shape *known = spend(p, bytes) ? malloc(bytes) : NULL;
    if (!known) return;
    if (!find_counters(p, s, shape, marks, known->counters)) {
        free(known);
        return;
    }
    known->shape = shape;
    known->follows = known;
    if (s->shape) s->shape->follows = known;
    known->others = s->shapes;
    s->shapes = s->shape = known;
    s->n_shapes++;
    s->fruitless = 0;
}

void dl_pair_free_stream_shapes(stream_state *s)
{
    while (s->shapes) {
        stream_shape *others = s->shapes->others;
        free(s->shapes);
        s->shapes = others;
    }
}

void dl_pair_free_shapes(dl_pair *p)
{
    for (size_t i = 0; p->shapes && i < SHAPE_SLOTS; i++) {
        for (pair_shape *shape = p->shapes[i]; shape;) {
            pair_shape *next = shape->next;
            free(shape);
            shape = next;
        }
    }
    free(p->shapes);
    p->shapes = NULL;
}
