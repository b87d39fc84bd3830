/* Host time of each op without that of the ops inside it on its thread. See run_parts.h. */
#include <stdlib.h>

#include "answers/run_parts.h"

typedef struct call {
    uint64_t start, end;
    uint32_t thread, at;
} call;

static int by_thread(const void *a, const void *b)
{
    const call *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1; /* the outer one first */
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Takes every call's time from that of the innermost call around it. */
static void subtract(answer_run *r, const call *calls, size_t n, uint32_t *open)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        const call *c = &calls[i];
        while (depth &&
               (calls[open[depth - 1]].thread != c->thread || calls[open[depth - 1]].end <= c->start))
            depth--;
        if (depth) {
            const call *around = &calls[open[depth - 1]];
            const uint64_t end = c->end < around->end ? c->end : around->end;
            r->ops[around->at].host -= (double)(end - c->start);
        }
        open[depth++] = (uint32_t)i;
    }
}

bool run_host_self(answer_run *r)
{
    call *calls = malloc((r->n_ops + 1) * sizeof *calls);
    uint32_t *open = malloc((r->n_ops + 1) * sizeof *open);
    bool in_order = true;
    size_t n = 0;
    uint64_t id = UINT64_MAX;
    for (size_t i = 0; calls && open && i < r->n_ops; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        enum { TIMES = OP_HAS_HOST_START | OP_HAS_HOST_END };
        if (!(row->has & OP_HAS_HOST)) continue;
        if ((row->has & OP_HAS_ID) && row->id == id) continue; /* another row of one op */
        id = row->has & OP_HAS_ID ? row->id : UINT64_MAX;
        r->ops[i].host = (double)row->host_ns;
        if ((row->has & TIMES) != TIMES || row->host_end < row->host_start) continue;
        calls[n] = (call){row->host_start, row->host_end, row->thread, (uint32_t)i};
        in_order &= !n || by_thread(&calls[n - 1], &calls[n]) < 0;
        n++;
    }
    if (calls && open && !in_order) qsort(calls, n, sizeof *calls, by_thread);
    if (calls && open) subtract(r, calls, n, open);
    const bool good = calls && open;
    free(calls);
    free(open);
    return good;
}
