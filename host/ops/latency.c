/* Latencies: between an op and the one before it on the same chip, in the order of their firmware. */
#include <stdlib.h>

#include "ops/stitch.h"

typedef struct timed {
    uint64_t start;
    uint32_t chip, boot, row;
} timed;

static int by_time(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->boot != y->boot) return x->boot < y->boot ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* What a chip did before, until when. */
typedef struct before {
    uint64_t fw_start, fw_end, kernel_end;
    uint32_t boot;
    bool any;
} before;

static void latency(op_row *row, const op_cycles *here, const before *b)
{
    row->has_latency = true;
    row->latency = row->dm_latency = 0;
    if (!b->any) return;
    row->latency = (int64_t)(here->fw_start - b->fw_end);
    if (here->dm_start != OP_NEVER && b->kernel_end)
        row->dm_latency = (int64_t)(here->dm_start - b->kernel_end);
}

static void pass(before *b, const op_row *row, const op_cycles *c)
{
    *b = (before){c->fw_start, c->fw_end > b->fw_end ? c->fw_end : b->fw_end,
                  c->kernel_end > b->kernel_end ? c->kernel_end : b->kernel_end, row->boot, true};
}

/* When the rows of each chip are in the order of their firmware already; false when they are not. */
static bool latencies_as_they_stand(op_stitch *s)
{
    before last[DL_MAX_CHIPS] = {0};
    for (size_t i = 0; i < s->n_rows; i++) {
        op_stitch_passed(s, i);
        op_row *row = &s->rows[i];
        const op_cycles *c = op_stitch_cycles(s, row);
        if (!c || c->fw_start == OP_NEVER) continue;
        before *b = &last[row->chip];
        if (b->any && row->boot < b->boot) return false;
        if (b->any && row->boot > b->boot) *b = (before){0};
        if (b->any && c->fw_start < b->fw_start) return false;
        latency(row, c, b);
        pass(b, row, c);
    }
    return true;
}

bool op_stitch_latencies(op_stitch *s)
{
    if (latencies_as_they_stand(s)) return true;
    dl_big big = {.folder = s->big_rows.folder};
    timed *order = dl_big_room(&big, (s->n_rows + 1) * sizeof *order) ? big.data : NULL;
    size_t n = 0;
    for (size_t i = 0; order && i < s->n_rows; i++) {
        op_stitch_passed(s, i);
        if (i % OP_LOG_PASSED == 0) dl_big_cool(&big);
        const op_cycles *c = op_stitch_cycles(s, &s->rows[i]);
        if (!c || c->fw_start == OP_NEVER) continue;
        order[n++] = (timed){c->fw_start, s->rows[i].chip, s->rows[i].boot, (uint32_t)i};
    }
    if (!order) return false; /* then it holds nothing */
    qsort(order, n, sizeof *order, by_time);
    before b = {0};
    for (size_t i = 0; i < n; i++) {
        op_stitch_passed(s, i);
        if (i % OP_LOG_PASSED == 0) dl_big_cool(&big);
        op_row *row = &s->rows[order[i].row];
        const op_cycles *here = op_stitch_cycles(s, row);
        if (i && (order[i - 1].chip != order[i].chip || order[i - 1].boot != order[i].boot)) b = (before){0};
        latency(row, here, &b);
        pass(&b, row, here);
    }
    dl_big_free(&big);
    return true;
}
