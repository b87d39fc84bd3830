/* The columns of the reference document (op_columns.c): those that today's report has under the same names, and calls:
 * the how manieth of its name an op is, how deep it is, and its API calls by count and average. */
#include <stdlib.h>
#include <string.h>

#include "ops/op_columns.h"
#include "tt_metal/cells.h"

typedef struct open_op {
    uint64_t start, end;
    uint32_t op;
} open_op;

static int by_start(const void *a, const void *b)
{
    const open_op *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1; /* the outer one first */
    return x->op < y->op ? -1 : x->op > y->op;
}

/* Zones that lie inside each other are ops inside ops: the host's messages do not name their thread. */
static bool find_depths(tt_writer *w)
{
    const tt_host *h = w->j->host;
    open_op *ops = malloc((h->n_ops + 1) * sizeof *ops);
    uint64_t *ends = malloc((h->n_ops + 1) * sizeof *ends);
    size_t n = 0, depth = 0;
    bool ok = ops && ends;
    for (uint32_t i = 0; i < h->n_ops && ok; i++)
        if (h->ops[i].flags & TT_OP_ZONE)
            ops[n++] = (open_op){h->ops[i].start, h->ops[i].start + h->ops[i].ns, i};
    if (n) qsort(ops, n, sizeof *ops, by_start);
    for (size_t i = 0; i < n; i++) {
        while (depth && ends[depth - 1] <= ops[i].start)
            depth--;
        ends[depth++] = ops[i].end;
        w->call_depth[ops[i].op] = (uint32_t)depth;
    }
    free(ops);
    free(ends);
    return ok;
}

static bool find_counts(tt_writer *w)
{
    enum { MAX_NAMES = 256 * 1024, MAX_BYTES = 16 * 1024 * 1024 };
    const tt_host *h = w->j->host;
    dl_intern *names = dl_intern_new(MAX_NAMES, MAX_BYTES);
    uint32_t *counts = calloc(MAX_NAMES + 1, sizeof *counts);
    dl_str name = {0};
    bool ok = names && counts;
    for (uint32_t i = 0; i < h->n_ops && ok; i++) {
        dl_str_clear(&name);
        tt_host_name(h, &h->ops[i], &name);
        uint32_t number = dl_intern_add(names, name.text ? name.text : "", name.len);
        if (number <= MAX_NAMES) w->call_count[i] = ++counts[number];
    }
    ok = ok && !name.failed;
    dl_str_free(&name);
    dl_intern_free(names);
    free(counts);
    return ok;
}

bool tt_calls_plan(tt_writer *w)
{
    w->call_count = calloc(w->j->host->n_ops + 1, sizeof *w->call_count);
    w->call_depth = calloc(w->j->host->n_ops + 1, sizeof *w->call_depth);
    return w->call_count && w->call_depth && find_counts(w) && find_depths(w);
}

void tt_call_cells(tt_writer *w, uint32_t op)
{
    const tt_host *h = w->j->host;
    if (w->call_count[op]) tt_cell_u64(w, TT_COL_CALL_COUNT, w->call_count[op]);
    if (w->call_depth[op]) tt_cell_u64(w, TT_COL_CALL_DEPTH, w->call_depth[op]);
    for (uint32_t at = h->ops[op].children; at; at = h->children[at - 1].next) {
        const tt_child *c = &h->children[at - 1];
        size_t slot = w->first_api + 2 * (w->call_slot[c->name] - w->first_call);
        tt_cell_u64(w, slot, c->calls);
        tt_cell_u64(w, slot + 1, (c->ns + c->calls / 2) / c->calls);
    }
}

void tt_reference_plan(tt_writer *w)
{
    size_t n;
    const op_column *columns = op_columns(OP_COLUMNS_REFERENCE, &n);
    for (size_t i = 0; i < n; i++) {
        if (columns[i].kind == OP_COL_API_COUNT || columns[i].kind == OP_COL_API_AVERAGE) continue;
        if (columns[i].kind == OP_COL_INPUTS || columns[i].kind == OP_COL_OUTPUTS) {
            bool in = columns[i].kind == OP_COL_INPUTS;
            size_t from = in ? w->first_in : w->first_out, to = in ? w->first_out : w->first_call;
            for (; from < to; from++)
                w->order[w->n_order++] = from;
            continue;
        }
        for (size_t k = 0; k < TT_COL_FIXED; k++)
            if (strcmp(tt_column_header(k), columns[i].header) == 0) w->order[w->n_order++] = k;
    }
    for (size_t i = 0; i < 2 * w->n_calls; i++)
        w->order[w->n_order++] = w->first_api + i;
}
