/* Waits between programs, core by core. A core's zones come one RISC after the other, so what its launches did is
 * gathered until the next core begins. */
#include "tt_metal/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"

enum {
    OVERHEAD = 1500, /* PROFILER_OP_TO_OP_OVERHEAD_NANO_SEC there */
    FLUSH_BYTES = 256 * 1024,
    PIECE = 1024,
    GAP_BYTES = 4 * DL_VARINT, /* at most */
    COOL_EVERY = 4 << 20
};

/* A piece of a core's list; behind it its bytes. */
typedef struct piece {
    uint64_t next; /* where it begins, + 1; 0: there is none */
    uint32_t n;    /* bytes */
} piece;

void tt_gaps_begin(tt_gaps *g, const char *scratch)
{
    *g = (tt_gaps){.big.folder = scratch};
}

void tt_gaps_free(tt_gaps *g)
{
    dl_big_free(&g->big);
    free(g->cores);
    free(g->lists);
    free(g->ids);
    free(g->ends);
    free(g->launches);
    free(g->used);
    *g = (tt_gaps){0};
}

static piece *piece_at(const tt_gaps *g, size_t at)
{
    return (piece *)(void *)((char *)g->big.data + at - 1);
}

static bool add_piece(tt_gaps *g, tt_gap_list *l)
{
    const size_t at = g->n_bytes + 1;
    if (g->n_bytes + PIECE > g->big.bytes && !dl_big_room(&g->big, g->n_bytes + 64 * PIECE)) return false;
    *piece_at(g, at) = (piece){0};
    if (l->last)
        piece_at(g, l->last)->next = at;
    else
        l->first = at;
    l->last = at;
    g->n_bytes += PIECE;
    if (g->n_bytes - g->cooled >= COOL_EVERY) {
        dl_big_cool(&g->big);
        g->cooled = g->n_bytes;
    }
    return true;
}

/* Mostly a core's gaps come one after the other, each from the launch before to the next. */
static bool add_gap(tt_gaps *g, tt_gap_list *l, const tt_gap *gap)
{
    const uint32_t from = (uint32_t)gap->from, to = (uint32_t)gap->to;
    if ((!l->last || piece_at(g, l->last)->n + GAP_BYTES > PIECE - sizeof(piece)) && !add_piece(g, l))
        return false;
    piece *p = piece_at(g, l->last);
    uint8_t *at = (uint8_t *)(p + 1) + p->n, *end = at;
    l->disordered |= l->any && gap->start <= l->start;
    l->any = true;
    end = dl_varint_put(end, dl_zigzag(gap->start - l->start));
    end = dl_varint_put(end, gap->cycles);
    end = dl_varint_put(end, dl_zigzag((uint64_t)from - l->to));
    end = dl_varint_put(end, dl_zigzag((uint64_t)to - from));
    p->n += (uint32_t)(end - at);
    l->start = gap->start;
    l->to = to;
    g->n++;
    return true;
}

/* Reads a list from its beginning. */
typedef struct cursor {
    size_t piece; /* + 1; 0: at the end */
    uint32_t at, core;
    uint32_t to; /* of the launch of the gap before */
    tt_gap gap;
    bool any;
} cursor;

static cursor cursor_of(const tt_gaps *g, uint32_t core)
{
    return (cursor){.piece = g->lists[core].first, .core = core, .gap.core = core};
}

/* Goes on to the next gap, as it was put away: from launch to launch. */
static void step(const tt_gaps *g, cursor *c)
{
    uint64_t more;
    c->any = false;
    if (c->piece && c->at == piece_at(g, c->piece)->n) {
        c->piece = piece_at(g, c->piece)->next;
        c->at = 0;
    }
    if (!c->piece) return;
    const uint8_t *from = (const uint8_t *)(piece_at(g, c->piece) + 1), *at = from + c->at;
    at = dl_varint_get(at, &more);
    c->gap.start += dl_unzigzag(more);
    at = dl_varint_get(at, &c->gap.cycles);
    at = dl_varint_get(at, &more);
    c->gap.from = (uint32_t)(c->to + dl_unzigzag(more));
    at = dl_varint_get(at, &more);
    c->gap.to = c->to = (uint32_t)(c->gap.from + dl_unzigzag(more));
    c->at = (uint32_t)(at - from);
    c->any = true;
}

