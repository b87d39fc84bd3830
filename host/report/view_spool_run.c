/* A spool: events given back in order, merged from the sequences of their sources. */
#include <stdlib.h>
#include <string.h>

#include "report/view_spool_internal.h"

enum { LEAST_BLOCK = 8 * VIEW_EVENT_BYTES, MOST_BLOCK = 64 * 1024 };

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while sorting events");
}

/* ---- A sequence -------------------------------------------------------------------------------------- */

void view_reader_free(view_reader *r)
{
    free(r->buffer);
    r->buffer = NULL;
}

/* Moves what is left of the block to its front and reads more of the extent. */
static devlog_status read_more(view_reader *r, const extent *x, devlog_error *err)
{
    if (!r->buffer) {
        if (r->room < LEAST_BLOCK) r->room = LEAST_BLOCK;
        if (r->room > MOST_BLOCK) r->room = MOST_BLOCK;
        r->buffer = malloc(r->room);
        if (!r->buffer) return no_memory(err);
        r->at = r->end = r->buffer;
    }
    const size_t rest = (size_t)(r->end - r->at);
    if (rest) memmove(r->buffer, r->at, rest);
    const uint64_t left = x->n - r->taken;
    const size_t some = left < r->room - rest ? (size_t)left : r->room - rest;
    devlog_status status =
        view_spool_transfer(r->spool->fd, false, r->buffer + rest, some, x->at + r->taken, err);
    r->taken += some;
    r->at = r->buffer;
    r->end = r->buffer + rest + some;
    return status;
}

/* To where the next event is. */
static devlog_status move_on(view_reader *r, bool *any, devlog_error *err)
{
    const view_sequence *q = r->of;
    for (; r->extent < q->n_extents; r->extent++, r->taken = 0, r->before = (view_before){0}) {
        const extent *x = &q->extents[r->extent];
        if (r->taken < x->n) return read_more(r, x, err);
        if (r->at < r->end) return DEVLOG_OK;
    }
    if (!r->begun)
        r->chunk = q->first;
    else if (r->at < r->end)
        return DEVLOG_OK;
    else
        r->chunk = r->chunk ? r->chunk->next : NULL;
    r->begun = true;
    *any = r->chunk != NULL;
    if (!*any) return DEVLOG_OK;
    r->at = r->chunk->bytes;
    r->end = r->at + r->chunk->n;
    return DEVLOG_OK;
}

devlog_status view_reader_next(view_reader *r, dl_event *e, bool *any, devlog_error *err)
{
    *any = true;
    /* Where an event may be cut, there is more of it, or it ends the block. */
    if (r->begun ? r->at == r->end : r->end - r->at < VIEW_EVENT_BYTES) {
        devlog_status status = move_on(r, any, err);
        if (status || !*any) return status;
    }
    r->at = view_event_get(r->at, &r->spool->forms, &r->before, e);
    e->stream = r->of->stream;
    return DEVLOG_OK;
}

/* ---- A source's events by their keys ----------------------------------------------------------------- */

typedef struct keyed {
    view_key key;
    uint64_t order;
    dl_event event;
} keyed;

/* A sequence and its next event. Those whose keys start alike may have another order than the sequence has: so they are
 * read together and sorted, as is a sequence in disorder as a whole. */
typedef struct head {
    view_key key;
    view_reader reader;
    dl_event event;
    keyed *items;
    size_t n, cap, at;
    keyed ahead; /* read, and not one of the items */
    bool has_ahead;
} head;

static int compare_keys(const view_key *a, const view_key *b)
{
    if (a->major != b->major) return a->major < b->major ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return (a->minor > b->minor) - (a->minor < b->minor);
}

static int by_key(const void *pa, const void *pb)
{
    const keyed *a = pa, *b = pb;
    int c = compare_keys(&a->key, &b->key);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static bool add_item(head *h, const keyed *k)
{
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 16;
        keyed *items = realloc(h->items, cap * sizeof *items);
        if (!items) return false;
        h->items = items;
        h->cap = cap;
    }
    h->items[h->n] = *k;
    h->items[h->n].order = h->n;
    h->n++;
    return true;
}

/* The items that come next. */
static devlog_status next_items(head *h, const view_spool_order *o, devlog_error *err)
{
    const bool all = h->reader.of->disordered;
    bool any = true;
    devlog_status status = DEVLOG_OK;
    h->n = h->at = 0;
    if (h->has_ahead && !add_item(h, &h->ahead)) return no_memory(err);
    for (h->has_ahead = false;;) {
        keyed k = {0};
        status = view_reader_next(&h->reader, &k.event, &any, err);
        if (status || !any) break;
        o->key(o->ctx, &k.event, &k.key);
        if (h->n && !all && k.key.start != h->items[0].key.start) {
            h->ahead = k;
            h->has_ahead = true;
            break;
        }
        if (!add_item(h, &k)) return no_memory(err);
    }
    if (h->n > 1) qsort(h->items, h->n, sizeof *h->items, by_key);
    return status;
}

/* Reads the next event of a sequence. */
static inline devlog_status advance(head *h, const view_spool_order *o, bool *any, devlog_error *err)
{
    if (o->exact && !h->reader.of->disordered) {
        devlog_status status = view_reader_next(&h->reader, &h->event, any, err);
        if (!status && *any) o->key(o->ctx, &h->event, &h->key);
        return status;
    }
    if (h->at == h->n) {
        devlog_status status = next_items(h, o, err);
        if (status) return status;
    }
    *any = h->at < h->n;
    if (!*any) return DEVLOG_OK;
    h->event = h->items[h->at].event;
    h->key = h->items[h->at++].key;
    return DEVLOG_OK;
}

