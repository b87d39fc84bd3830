/* A spool: events given back in order, merged from the sequences of their sources. */
#include <stdlib.h>
#include <string.h>

#include "report/view_spool_internal.h"

enum { LEAST_BLOCK = 4 * VIEW_RUN_BYTES, MOST_BLOCK = 64 * 1024 };

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
    while (r->chunk && !r->chunk->n) /* what it was made for could not be put there */
        r->chunk = r->chunk->next;
    r->begun = true;
    *any = r->chunk != NULL;
    if (!*any) return DEVLOG_OK;
    r->at = r->chunk->bytes;
    r->end = r->at + r->chunk->n;
    return DEVLOG_OK;
}

/* The next event, or a run, which is in hand then. */
static inline devlog_status next_whole(view_reader *r, dl_event *e, bool *is_run, bool *any,
                                       devlog_error *err)
{
    *any = true;
    *is_run = false;
    /* Where an entry may be cut, there is more of it, or it ends the block. */
    if (r->begun ? r->at == r->end : r->end - r->at < VIEW_RUN_BYTES) {
        devlog_status status = move_on(r, any, err);
        if (status || !*any) return status;
    }
    uint32_t form;
    memcpy(&form, r->at, sizeof form);
    *is_run = form & VIEW_IS_RUN;
    if (*is_run) {
        r->at = view_run_get(r->at, &r->spool->shapes, &r->before, &r->run);
        r->item = 0;
        return DEVLOG_OK;
    }
    r->at = view_event_get(r->at, &r->spool->forms, &r->before, e);
    e->stream = r->of->stream;
    return DEVLOG_OK;
}

static inline devlog_status next_event(view_reader *r, dl_event *e, bool *any, devlog_error *err)
{
    if (!r->run.shape || r->item == r->run.shape->n) {
        bool is_run;
        devlog_status status = next_whole(r, e, &is_run, any, err);
        if (status || !*any || !is_run) return status;
    }
    *any = true;
    view_run_event(&r->run, r->item++, e);
    e->stream = r->of->stream;
    return DEVLOG_OK;
}

devlog_status view_reader_next(view_reader *r, dl_event *e, bool *any, devlog_error *err)
{
    return next_event(r, e, any, err);
}

devlog_status view_reader_next_other(view_reader *r, dl_event *e, const view_run **run, bool *any,
                                     devlog_error *err)
{
    bool is_run;
    devlog_status status = next_whole(r, e, &is_run, any, err);
    *run = !status && *any && is_run ? &r->run : NULL;
    if (*run) r->item = r->run.shape->n;
    return status;
}

