/* A spool: events put away as they come. Giving them back: view_spool_run.c. */
#include "report/view_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "report/view_spool_internal.h"

enum {
    LEAST_MEMORY = 64 * 1024,
    FIRST_CHUNK = 256,
    LAST_CHUNK = 16 * 1024, /* no more than a sixteenth of the memory */
    PARTS = 16,
    AT_ONCE = 512,       /* events of a run that are put in order before they are put away */
    MOST_SEQUENCES = 64, /* of a source */
};

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while gathering events");
}

void view_spool_init(view_spool *s, size_t memory)
{
    if (memory < LEAST_MEMORY) memory = LEAST_MEMORY;
    *s = (view_spool){.fd = -1, .max = memory - memory / 8, .reading = memory / 8};
}

static void free_chunks(view_spool *s, view_sequence *q)
{
    for (chunk *c = q->first, *next; c; c = next) {
        next = c->next;
        s->bytes -= sizeof *c + c->cap;
        free(c);
    }
    q->first = q->last = NULL;
    q->before = (view_before){0};
}

static void close_file(view_spool *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->n_spilled = 0;
    for (uint32_t i = 0; i < s->n_sequences; i++) {
        free(s->sequences[i].extents);
        s->sequences[i].extents = NULL;
        s->sequences[i].n_extents = 0;
    }
}

void view_spool_clear(view_spool *s)
{
    close_file(s);
    for (uint32_t i = 0; i < s->n_sequences; i++)
        free_chunks(s, &s->sequences[i]);
    if (s->n_sources) memset(s->sources, 0, s->n_sources * sizeof *s->sources);
    s->n_sequences = 0;
    s->total = 0;
}

void view_spool_free(view_spool *s)
{
    view_spool_clear(s);
    view_forms_free(&s->forms);
    view_shapes_free(&s->shapes);
    free(s->sequences);
    free(s->sources);
    *s = (view_spool){.fd = -1};
}

/* ---- Memory that is full ----------------------------------------------------------------------------- */

static __attribute__((noinline)) uint8_t *new_chunk(view_spool *s, view_sequence *q, uint32_t n)
{
    chunk *c = q->last;
    uint32_t cap = !c ? FIRST_CHUNK : c->cap < LAST_CHUNK ? c->cap * 2 : LAST_CHUNK;
    if (c && cap > s->max / PARTS) cap = c->cap;
    if (cap < n) cap = n;
    chunk *fresh = malloc(sizeof *fresh + cap);
    if (!fresh) return NULL;
    *fresh = (chunk){.cap = cap};
    s->bytes += sizeof *fresh + cap;
    if (c)
        c->next = fresh;
    else
        q->first = fresh;
    q->last = fresh;
    return fresh->bytes;
}

/* Room for so many bytes more of a sequence; NULL: out of memory. */
static inline uint8_t *room_for(view_spool *s, view_sequence *q, uint32_t n)
{
    chunk *const c = q->last;
    return c && c->cap - c->n >= n ? c->bytes + c->n : new_chunk(s, q, n);
}

static bool put(view_spool *s, view_sequence *q, const dl_event *e)
{
    uint8_t *to = room_for(s, q, VIEW_EVENT_BYTES);
    if (!to) return false;
    const uint8_t *end = view_event_put(to, e, view_forms_add(&s->forms, e, q->before.form), &q->before);
    q->last->n += (uint32_t)(end - to);
    return true;
}

/* An event that has been read, or a run whose first event it is. */
static bool put_whole(view_spool *s, view_sequence *q, const dl_event *e, const view_run *run)
{
    if (!run) return put(s, q, e);
    uint8_t *to = room_for(s, q, view_run_bytes(run->shape));
    const uint8_t *end = to ? view_run_put_again(to, run, &q->before) : NULL;
    if (end) q->last->n += (uint32_t)(end - to);
    for (uint32_t i = 0; to && !end && i < run->shape->n; i++) {
        dl_event one;
        view_run_event(run, i, &one);
        one.stream = q->stream;
        if (!put(s, q, &one)) return false;
    }
    return to != NULL;
}