/* ---- Merging ----------------------------------------------------------------------------------------- */

/* Of one major. Sequences are numbered in the order in which events that are alike came. */
static inline bool is_before(const head *a, const head *b)
{
    if (a->key.start != b->key.start) return a->key.start < b->key.start;
    int c = compare_keys(&a->key, &b->key);
    return c ? c < 0 : a->reader.of < b->reader.of;
}

static void sift_down(head **heap, size_t n, size_t at)
{
    head *moved = heap[at];
    for (size_t child; (child = at * 2 + 1) < n; at = child) {
        if (child + 1 < n && is_before(heap[child + 1], heap[child])) child++;
        if (!is_before(heap[child], moved)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* The same for the first of the heap, which has mostly to go far down: the gap goes down to the end first, and up again
 * with it. That is one comparison a level instead of two. */
static void sift_first(head **heap, size_t n)
{
    head *const moved = heap[0];
    size_t at = 0;
    for (size_t child; (child = at * 2 + 1) < n; at = child) {
        if (child + 1 < n && is_before(heap[child + 1], heap[child])) child++;
        heap[at] = heap[child];
    }
    for (size_t above; at && is_before(moved, heap[above = (at - 1) / 2]); at = above)
        heap[at] = heap[above];
    heap[at] = moved;
}

/* What one sequence has left, up to the events of another. */
static devlog_status merge(head **heap, size_t n, const view_spool_order *o, view_event_fn *each, void *ctx,
                           devlog_error *err)
{
    bool any;
    devlog_status status = DEVLOG_OK;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(heap, n, i);
    while (n && !status) {
        head *h = heap[0];
        status = each(ctx, &h->event, err);
        if (!status) status = advance(h, o, &any, err);
        if (status) break;
        if (!any) heap[0] = heap[--n];
        if (n > 1) sift_first(heap, n);
    }
    return status;
}

/* A sequence alone, in order. */
static devlog_status read_through(view_reader *r, view_event_fn *each, void *ctx, devlog_error *err)
{
    dl_event e;
    bool any;
    for (;;) {
        devlog_status status = view_reader_next(r, &e, &any, err);
        if (status || !any) return status;
        status = each(ctx, &e, err);
        if (status) return status;
    }
}

/* Sequences of one major. */
static devlog_status run_major(view_spool *s, const uint32_t *sequences, size_t n, const view_spool_order *o,
                               view_event_fn *each, void *ctx, devlog_error *err)
{
    head *heads = calloc(n, sizeof *heads), **heap = malloc(n * sizeof(head *));
    devlog_status status = heads && heap ? DEVLOG_OK : no_memory(err);
    size_t used = 0;
    for (size_t i = 0; i < n && !status; i++) {
        const view_sequence *q = &s->sequences[sequences[i]];
        bool any = true;
        heads[i].reader = (view_reader){.spool = s, .of = q, .room = s->reading / n};
        if (n == 1 && o->exact && !q->disordered)
            status = read_through(&heads[i].reader, each, ctx, err);
        else
            status = advance(&heads[i], o, &any, err);
        if (any) heap[used++] = &heads[i];
    }
    if (!status && (n > 1 || !o->exact || s->sequences[sequences[0]].disordered))
        status = merge(heap, used, o, each, ctx, err);
    for (size_t i = 0; heads && i < n; i++) {
        view_reader_free(&heads[i].reader);
        free(heads[i].items);
    }
    free(heads);
    free(heap);
    return status;
}

typedef struct placed {
    uint32_t major, sequence;
} placed;

static int by_major(const void *pa, const void *pb)
{
    const placed *a = pa, *b = pb;
    if (a->major != b->major) return a->major < b->major ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* The major of a sequence's events; false when it has none. */
static devlog_status major_of(view_spool *s, uint32_t sequence, const view_spool_order *o, uint32_t *major,
                              bool *any, devlog_error *err)
{
    view_reader r = {.spool = s, .of = &s->sequences[sequence]};
    dl_event e;
    view_key key;
    devlog_status status = view_reader_next(&r, &e, any, err);
    view_reader_free(&r);
    if (status || !*any) return status;
    o->key(o->ctx, &e, &key);
    *major = key.major;
    return DEVLOG_OK;
}

devlog_status view_spool_run(view_spool *s, const view_spool_order *o, view_event_fn *each, void *ctx,
                             devlog_error *err)
{
    placed *all = malloc((s->n_sequences + 1u) * sizeof *all);
    uint32_t *of_major = malloc((s->n_sequences + 1u) * sizeof *of_major);
    devlog_status status = all && of_major ? DEVLOG_OK : no_memory(err);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_sequences && !status; i++) {
        bool any;
        status = major_of(s, i, o, &all[n].major, &any, err);
        all[n].sequence = i;
        n += any;
    }
    if (n) qsort(all, n, sizeof *all, by_major);
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && all[to].major == all[from].major; to++)
            of_major[to - from] = all[to].sequence;
        status = run_major(s, of_major, to - from, o, each, ctx, err);
    }
    free(all);
    free(of_major);
    return status;
}
