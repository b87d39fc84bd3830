/* Waits between programs, core by core. A core's zones come one RISC after the other, so what its launches did is
 * gathered until the next core begins. */
#include "tt_metal/gaps.h"

#include <stdlib.h>
#include <string.h>

enum { OVERHEAD = 1500, FLUSH_BYTES = 256 * 1024 }; /* PROFILER_OP_TO_OP_OVERHEAD_NANO_SEC there */

void tt_gaps_begin(tt_gaps *g, const char *scratch)
{
    *g = (tt_gaps){.big_items.folder = scratch};
}

void tt_gaps_free(tt_gaps *g)
{
    dl_big_free(&g->big_items);
    free(g->cores);
    free(g->ends);
    free(g->launches);
    free(g->used);
    *g = (tt_gaps){0};
}

static bool add_gap(tt_gaps *g, tt_gap gap)
{
    size_t wanted = (g->n + 1) * sizeof *g->items;
    if (wanted > g->big_items.bytes && !dl_big_room(&g->big_items, wanted + 65536)) return false;
    g->items = g->big_items.data;
    g->items[g->n++] = gap;
    if (g->n % 65536 == 0) dl_big_cool(&g->big_items);
    return true;
}

static bool core_number(tt_gaps *g, uint64_t key, uint32_t *out)
{
    for (size_t i = g->n_cores; i-- > 0;)
        if (g->cores[i] == key) {
            *out = (uint32_t)i;
            return true;
        }
    if (g->n_cores == g->cap_cores) {
        size_t cap = g->cap_cores ? g->cap_cores * 2 : 64;
        uint64_t *cores = realloc(g->cores, cap * sizeof *cores);
        if (cores) g->cores = cores;
        struct tt_gap_end *ends = realloc(g->ends, cap * sizeof *ends);
        if (ends) g->ends = ends;
        if (!cores || !ends) return false;
        g->cap_cores = cap;
    }
    *out = (uint32_t)g->n_cores;
    g->ends[g->n_cores] = (struct tt_gap_end){0};
    g->cores[g->n_cores++] = key;
    return true;
}

