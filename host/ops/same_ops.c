/* Whether two runs of a program did the same ops. */
#include "ops/same_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/jsonline.h"

/* The name as it stands in the log, escapes and all. */
static jl_value name_of(op_log *log, int window, const op_entry *op)
{
    jl_reader r;
    jl_value v = {0};
    const char *line = op_log_line(log, window, op->at_start, op->len_start);
    if (line && jl_line(&r, line, op->len_start))
        while (jl_next(&r, &v) > JL_BAD)
            if (v.kind == JL_TEXT && jl_key_is(&v, "name")) return v;
    return (jl_value){.text = ""};
}

static bool alike(op_log *a, const op_entry *x, op_log *b, const op_entry *y)
{
    if (x->depth != y->depth) return false;
    jl_value p = name_of(a, 0, x), q = name_of(b, 0, y);
    return p.len == q.len && memcmp(p.text, q.text, p.len) == 0;
}

static void describe(char *out, size_t size, op_log *a, const op_entry *x, op_log *b, const op_entry *y)
{
    jl_value p = name_of(a, 0, x), q = name_of(b, 0, y);
    snprintf(out, size, "op %u is '%.*s' at depth %u in the first run and '%.*s' at depth %u in the second",
             x->id, (int)(p.len < 100 ? p.len : 100), p.text, x->depth, (int)(q.len < 100 ? q.len : 100),
             q.text, y->depth);
}

static bool by_id(op_log *first, op_log *second, uint32_t *map, char *difference, size_t size)
{
    for (size_t i = 0; i < second->n_ops; i++) {
        if (i % OP_LOG_PASSED == 0) op_log_cool(first);
        if (i % OP_LOG_PASSED == 0) op_log_cool(second);
        const op_entry *there = &second->ops[i];
        const op_entry *here = op_log_find(first, there->id);
        if ((there->flags | (here ? here->flags : 0)) & OP_IS_DUPLICATE) return false;
        if (!here) {
            snprintf(difference, size, "op %u is in the second run only", there->id);
            return false;
        }
        if (!alike(first, here, second, there)) {
            describe(difference, size, first, here, second, there);
            return false;
        }
        map[i] = (uint32_t)(here - first->ops);
    }
    return true;
}

/* The ops of a log by thread, and within a thread as they came. */
typedef struct by_thread {
    uint32_t thread;
    uint32_t op;
} by_thread;

static int compare(const void *a, const void *b)
{
    const by_thread *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static by_thread *threads_of(const op_log *log)
{
    by_thread *all = malloc((log->n_ops + 1) * sizeof *all);
    for (size_t i = 0; all && i < log->n_ops; i++)
        all[i] = (by_thread){log->ops[i].thread, (uint32_t)i};
    if (all) qsort(all, log->n_ops, sizeof *all, compare);
    return all;
}

static bool by_threads(op_log *first, op_log *second, const by_thread *x, const by_thread *y, uint32_t *map)
{
    for (size_t i = 0; i < first->n_ops; i++) {
        if (x[i].thread != y[i].thread) return false;
        if (!alike(first, &first->ops[x[i].op], second, &second->ops[y[i].op])) return false;
        map[y[i].op] = x[i].op;
    }
    return true;
}

devlog_status same_ops(op_log *first, op_log *second, uint32_t **map, char *difference, size_t size,
                       devlog_error *err)
{
    *map = NULL;
    if (first->n_ops != second->n_ops) {
        snprintf(difference, size, "the first run did %zu ops, the second %zu", first->n_ops, second->n_ops);
        return DEVLOG_OK;
    }
    uint32_t *made = malloc((second->n_ops + 1) * sizeof *made);
    if (!made) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to compare two runs");
    devlog_status status = DEVLOG_OK;
    by_thread *x = NULL, *y = NULL;
    if (by_id(first, second, made, difference, size)) {
        *map = made;
        return DEVLOG_OK;
    }
    x = threads_of(first);
    y = threads_of(second);
    if (!x || !y)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to compare two runs");
    else if (by_threads(first, second, x, y, made))
        *map = made;
    if (!*map) free(made);
    free(x);
    free(y);
    return status;
}
