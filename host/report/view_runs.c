/* Runs as bytes: their shapes, and which runs can be kept so. */
#include "report/view_runs.h"

#include <stdlib.h>

void view_shapes_free(view_shapes *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->by_number[i]);
    free(s->by_number);
    *s = (view_shapes){0};
}

/* Each mark starts one item at most. */
static void find_items(view_shape_item *items, const dl_run *run, const dl_tables *tables)
{
    uint8_t of_place[VIEW_RUN_MARKS], n = 0;
    memset(of_place, UINT8_MAX, sizeof of_place);
    for (uint32_t i = 0; i < run->n_events; i++)
        of_place[run->items[i].start] = (uint8_t)i;
    for (uint32_t place = 0; place < run->n_marks; place++) {
        if (of_place[place] == UINT8_MAX) continue;
        const dl_run_item *item = &run->items[of_place[place]];
        const dl_kind *kind = &tables->kinds[dl_mark_kind(run->marks[item->end].code)];
        items[n++] = (view_shape_item){kind->site, kind->timer_id, item->start, item->end,
                                       item->line, item->depth,    item->kind};
    }
}

static uint32_t find_open(uint8_t *open, const view_shape_item *items, uint32_t n)
{
    uint32_t last = n, n_open = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): find_items has filled all n */
    while (last && items[last - 1].kind != DL_EVENT_ZONE)
        last--;
    for (uint32_t i = 0; i < last; i++)
        if (items[i].kind == DL_EVENT_ZONE && items[i].end >= items[last - 1].end)
            open[n_open++] = (uint8_t)i;
    return n_open;
}

static view_shape *make_shape(const dl_run *run, const dl_tables *tables)
{
    const uint32_t n = run->n_events;
    view_shape *shape = malloc(sizeof *shape + n * (sizeof *shape->items + sizeof *shape->open));
    if (!shape) return NULL;
    view_shape_item *items = (view_shape_item *)(void *)(shape + 1);
    uint8_t *open = (uint8_t *)(items + n);
    find_items(items, run, tables);
    *shape = (view_shape){run->shape, run->n_marks, n, find_open(open, items, n), items, open};
    return shape;
}

const view_shape *view_shapes_of(view_shapes *s, const dl_run *run, const dl_tables *tables)
{
    if (run->n_marks > VIEW_RUN_MARKS) return NULL;
    if (run->shape >= s->n) {
        uint32_t n = s->n ? s->n : 64;
        while (n <= run->shape)
            n *= 2;
        view_shape **grown = realloc(s->by_number, n * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + s->n, 0, (n - s->n) * sizeof *grown);
        s->by_number = grown;
        s->n = n;
    }
    view_shape **shape = &s->by_number[run->shape];
    if (!*shape) *shape = make_shape(run, tables);
    return *shape;
}

uint8_t *view_run_put_again(uint8_t *to, const view_run *run, view_before *before)
{
    if (!view_run_put_head(to, run->shape, run->start, run->launch, run->line, run->line_step, run->is_plain,
                           before))
        return NULL;
    memcpy(to + sizeof(view_short), run->stamps, run->shape->n_marks * sizeof(uint32_t));
    return to + view_run_bytes(run->shape);
}

/* Of two items that begin at the same time, whether the first is rightly that. */
static bool is_first(const view_shape_item *one, uint64_t end, const view_shape_item *other,
                     uint64_t other_end)
{
    if (end != other_end) return end > other_end;
    return one->depth != other->depth ? one->depth < other->depth : one->line <= other->line;
}

bool view_run_is_in_order(const view_shape *shape, const dl_mark *marks, bool *is_plain)
{
    const view_shape_item *item = shape->items, *end = item + shape->n;
    uint64_t before_it = marks[0].time - 1; /* the start of the item before */
    for (; item < end; item++) {
        const uint64_t start = marks[item->start].time, to_time = marks[item->end].time;
        if (to_time == start && item->kind == DL_EVENT_ZONE) *is_plain = false;
        if (start == before_it && !is_first(item - 1, marks[item[-1].end].time, item, to_time)) return false;
        before_it = start;
    }
    return true;
}