static int by_begin(const void *a, const void *b, void *launches)
{
    const tt_on_core *of = launches, *x = &of[*(const uint32_t *)a], *y = &of[*(const uint32_t *)b];
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* The core in hand is complete. */
static bool close_core(tt_gaps *g)
{
    uint32_t core;
    if (!g->in_hand) return true;
    if (!core_number(g, g->in_hand - 1, &core)) return false;
    struct tt_gap_end *last = &g->ends[core];
    if (g->n_used) qsort_r(g->used, g->n_used, sizeof *g->used, by_begin, g->launches);
    bool ok = true;
    for (size_t i = 0; i < g->n_used; i++) {
        tt_on_core *x = &g->launches[g->used[i]];
        if (ok && x->start != UINT64_MAX) {
            if (last->any && x->fw_start != UINT64_MAX && x->start >= last->end)
                ok = add_gap(g, (tt_gap){.start = last->end,
                                         .cycles = x->start - last->end,
                                         .from = last->launch,
                                         .to = g->used[i],
                                         .core = core});
            last->any = false;
        }
        if (x->end) *last = (struct tt_gap_end){.end = x->end, .launch = g->used[i], .any = true};
        x->begin = UINT64_MAX;
    }
    g->n_used = 0;
    g->in_hand = 0;
    return ok;
}

static tt_on_core *launch_of(tt_gaps *g, uint32_t launch)
{
    if (launch >= g->n_launches) {
        size_t n = launch < 1024 ? 2048 : (size_t)launch * 2;
        tt_on_core *grown = realloc(g->launches, n * sizeof *grown);
        if (!grown) return NULL;
        g->launches = grown;
        for (; g->n_launches < n; g->n_launches++)
            grown[g->n_launches].begin = UINT64_MAX;
    }
    tt_on_core *x = &g->launches[launch];
    if (x->begin != UINT64_MAX) return x;
    if (g->n_used == g->cap_used) {
        size_t cap = g->cap_used ? g->cap_used * 2 : 1024;
        uint32_t *grown = realloc(g->used, cap * sizeof *grown);
        if (!grown) return NULL;
        g->used = grown;
        g->cap_used = cap;
    }
    g->used[g->n_used++] = launch;
    *x = (tt_on_core){UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, 0};
    return x;
}

static uint64_t key_of(const dl_tables *t, const dl_stream *s)
{
    return (uint64_t)t->chips[s->chip].id << 32 | (uint64_t)s->core_x << 16 | s->core_y;
}

bool tt_gaps_zone(tt_gaps *g, const dl_tables *t, const dl_event *event, uint32_t launch, bool kernel)
{
    const dl_stream *s = &t->streams[event->stream];
    uint64_t key = key_of(t, s);
    if (g->in_hand != key + 1) {
        if (!close_core(g)) return false;
        g->in_hand = key + 1;
    }
    tt_on_core *x = launch_of(g, launch);
    if (!x) return false;
    if (event->start < x->begin) x->begin = event->start;
    if (!kernel) {
        if (s->risc == DL_RISC_BRISC && event->start < x->fw_start) x->fw_start = event->start;
        return true;
    }
    if ((s->risc == DL_RISC_BRISC || s->risc == DL_RISC_NCRISC) && event->start < x->start)
        x->start = event->start;
    if (event->end > x->end) x->end = event->end;
    return true;
}

bool tt_gaps_place(tt_gaps *g, const tt_place *p)
{
    if (g->in_hand != p->core + 1) {
        if (!close_core(g)) return false;
        g->in_hand = p->core + 1;
    }
    tt_on_core *x = launch_of(g, p->launch);
    if (!x) return false;
    *x = (tt_on_core){p->begin, p->fw_start, p->mover, p->end};
    return true;
}

static int in_order(const void *a, const void *b, void *cores)
{
    const tt_gap *x = a, *y = b;
    const uint64_t *c = cores;
    uint64_t device[2] = {c[x->core] >> 32, c[y->core] >> 32};
    if (device[0] != device[1]) return device[0] < device[1] ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
    return c[x->core] < c[y->core] ? -1 : c[x->core] > c[y->core];
}

bool tt_gaps_end(tt_gaps *g, const dl_tables *t, const uint64_t *ids, size_t n)
{
    uint32_t core;
    if (!close_core(g)) return false;
    for (uint32_t i = 0; i < t->n_streams && g->n; i++)
        if (!core_number(g, key_of(t, &t->streams[i]), &core)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++) {
        tt_gap x = g->items[i];
        x.from = x.from < n ? ids[x.from] : 0;
        x.to = x.to < n ? ids[x.to] : 0;
        if (x.from && x.to) g->items[kept++] = x;
    }
    g->n = kept;
    if (g->n) qsort_r(g->items, g->n, sizeof *g->items, in_order, g->cores);
    return true;
}

/* ---- The file --- */

static int by_key(const void *a, const void *b, void *cores)
{
    const uint64_t *c = cores;
    uint64_t x = c[*(const uint32_t *)a], y = c[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

typedef struct queues {
    size_t *next;    /* of each gap: the next of its core, + 1 */
    size_t *first;   /* of each core: + 1 */
    uint32_t *order; /* cores by their keys */
    bool *done;
} queues;

static bool make_queues(queues *q, const tt_gaps *g)
{
    q->next = calloc(g->n + 1, sizeof *q->next);
    q->first = calloc(g->n_cores + 1, sizeof *q->first);
    q->order = calloc(g->n_cores + 1, sizeof *q->order);
    q->done = calloc(g->n + 1, sizeof *q->done);
    if (!q->next || !q->first || !q->order || !q->done) return false;
    for (size_t i = g->n; i-- > 0;) {
        q->next[i] = q->first[g->items[i].core];
        q->first[g->items[i].core] = i + 1;
    }
    for (uint32_t i = 0; i < g->n_cores; i++)
        q->order[i] = i;
    if (g->n_cores) qsort_r(q->order, g->n_cores, sizeof *q->order, by_key, g->cores);
    return true;
}

/* The same place on several devices is one column. */
static bool same_place(uint64_t x, uint64_t y)
{
    return (uint32_t)x == (uint32_t)y;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = (uint32_t) * (const uint64_t *)a, y = (uint32_t) * (const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void row(const tt_gaps *g, queues *q, const uint64_t *places, size_t n, size_t of, dl_str *out)
{
    const tt_gap *x = &g->items[of];
    uint64_t device = g->cores[x->core] >> 32;
    dl_str_fmt(out, "%llu,%llu -> %llu", (unsigned long long)device, (unsigned long long)x->from,
               (unsigned long long)x->to);
    size_t k = 0; /* cores of the device, in the order of places */
    while (k < g->n_cores && g->cores[q->order[k]] >> 32 < device)
        k++;
    for (size_t i = 0; i < n; i++) {
        dl_str_char(out, ',');
        while (k < g->n_cores && g->cores[q->order[k]] >> 32 == device &&
               (uint32_t)g->cores[q->order[k]] < (uint32_t)places[i])
            k++;
        if (k == g->n_cores || g->cores[q->order[k]] >> 32 != device ||
            !same_place(g->cores[q->order[k]], places[i]))
            continue;
        size_t *first = &q->first[q->order[k]];
        if (!*first) continue;
        const tt_gap *y = &g->items[*first - 1];
        if (y->from != x->from || y->to != x->to) continue;
        dl_str_fmt(out, "%lld", (long long)y->cycles - OVERHEAD);
        q->done[*first - 1] = true;
        *first = q->next[*first - 1];
    }
    dl_str_char(out, '\n');
}

devlog_status tt_gaps_write(const tt_gaps *g, dl_str *out,
                            devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                            devlog_error *err)
{
    queues q = {0};
    devlog_status status = DEVLOG_OK;
    size_t n = 0;
    uint64_t *places = calloc(g->n_cores + 1, sizeof *places);
    bool ok = places && make_queues(&q, g);
    if (ok && g->n_cores) {
        memcpy(places, g->cores, g->n_cores * sizeof *places);
        qsort(places, g->n_cores, sizeof *places, by_place);
        for (size_t i = 0; i < g->n_cores; i++)
            if (!n || !same_place(places[n - 1], places[i])) places[n++] = places[i];
    }
    dl_str_add(out, "device ID,op2op ID");
    for (size_t i = 0; i < n && ok; i++)
        dl_str_fmt(out, ",%u; %u [ns]", (unsigned)(places[i] >> 16 & 0xFFFF), (unsigned)(places[i] & 0xFFFF));
    dl_str_char(out, '\n');
    for (size_t i = 0; i < g->n && ok && !status; i++) {
        if (!q.done[i]) row(g, &q, places, n, i, out);
        if (out->len >= FLUSH_BYTES) status = flush(ctx, err);
    }
    if (!ok || out->failed) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = flush(ctx, err);
    free(places);
    free(q.next);
    free(q.first);
    free(q.order);
    free(q.done);
    return status;
}