/* Puts a sequence's events that are wanted away again, as far as there is room. */
static devlog_status put_again(view_spool *s, view_sequence *q, size_t room, devlog_error *err)
{
    view_sequence was = *q;
    view_reader r = {.spool = s, .of = &was, .room = s->reading};
    dl_event e;
    const view_run *run;
    bool any = true;
    devlog_status status = DEVLOG_OK;
    q->first = q->last = NULL;
    q->extents = NULL;
    q->n_extents = 0;
    q->before = (view_before){0};
    for (;;) {
        status = view_reader_next_whole(&r, &e, &run, &any, err);
        if (status || !any) break;
        const uint32_t n = run ? run->shape->n : 1;
        if (!s->owner.wants(s->owner.ctx, &e)) {
            s->total -= n;
        } else if (s->bytes >= room) {
            s->unfit += n;
            s->total -= n;
        } else if (!put_whole(s, q, &e, run)) {
            status = no_memory(err);
            break;
        }
    }
    view_reader_free(&r);
    free_chunks(s, &was);
    free(was.extents);
    return status;
}

/* Forgets what is in memory and not wanted any more. */
static devlog_status pick(view_spool *s, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < s->n_sequences && !status; i++) {
        view_sequence *q = &s->sequences[i];
        const view_sequence was = *q;
        q->extents = NULL;
        q->n_extents = 0;
        status = put_again(s, q, SIZE_MAX, err);
        q->extents = was.extents;
        q->n_extents = was.n_extents;
    }
    s->picked = true;
    return status;
}

static devlog_status temporary_file(int *fd, devlog_error *err)
{
    const char *folder = dl_setting_text(DL_SET_TMPDIR);
    char path[4096];
    snprintf(path, sizeof path, "%s/devlog-XXXXXX", folder ? folder : "/tmp");
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0) return dl_fail_errno(err, errno, "cannot make a temporary file in %s (set TMPDIR)", path);
    unlink(path);
    return DEVLOG_OK;
}

