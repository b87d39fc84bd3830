/* Which row of an op report a launch of a log is of; see launch_rows.h. */
#include "answers/launch_rows.h"

#include <math.h>
#include <stdlib.h>

#include "decode/door.h"

enum { MOST_BESIDE = 64 }; /* ops of a chip that run beside one another */

static int by_id(const void *a, const void *b)
{
    const launch_row *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->chip < y->chip ? -1 : x->chip > y->chip;
}

static int by_start(const void *a, const void *b)
{
    const launch_row *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return 0;
}

bool launch_rows_add(launch_rows *l, const op_table_row *row, double start, double end, uint32_t value)
{
    if (!(row->has & OP_HAS_ID)) return true;
    if (l->n == l->cap) {
        const size_t cap = l->cap ? l->cap * 2 : 1024;
        launch_row *grown = realloc(l->items, cap * sizeof *grown);
        if (!grown) return false;
        l->items = grown;
        l->cap = cap;
    }
    const bool ran = (row->has & (OP_HAS_FW | OP_HAS_KERNEL)) != 0;
    l->device_times |= ran;
    l->items[l->n++] = (launch_row){
        .id = row->id, .start = start, .end = end, .chip = row->chip, .value = value, .ran = ran};
    return true;
}

bool launch_rows_end(launch_rows *l, const op_table *t)
{
    if (l->n) qsort(l->items, l->n, sizeof *l->items, by_id);
    l->apart = op_table_is_apart(t);
    if (!l->apart) return true;
    l->by_start = malloc((l->n + 1) * sizeof *l->by_start);
    if (!l->by_start) return false;
    for (size_t i = 0; i < l->n; i++)
        if (isfinite(l->items[i].start) && isfinite(l->items[i].end))
            l->by_start[l->n_by_start++] = l->items[i];
    if (l->n_by_start) qsort(l->by_start, l->n_by_start, sizeof *l->by_start, by_start);
    return true;
}

void launch_rows_free(launch_rows *l)
{
    free(l->items);
    free(l->by_start);
    *l = (launch_rows){0};
}

launch_key launch_key_of(const devlog_log *log, uint32_t launch, uint64_t start)
{
    const devlog_launch of = devlog_log_launch(log, launch);
    return (launch_key){.op = door_asked_by(log, launch),
                        .own = of.run_host_id ? of.run_host_id : of.number,
                        .start = start,
                        .chip = of.chip,
                        .told = door_told_op(log, launch)};
}

static bool has_times(const launch_row *row)
{
    return isfinite(row->start) && isfinite(row->end);
}

static bool has_inside(const launch_row *row, double at)
{
    return has_times(row) && at >= row->start && at <= row->end;
}

/* Whether a row whose number is the launch's may have run what began at `start`. */
static bool may_be(const launch_rows *l, const launch_row *row, uint64_t start)
{
    const double at = (double)start;
    if (l->device_times && !row->ran) return false; /* the report has device times, and none for this op */
    if (!has_times(row) || start == UINT64_MAX) return true;
    const double room =
        row->end - row->start; /* clocks of cores may have been laid beside one another otherwise */
    return at >= row->start - room && at <= row->end + room;
}

/* The one row whose time has the start in it; of several that which begins then, else only if they agree. */
static uint32_t value_at(const launch_rows *l, const launch_key *key)
{
    uint32_t value = UINT32_MAX;
    const double at = (double)key->start;
    bool exact = false, differ = false;
    size_t from = 0, to = l->n_by_start;
    while (from < to) { /* the first that begins later */
        const size_t middle = from + (to - from) / 2;
        const launch_row *m = &l->by_start[middle];
        if (m->chip < key->chip || (m->chip == key->chip && m->start <= at))
            from = middle + 1;
        else
            to = middle;
    }
    for (size_t i = from, looked = 0; i-- > 0 && l->by_start[i].chip == key->chip && looked < MOST_BESIDE;
         looked++) {
        const launch_row *row = &l->by_start[i];
        const bool begins = row->start >= at;
        if (exact && !begins) break;
        if (row->end < at) continue;
        exact |= begins;
        differ |= value != UINT32_MAX && value != row->value;
        value = row->value;
    }
    return differ ? UINT32_MAX : value;
}

uint32_t launch_rows_find(const launch_rows *l, const launch_key *key)
{
    const launch_row wanted = {.id = l->made ? key->own : key->op, .chip = key->chip};
    const double at = (double)key->start;
    if (l->apart && !key->told) return value_at(l, key);
    if (!l->n || (!l->made && !wanted.id)) return UINT32_MAX;
    const launch_row *found = bsearch(&wanted, l->items, l->n, sizeof *l->items, by_id);
    if (!found) return UINT32_MAX;
    while (found > l->items && by_id(found - 1, &wanted) == 0)
        found--;
    const launch_row *best = NULL;
    for (; found < l->items + l->n && by_id(found, &wanted) == 0; found++) {
        if (has_inside(found, at)) return found->value;
        if (!best && (key->told || may_be(l, found, key->start))) best = found;
    }
    return best ? best->value : UINT32_MAX;
}