static uint64_t id_of(const tt_gaps *g, uint64_t launch)
{
    return launch < g->n_ids ? g->ids[launch] : 0;
}

/* Goes on to the next gap between two programs; *gap has their ids. */
static void next_gap(const tt_gaps *g, cursor *c, tt_gap *gap)
{
    do {
        step(g, c);
        *gap = c->gap;
        gap->from = id_of(g, c->gap.from);
        gap->to = id_of(g, c->gap.to);
    } while (c->any && (!gap->from || !gap->to));
}

/* Cores mostly come in the same order again. */
static bool core_number(tt_gaps *g, uint64_t key, uint32_t *out)
{
    const uint32_t next = g->last_core + 1 < g->n_cores ? g->last_core + 1 : 0;
    *out = next;
    if (g->n_cores && g->cores[next] == key) {
        g->last_core = next;
        return true;
    }
    for (size_t i = g->n_cores; i-- > 0;)
        if (g->cores[i] == key) {
            *out = g->last_core = (uint32_t)i;
            return true;
        }
    if (g->n_cores == g->cap_cores) {
        size_t cap = g->cap_cores ? g->cap_cores * 2 : 64;
        uint64_t *cores = realloc(g->cores, cap * sizeof *cores);
        if (cores) g->cores = cores;
        struct tt_gap_end *ends = realloc(g->ends, cap * sizeof *ends);
        if (ends) g->ends = ends;
        tt_gap_list *lists = realloc(g->lists, cap * sizeof *lists);
        if (lists) g->lists = lists;
        if (!cores || !ends || !lists) return false;
        g->cap_cores = cap;
    }
    *out = g->last_core = (uint32_t)g->n_cores;
    g->ends[g->n_cores] = (struct tt_gap_end){0};
    g->lists[g->n_cores] = (tt_gap_list){0};
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
        g->backwards |= x->begin < last->begin || (x->begin == last->begin && g->used[i] < last->begun);
        last->begin = x->begin;
        last->begun = g->used[i];
        if (ok && x->start != UINT64_MAX) {
            if (last->any && x->fw_start != UINT64_MAX && x->start >= last->end)
                ok = add_gap(g, &g->lists[core],
                             &(tt_gap){.start = last->end,
                                       .cycles = x->start - last->end,
                                       .from = last->launch,
                                       .to = g->used[i]});
            last->any = false;
        }
        if (x->end) {
            last->end = x->end;
            last->launch = g->used[i];
            last->any = true;
        }
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

/* Of gaps of one device. */
static int in_order(const tt_gap *x, const tt_gap *y, const uint64_t *cores)
{
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
    return cores[x->core] < cores[y->core] ? -1 : cores[x->core] > cores[y->core];
}

/* Of one core, before launches are known by their ids. */
static int by_start(const void *a, const void *b, void *gaps)
{
    const tt_gap *x = a, *y = b;
    const tt_gaps *g = gaps;
    tt_gap known[2] = {*x, *y};
    for (int i = 0; i < 2; i++) {
        known[i].from = id_of(g, known[i].from);
        known[i].to = id_of(g, known[i].to);
    }
    return in_order(&known[0], &known[1], g->cores);
}

/* Puts a core's gaps away again, in order: a log in which it was told of out of order. */
static bool sort_list(tt_gaps *g, uint32_t core)
{
    size_t n = 0, cap = 0;
    tt_gap *all = NULL;
    cursor c = cursor_of(g, core);
    for (step(g, &c); c.any; step(g, &c)) {
        if (n == cap) {
            cap = cap ? cap * 2 : 1024;
            tt_gap *grown = realloc(all, cap * sizeof *grown);
            if (!grown) {
                free(all);
                return false;
            }
            all = grown;
        }
        all[n++] = c.gap;
    }
    if (n) qsort_r(all, n, sizeof *all, by_start, g);
    g->lists[core] = (tt_gap_list){0};
    g->n -= n;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_gap(g, &g->lists[core], &all[i]);
    free(all);
    return ok;
}

bool tt_gaps_end(tt_gaps *g, const dl_tables *t, uint64_t *ids, size_t n)
{
    uint32_t core;
    free(g->ids);
    g->ids = ids;
    g->n_ids = n;
    if (!close_core(g)) return false;
    for (uint32_t i = 0; i < t->n_streams && g->n; i++)
        if (!core_number(g, key_of(t, &t->streams[i]), &core)) return false;
    size_t kept = 0;
    for (uint32_t i = 0; i < g->n_cores; i++) {
        tt_gap gap;
        if (g->lists[i].disordered && !sort_list(g, i)) return false;
        cursor c = cursor_of(g, i);
        for (next_gap(g, &c, &gap); c.any; next_gap(g, &c, &gap))
            kept++;
    }
    g->n = kept;
    dl_big_cool(&g->big);
    return true;
}

/* ---- The file --- */

static int by_key(const void *a, const void *b, void *cores)
{
    const uint64_t *c = cores;
    uint64_t x = c[*(const uint32_t *)a], y = c[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Of each core the next gap: cores by their keys. */
typedef struct heads {
    cursor *cursors;
    tt_gap *gaps; /* by the same number */
    size_t n;
} heads;

static bool make_heads(heads *h, const tt_gaps *g)
{
    uint32_t *order = calloc(g->n_cores + 1, sizeof *order);
    h->cursors = calloc(g->n_cores + 1, sizeof *h->cursors);
    h->gaps = calloc(g->n_cores + 1, sizeof *h->gaps);
    h->n = g->n_cores;
    const bool ok = order && h->cursors && h->gaps;
    for (uint32_t i = 0; ok && i < h->n; i++)
        order[i] = i;
    if (ok && h->n) qsort_r(order, h->n, sizeof *order, by_key, g->cores);
    for (size_t i = 0; ok && i < h->n; i++) {
        h->cursors[i] = cursor_of(g, order[i]);
        next_gap(g, &h->cursors[i], &h->gaps[i]);
    }
    free(order);
    return ok;
}

/* The first gap that is left of the cores [from, to), which are of one device; SIZE_MAX: none. */
static size_t first_gap(const tt_gaps *g, const heads *h, size_t from, size_t to)
{
    size_t best = SIZE_MAX;
    for (size_t i = from; i < to; i++)
        if (h->cursors[i].any && (best == SIZE_MAX || in_order(&h->gaps[i], &h->gaps[best], g->cores) < 0))
            best = i;
    return best;
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

/* The row of a gap: cores [k, end) are those of its device. */
static void row(const tt_gaps *g, heads *h, const uint64_t *places, size_t n, size_t k, size_t end,
                const tt_gap *x, dl_str *out)
{
    dl_str_fmt(out, "%llu,%llu -> %llu", (unsigned long long)(g->cores[x->core] >> 32),
               (unsigned long long)x->from, (unsigned long long)x->to);
    for (size_t i = 0; i < n; i++) {
        dl_str_char(out, ',');
        while (k < end && (uint32_t)g->cores[h->cursors[k].core] < (uint32_t)places[i])
            k++;
        if (k == end || !same_place(g->cores[h->cursors[k].core], places[i])) continue;
        const tt_gap *y = &h->gaps[k];
        if (!h->cursors[k].any || y->from != x->from || y->to != x->to) continue;
        dl_str_fmt(out, "%lld", (long long)y->cycles - OVERHEAD);
        next_gap(g, &h->cursors[k], &h->gaps[k]);
    }
    dl_str_char(out, '\n');
}

devlog_status tt_gaps_write(tt_gaps *g, dl_str *out, devlog_status (*flush)(void *ctx, devlog_error *err),
                            void *ctx, devlog_error *err)
{
    heads h = {0};
    devlog_status status = DEVLOG_OK;
    size_t n = 0;
    uint64_t *places = calloc(g->n_cores + 1, sizeof *places);
    bool ok = places && make_heads(&h, g);
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
    for (size_t from = 0, to; ok && from < h.n && !status; from = to) {
        const uint64_t device = g->cores[h.cursors[from].core] >> 32;
        for (to = from; to < h.n && g->cores[h.cursors[to].core] >> 32 == device;)
            to++;
        for (size_t of = first_gap(g, &h, from, to); of != SIZE_MAX && !status;
             of = first_gap(g, &h, from, to)) {
            const tt_gap gap = h.gaps[of];
            row(g, &h, places, n, from, to, &gap, out);
            if (out->len < FLUSH_BYTES) continue;
            dl_big_cool(&g->big);
            status = flush(ctx, err);
        }
    }
    if (!ok || out->failed) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = flush(ctx, err);
    free(places);
    free(h.cursors);
    free(h.gaps);
    return status;
}