devlog_status view_spool_transfer(int fd, bool out, void *bytes, size_t n, uint64_t at, devlog_error *err)
{
    char *p = bytes;
    while (n) {
        ssize_t done = out ? pwrite(fd, p, n, (off_t)at) : pread(fd, p, n, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO;
        if (done <= 0)
            return dl_fail_errno(err, errno, "cannot %s the temporary file for sorting (set TMPDIR)",
                                 out ? "write" : "read");
        p += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return DEVLOG_OK;
}

/* Writes what a sequence has in memory, through a block. */
typedef struct spiller {
    view_spool *spool;
    uint8_t *block;
    size_t n, cap;
    uint64_t at; /* of the block in the file */
} spiller;

static devlog_status write_block(spiller *w, devlog_error *err)
{
    devlog_status status = view_spool_transfer(w->spool->fd, true, w->block, w->n, w->at, err);
    w->at += w->n;
    w->n = 0;
    return status;
}

static devlog_status spill_sequence(spiller *w, view_sequence *q, devlog_error *err)
{
    extent here = {w->at + w->n, 0};
    for (const chunk *c = q->first; c; c = c->next) {
        if (w->cap - w->n < c->n) {
            devlog_status status = write_block(w, err);
            if (status) return status;
        }
        memcpy(w->block + w->n, c->bytes, c->n);
        w->n += c->n;
        here.n += c->n;
    }
    if (!here.n) return DEVLOG_OK;
    extent *extents = realloc(q->extents, (q->n_extents + 1) * sizeof *extents);
    if (!extents) return no_memory(err);
    q->extents = extents;
    extents[q->n_extents++] = here; /* counts when all has been written */
    return DEVLOG_OK;
}

static devlog_status spill(view_spool *s, devlog_error *err)
{
    spiller w = {.spool = s, .cap = 8 * LAST_CHUNK, .at = s->n_spilled};
    const uint64_t from = s->n_spilled;
    devlog_status status = s->fd < 0 ? temporary_file(&s->fd, err) : DEVLOG_OK;
    w.block = status ? NULL : malloc(w.cap);
    if (!status && !w.block) status = no_memory(err);
    for (uint32_t i = 0; i < s->n_sequences && !status; i++)
        status = spill_sequence(&w, &s->sequences[i], err);
    if (!status) status = write_block(&w, err);
    free(w.block);
    for (uint32_t i = 0; i < s->n_sequences; i++) {
        view_sequence *q = &s->sequences[i];
        if (!status)
            free_chunks(s, q);
        else if (q->n_extents && q->extents[q->n_extents - 1].at >= from)
            q->n_extents--;
    }
    if (!status) s->n_spilled = w.at;
    return status;
}

/* The temporary file cannot grow: wants less, so little that it is all in memory, and gives the file up. */
static devlog_status do_with_less(view_spool *s, devlog_error *err)
{
    const uint64_t bytes =
        s->n_spilled + s->bytes; /* of all events; a third of the memory is for those kept */
    devlog_status status = DEVLOG_OK;
    s->owner.want_less(s->owner.ctx, (size_t)((double)s->total * (double)s->max / 3 / (double)bytes));
    status = pick(s, err);
    for (uint32_t i = 0; i < s->n_sequences && !status; i++)
        status = put_again(s, &s->sequences[i], s->max, err);
    if (!status) close_file(s);
    return status;
}

static devlog_status make_room(view_spool *s, devlog_error *err)
{
    if (s->owner.wants && !s->picked) {
        devlog_status status = pick(s, err);
        if (status || s->bytes < s->max) return status;
    }
    devlog_status status = spill(s, err);
    if (status && s->owner.wants) status = do_with_less(s, err);
    s->picked = false;
    return status;
}

/* ---- What comes -------------------------------------------------------------------------------------- */

static view_sequence *new_sequence(view_spool *s, uint32_t source, uint32_t stream)
{
    if (s->n_sequences == s->cap_sequences) {
        uint32_t cap = s->cap_sequences ? s->cap_sequences * 2 : 64;
        view_sequence *grown = realloc(s->sequences, cap * sizeof *grown);
        if (!grown) return NULL;
        s->sequences = grown;
        s->cap_sequences = cap;
    }
    view_sequence *q = &s->sequences[s->n_sequences++];
    *q = (view_sequence){.source = source, .stream = stream};
    return q;
}

static bool grow_sources(view_spool *s, uint32_t source)
{
    uint32_t n = s->n_sources ? s->n_sources : 64;
    while (n <= source)
        n *= 2;
    uint32_t *grown = realloc(s->sources, n * sizeof *grown);
    if (!grown) return false;
    memset(grown + s->n_sources, 0, (n - s->n_sources) * sizeof *grown);
    s->sources = grown;
    s->n_sources = n;
    return true;
}

/* The first sequence of a source; DL_NONE when out of memory. */
static inline uint32_t first_sequence(view_spool *s, uint32_t source, uint32_t stream)
{
    if (source >= s->n_sources && !grow_sources(s, source)) return DL_NONE;
    if (!s->sources[source] && new_sequence(s, source, stream)) s->sources[source] = s->n_sequences;
    return s->sources[source] ? s->sources[source] - 1 : DL_NONE;
}

/* Whether an event belongs behind the last of a sequence. */
static inline bool goes_behind(const view_sequence *q, const dl_event *e)
{
    if (e->start != q->start) return e->start > q->start;
    if (e->end != q->end) return e->end < q->end;
    return e->depth != q->depth ? e->depth > q->depth : e->line >= q->line;
}

/* The one of a source's sequences into which an event goes; NULL when out of memory. The first that it goes behind, so
 * that of equal events the one that came first is in a sequence before that of the other, or before it in the same. */
static view_sequence *place_of(view_spool *s, view_sequence *q, const dl_event *e)
{
    for (unsigned n = 1; !q->disordered && (q->first || q->n_extents) && !goes_behind(q, e); n++) {
        if (!q->next) {
            const size_t before = (size_t)(q - s->sequences);
            view_sequence *fresh = new_sequence(s, q->source, e->stream);
            if (!fresh) return NULL;
            fresh->disordered = n + 1 == MOST_SEQUENCES;
            s->sequences[before].next = s->n_sequences - 1;
            return fresh;
        }
        q = &s->sequences[q->next];
    }
    return q;
}

static inline bool comes_before(const dl_event *a, const dl_event *b)
{
    if (a->start != b->start) return a->start < b->start;
    if (a->end != b->end) return a->end > b->end;
    return a->depth != b->depth ? a->depth < b->depth : a->line < b->line;
}

/* Puts a few events in order: zones come behind those inside them. */
static void put_in_order(const dl_event *events, size_t n, uint16_t *places)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at && comes_before(&events[i], &events[places[at - 1]]); at--)
            places[at] = places[at - 1];
        places[at] = (uint16_t)i;
    }
}