devlog_status view_reader_next_whole(view_reader *r, dl_event *e, const view_run **run, bool *any,
                                     devlog_error *err)
{
    devlog_status status = view_reader_next_part(r, e, run, any, err);
    if (*run) {
        view_run_event(*run, 0, e);
        e->stream = r->of->stream;
    }
    return status;
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
    bool is_done; /* there is no next event */
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
        status = next_event(&h->reader, &k.event, &any, err);
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

/* Reads the next event of a sequence, if there is one; of exact orders without the rest of its key. */
static inline devlog_status advance(head *h, const view_spool_order *o, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (o->exact && !h->reader.of->disordered) {
        bool any;
        status = next_event(&h->reader, &h->event, &any, err);
        h->is_done = !any;
        h->key.start = h->event.start;
        return status;
    }
    if (h->at == h->n) status = next_items(h, o, err);
    h->is_done = h->at == h->n;
    if (status || h->is_done) return status;
    h->event = h->items[h->at].event;
    h->key = h->items[h->at++].key;
    return DEVLOG_OK;
}

/* ---- Merging ----------------------------------------------------------------------------------------- */

/* A tournament: of two that meet, the one that comes later stays where they met, and the other goes on. So the one that
 * comes first has only to be replaced by its next event, which meets those on its way. */
typedef struct rival {
    uint64_t start; /* of the next event; UINT64_MAX when there is none */
    uint32_t who;   /* number of a head; NOBODY: none has been here yet */
} rival;

typedef struct tournament {
    head *heads;
    rival *places; /* heads are numbered n, n + 1, ...; those at 2i and 2i + 1 meet at i */
    size_t n;
    const view_spool_order *order;
} tournament;

#define NOBODY UINT32_MAX

/* Of one major, and of the same start. Sequences are numbered in the order in which events that are alike came. */
static bool wins_tie(const tournament *t, uint32_t a, uint32_t b)
{
    const head *ha = &t->heads[a], *hb = &t->heads[b];
    view_key ka = ha->key, kb = hb->key;
    if (ha->is_done || hb->is_done) return !ha->is_done;
    if (t->order->exact) {
        t->order->key(t->order->ctx, &ha->event, &ka);
        t->order->key(t->order->ctx, &hb->event, &kb);
    }
    int c = compare_keys(&ka, &kb);
    return c ? c < 0 : ha->reader.of < hb->reader.of;
}

static rival rival_of(const tournament *t, uint32_t who)
{
    return (rival){t->heads[who].is_done ? UINT64_MAX : t->heads[who].key.start, who};
}

/* Who comes first, when one has its next event. */
static inline uint32_t play(const tournament *t, uint32_t who)
{
    rival best = rival_of(t, who);
    for (size_t at = (who + t->n) / 2; at; at /= 2) {
        rival *const other = &t->places[at];
        if (other->start > best.start) continue;
        if (other->start == best.start && wins_tie(t, best.who, other->who)) continue;
        const rival later = best;
        best = *other;
        *other = later;
    }
    return best.who;
}

/* Who comes first of all: of two who meet, the first waits for the other. */
static uint32_t begin(const tournament *t)
{
    uint32_t first = 0;
    for (size_t i = 0; i < t->n; i++)
        t->places[i].who = NOBODY;
    for (uint32_t i = 0; i < t->n; i++) {
        rival best = rival_of(t, i);
        size_t at = (i + t->n) / 2;
        for (; at; at /= 2) {
            rival *const other = &t->places[at], later = best;
            const bool waits = other->who == NOBODY;
            const bool wins = !waits && (best.start < other->start ||
                                         (best.start == other->start && wins_tie(t, best.who, other->who)));
            if (wins) continue;
            best = *other;
            *other = later;
            if (waits) break;
        }
        if (!at) first = best.who;
    }
    return first;
}

static devlog_status merge(head *heads, size_t n, const view_spool_order *o, const view_spool_sink *sink,
                           devlog_error *err)
{
    const tournament t = {heads, malloc(n * sizeof *t.places), n, o};
    devlog_status status = t.places ? DEVLOG_OK : no_memory(err);
    uint32_t next = t.places ? begin(&t) : 0;
    while (!status && !heads[next].is_done) {
        head *h = &heads[next];
        status = sink->event(sink->ctx, &h->event, err);
        if (!status) status = advance(h, o, err);
        if (!status) next = play(&t, next);
    }
    free(t.places);
    return status;
}

/* A sequence alone, in order. */
static devlog_status read_through(view_reader *r, const view_spool_sink *sink, devlog_error *err)
{
    const uint32_t stream = r->of->stream;
    dl_event e;
    const view_run *run;
    bool any;
    for (;;) {
        devlog_status status = view_reader_next_part(r, &e, &run, &any, err);
        if (status || !any) return status;
        if (run && sink->run) {
            status = sink->run(sink->ctx, run, stream, err);
        } else if (!run) {
            status = sink->event(sink->ctx, &e, err);
        } else {
            for (uint32_t i = 0; i < run->shape->n && !status; i++) {
                view_run_event(run, i, &e);
                e.stream = stream;
                status = sink->event(sink->ctx, &e, err);
            }
        }
        if (status) return status;
    }
}

/* Each in order. */
static devlog_status merge_sequences(view_spool *s, const uint32_t *sequences, size_t n,
                                     const view_spool_order *o, devlog_error *err)
{
    view_reader *readers = calloc(n, sizeof *readers);
    if (!readers) return no_memory(err);
    for (size_t i = 0; i < n; i++)
        readers[i] = (view_reader){.spool = s, .of = &s->sequences[sequences[i]], .room = s->reading / n};
    devlog_status status = o->merge(o->ctx, readers, n, err);
    for (size_t i = 0; i < n; i++)
        view_reader_free(&readers[i]);
    free(readers);
    return status;
}

/* Sequences of one major. */
static devlog_status run_major(view_spool *s, const uint32_t *sequences, size_t n, const view_spool_order *o,
                               const view_spool_sink *sink, devlog_error *err)
{
    bool in_order = o->exact && o->merge;
    for (size_t i = 0; i < n && in_order; i++)
        in_order = !s->sequences[sequences[i]].disordered;
    if (in_order) return merge_sequences(s, sequences, n, o, err);
    head *heads = calloc(n, sizeof *heads);
    const bool alone = n == 1 && o->exact && !s->sequences[sequences[0]].disordered;
    devlog_status status = heads ? DEVLOG_OK : no_memory(err);
    for (size_t i = 0; i < n && !status; i++) {
        heads[i].reader =
            (view_reader){.spool = s, .of = &s->sequences[sequences[i]], .room = s->reading / n};
        status = alone ? read_through(&heads[i].reader, sink, err) : advance(&heads[i], o, err);
    }
    if (!status && !alone) status = merge(heads, n, o, sink, err);
    for (size_t i = 0; heads && i < n; i++) {
        view_reader_free(&heads[i].reader);
        free(heads[i].items);
    }
    free(heads);
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

devlog_status view_spool_run(view_spool *s, const view_spool_order *o, const view_spool_sink *sink,
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
        status = run_major(s, of_major, to - from, o, sink, err);
    }
    free(all);
    free(of_major);
    return status;
}
