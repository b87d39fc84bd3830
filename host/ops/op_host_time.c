/* Host time of ops, counted once. See op_host_time.h. */
#include "ops/op_host_time.h"

#include <stdlib.h>

#include "base/intern.h"

typedef struct span {
    uint64_t start, end;
    uint32_t group, thread;
} span;

struct op_host_times {
    span *spans;
    size_t n, cap;
    uint64_t end;   /* of rows that do not say when they began: put one behind the other */
    dl_intern *met; /* the ids of those */
};

#define NO_TIMES UINT32_MAX /* the thread of those */
enum { MOST_OPS = 256 * 1024 * 1024 };

op_host_times *op_host_times_new(void)
{
    return calloc(1, sizeof(op_host_times));
}

void op_host_times_free(op_host_times *t)
{
    if (t) free(t->spans);
    if (t) dl_intern_free(t->met);
    free(t);
}

/* Whether a row of this op has been added. Rows of one op need not follow one another: those of several chips do, and those of
 * replays do not. */
static bool has_met(op_host_times *t, const op_table_row *r, bool *good)
{
    *good = true;
    if (!(r->has & OP_HAS_ID)) return false;
    if (!t->met) t->met = dl_intern_new(MOST_OPS, SIZE_MAX);
    const uint32_t before = t->met ? dl_intern_count(t->met) : 0;
    *good = t->met && dl_intern_add(t->met, (const char *)&r->id, sizeof r->id) != DL_NO_STRING;
    return *good && dl_intern_count(t->met) == before;
}

bool op_host_times_add(op_host_times *t, const op_table_row *r, uint32_t group)
{
    if (!(r->has & OP_HAS_HOST)) return true;
    span s = {.group = group};
    enum { TIMES = OP_HAS_HOST_START | OP_HAS_HOST_END };
    if ((r->has & TIMES) == TIMES && r->host_end >= r->host_start &&
        r->host_end - r->host_start == r->host_ns) {
        s.start = r->host_start;
        s.end = r->host_end;
        s.thread = r->thread;
    } else {
        bool good;
        if (has_met(t, r, &good) || !good) return good;
        s.start = t->end;
        s.end = t->end + r->host_ns;
        s.thread = NO_TIMES;
        t->end = s.end;
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 1024;
        span *grown = realloc(t->spans, cap * sizeof *grown);
        if (!grown) return false;
        t->spans = grown;
        t->cap = cap;
    }
    t->spans[t->n++] = s;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): spans are whole */
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Groups one behind the other, each in the order in which its rows came. False: no memory. */
static bool by_group(op_host_times *t)
{
    uint32_t n_groups = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->spans[i].group >= n_groups) n_groups = t->spans[i].group + 1;
    size_t *next = calloc(n_groups + (size_t)1, sizeof *next);
    span *sorted = malloc((t->n + 1) * sizeof *sorted);
    bool good = next && sorted;
    for (size_t i = 0; i < t->n && good; i++)
        next[t->spans[i].group + 1]++;
    for (uint32_t g = 1; g <= n_groups && good; g++)
        next[g] += next[g - 1];
    for (size_t i = 0; i < t->n && good; i++)
        sorted[next[t->spans[i].group]++] = t->spans[i];
    free(next);
    if (!good) {
        free(sorted);
        return false;
    }
    free(t->spans);
    t->spans = sorted;
    t->cap = t->n + 1;
    return true;
}

static bool in_order(const op_host_times *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (by_start(&t->spans[i - 1], &t->spans[i]) > 0) return false;
    return true;
}

void op_host_times_sum(op_host_times *t, uint64_t *sums)
{
    uint64_t until = 0;
    /* Most reports have ops in the order of their starts, and then that of their groups is all there is to
     * do. */
    if (!in_order(t) && (!by_group(t) || !in_order(t))) qsort(t->spans, t->n, sizeof *t->spans, by_start);
    for (size_t i = 0; i < t->n; i++) {
        const span *s = &t->spans[i];
        if (i == 0 || s[-1].group != s->group || s[-1].thread != s->thread) until = 0;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): not of the first */
        uint64_t from = s->start > until ? s->start : until;
        if (s->end <= from) continue;
        sums[s->group] += s->end - from;
        until = s->end;
    }
}