devlog_status view_spool_add(view_spool *s, uint32_t source, const dl_event *events, size_t n,
                             devlog_error *err)
{
    uint16_t places[AT_ONCE];
    while (n) {
        const size_t some = n < AT_ONCE ? n : AT_ONCE;
        if (s->bytes >= s->max) {
            devlog_status status = make_room(s, err);
            if (status) return status;
        }
        put_in_order(events, some, places);
        const uint32_t first = first_sequence(s, source, events->stream);
        for (size_t i = 0; i < some; i++) {
            const dl_event *e = &events[places[i]];
            view_sequence *q = first == DL_NONE ? NULL : place_of(s, &s->sequences[first], e);
            if (!q || !put(s, q, e)) return no_memory(err);
            q->start = e->start;
            q->end = e->end;
            q->depth = e->depth;
            q->line = e->line;
        }
        s->total += some;
        events += some;
        n -= some;
    }
    return DEVLOG_OK;
}

/* Keeps a run as a whole, if that can be; *kept. */
static devlog_status keep_run(view_spool *s, uint32_t source, const dl_run *run, const dl_tables *tables,
                              bool *kept, devlog_error *err)
{
    const view_shape *shape = run->shape < s->shapes.n ? s->shapes.by_number[run->shape] : NULL;
    if (!shape && !(shape = view_shapes_of(&s->shapes, run, tables))) return DEVLOG_OK;
    if (s->bytes >= s->max) {
        devlog_status status = make_room(s, err);
        if (status) return status;
    }
    const uint32_t first = first_sequence(s, source, run->stream);
    if (first == DL_NONE) return no_memory(err);
    view_sequence *q = &s->sequences[first];
    const dl_mark *marks = run->marks;
    if (q->disordered || ((q->first || q->n_extents) && marks->time <= q->start)) return DEVLOG_OK;
    uint8_t *to = room_for(s, q, view_run_bytes(shape));
    const uint8_t *end = to ? view_run_put(to, shape, run, &q->before) : NULL;
    if (!to) return no_memory(err);
    if (!end) return DEVLOG_OK;
    const view_shape_item *last = &shape->items[shape->n - 1];
    q->last->n += (uint32_t)(end - to);
    q->start = marks[last->start].time;
    q->end = marks[last->end].time;
    q->depth = last->depth;
    q->line = run->line + run->line_step * last->line;
    s->total += shape->n;
    *kept = true;
    return DEVLOG_OK;
}

static __attribute__((noinline)) devlog_status add_events_of(view_spool *s, uint32_t source,
                                                             const dl_run *run, size_t n,
                                                             const dl_tables *tables, devlog_error *err)
{
    dl_event events[UINT8_MAX + 1];
    for (uint32_t i = 0; i < n; i++)
        events[i] = dl_run_event(run, tables, i);
    return view_spool_add(s, source, events, n, err);
}

devlog_status view_spool_add_run(view_spool *s, uint32_t source, const dl_run *run, size_t n,
                                 const dl_tables *tables, devlog_error *err)
{
    bool kept = false;
    devlog_status status = n == run->n_events ? keep_run(s, source, run, tables, &kept, err) : DEVLOG_OK;
    return status || kept ? status : add_events_of(s, source, run, n, tables, err);
}
