/* A spool: events put away as they come, given back sorted. */
#include "report/view_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"

/* What one event costs: itself, and an entry of the sort and of its copy. */
typedef struct entry {
    uint64_t start;
    uint32_t major, index;
} entry;

enum {
    COST = sizeof(dl_event) + 2 * sizeof(entry),
    LEAST_EVENTS = 4096,
    AHEAD = 16,
    DIGIT = 11,
    BUCKETS = 1 << DIGIT
};

void view_spool_init(view_spool *s, size_t memory)
{
    *s = (view_spool){.fd = -1, .max = memory / COST};
    if (s->max < LEAST_EVENTS) s->max = LEAST_EVENTS;
}

void view_spool_free(view_spool *s)
{
    if (s->fd >= 0) close(s->fd);
    free(s->events);
    *s = (view_spool){.fd = -1};
}

void view_spool_clear(view_spool *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->n = 0;
    s->total = s->n_spilled = 0;
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

static devlog_status transfer(int fd, bool out, void *bytes, size_t n, uint64_t at, devlog_error *err)
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

static devlog_status spill(view_spool *s, devlog_error *err)
{
    devlog_status status = s->fd < 0 ? temporary_file(&s->fd, err) : DEVLOG_OK;
    if (!status)
        status =
            transfer(s->fd, true, s->events, s->n * sizeof *s->events, s->n_spilled * sizeof *s->events, err);
    if (status) return status;
    s->n_spilled += s->n;
    s->n = 0;
    return DEVLOG_OK;
}

/* Forgets what is in memory and not wanted any more. */
static void pick(view_spool *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->owner.wants(s->owner.ctx, &s->events[i])) s->events[kept++] = s->events[i];
    s->total -= s->n - kept;
    s->n = kept;
    s->picked = true;
}

/* The temporary file cannot grow: wants less, so little that it is all in memory, and gives the file up. */
static devlog_status do_with_less(view_spool *s, devlog_error *err)
{
    enum { BLOCK = 1024 };
    devlog_status status = DEVLOG_OK;
    dl_event *block = malloc(BLOCK * sizeof *block);
    if (!block) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while gathering events");
    s->owner.want_less(s->owner.ctx, s->max / 2);
    pick(s);
    /* Of one launch that is larger than that, the first ones are kept. */
    if (s->n > s->max / 2) {
        s->unfit += s->n - s->max / 2;
        s->n = s->max / 2;
    }
    for (uint64_t at = 0, some; at < s->n_spilled && !status; at += some) {
        some = s->n_spilled - at < BLOCK ? s->n_spilled - at : BLOCK;
        status = transfer(s->fd, false, block, some * sizeof *block, at * sizeof *block, err);
        for (uint64_t i = 0; i < some && !status; i++) {
            if (!s->owner.wants(s->owner.ctx, &block[i])) continue;
            if (s->n < s->max / 4 * 3)
                s->events[s->n++] = block[i];
            else
                s->unfit++;
        }
    }
    free(block);
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->n_spilled = 0;
    s->total = s->n;
    return status;
}

/* The memory is full. */
static devlog_status make_room(view_spool *s, devlog_error *err)
{
    if (s->owner.wants && !s->picked) {
        pick(s);
        if (s->n < s->max) return DEVLOG_OK;
    }
    devlog_status status = spill(s, err);
    if (status && s->owner.wants) status = do_with_less(s, err);
    s->picked = false;
    return status;
}

static devlog_status grow(view_spool *s, devlog_error *err)
{
    size_t cap = s->cap ? s->cap * 4 : LEAST_EVENTS;
    if (cap > s->max) cap = s->max;
    dl_event *events = realloc(s->events, cap * sizeof *events);
    if (!events) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while gathering events");
    s->events = events;
    s->cap = cap;
    return DEVLOG_OK;
}

devlog_status view_spool_add(view_spool *s, const dl_event *events, size_t n, devlog_error *err)
{
    s->total += n;
    while (n) {
        devlog_status status = DEVLOG_OK;
        if (s->n == s->max)
            status = make_room(s, err);
        else if (s->n == s->cap)
            status = grow(s, err);
        if (status) return status;
        size_t some = s->cap - s->n < n ? s->cap - s->n : n;
        memcpy(s->events + s->n, events, some * sizeof *events);
        s->n += some;
        events += some;
        n -= some;
    }
    return DEVLOG_OK;
}

static uint64_t field(const entry *e, bool major)
{
    return major ? e->major : e->start;
}

/* One stable pass over a digit of one field; returns where the entries are now. */
static entry *radix_pass(entry *from, entry *to, size_t n, bool major, unsigned shift, uint64_t least)
{
    uint32_t at[BUCKETS] = {0};
    for (size_t i = 0; i < n; i++)
        at[(field(&from[i], major) - least) >> shift & (BUCKETS - 1)]++;
    uint32_t sum = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        uint32_t count = at[i];
        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[(field(&from[i], major) - least) >> shift & (BUCKETS - 1)]++] = from[i];
    return to;
}

static entry *radix_field(entry *from, entry *other, size_t n, bool major)
{
    uint64_t least = UINT64_MAX, most = 0;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = field(&from[i], major);
        if (i && value < field(&from[i - 1], major)) sorted = false;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    for (unsigned shift = 0; !sorted && shift < 64 && (most - least) >> shift; shift += DIGIT) {
        entry *to = radix_pass(from, other, n, major, shift, least);
        other = from;
        from = to;
    }
    return from;
}

typedef struct order {
    const dl_event *events;
    view_key_fn *key;
    void *key_ctx;
} order;

static int compare_keys(const view_key *a, const view_key *b)
{
    if (a->major != b->major) return a->major < b->major ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return (a->minor > b->minor) - (a->minor < b->minor);
}

static int compare_entries(const void *pa, const void *pb, void *ctx)
{
    const order *o = ctx;
    const entry *a = pa, *b = pb;
    view_key ka, kb;
    o->key(o->key_ctx, &o->events[a->index], &ka);
    o->key(o->key_ctx, &o->events[b->index], &kb);
    int c = compare_keys(&ka, &kb);
    return c ? c : (a->index > b->index) - (a->index < b->index);
}

/* Puts entries of one major in order, which are nearly so when they are of one stream: a zone comes behind those
 * inside it. False when they are not: then they are as well as any other order. */
static bool insert_nearly(order *o, entry *e, size_t n)
{
    size_t moves = 0, most = n * 8 + 64;
    for (size_t i = 1; i < n; i++) {
        entry moved = e[i];
        size_t at = i;
        while (at && (e[at - 1].start > moved.start ||
                      (e[at - 1].start == moved.start && compare_entries(&e[at - 1], &moved, o) > 0))) {
            e[at] = e[at - 1];
            at--;
        }
        e[at] = moved;
        moves += i - at;
        if (moves > most) return false;
    }
    return true;
}

/* The same for all, by major first. Sets *sorted to where they are. */
static bool sort_nearly(order *o, entry *from, entry *other, size_t n, entry **sorted)
{
    *sorted = from = radix_field(from, other, n, true);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && from[end].major == from[i].major; end++)
            ;
        if (!insert_nearly(o, from + i, end - i)) return false;
    }
    return true;
}

/* Entries of the part in memory, in order; *memory is what the caller frees. */
static entry *sort_part(order *o, size_t n, entry **memory)
{
    entry *from = malloc(2 * (n ? n : 1) * sizeof *from);
    *memory = from;
    if (!from) return NULL;
    entry *other = from + n;
    for (size_t i = 0; i < n; i++) {
        view_key k;
        o->key(o->key_ctx, &o->events[i], &k);
        from[i] = (entry){k.start, k.major, (uint32_t)i};
    }
    entry *sorted;
    if (sort_nearly(o, from, other, n, &sorted)) return sorted;
    sorted = radix_field(sorted, sorted == from ? other : from, n, false);
    sorted = radix_field(sorted, sorted == from ? other : from, n, true);
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && sorted[end].start == sorted[i].start && sorted[end].major == sorted[i].major)
            end++;
        if (end - i > 1) qsort_r(sorted + i, end - i, sizeof *sorted, compare_entries, o);
    }
    return sorted;
}

/* Sorts one part and writes it back to where it was. */
static devlog_status sort_spilled(view_spool *s, order *o, uint64_t at, size_t n, devlog_error *err)
{
    enum { BLOCK = 1024 };
    devlog_status status = transfer(s->fd, false, s->events, n * sizeof *s->events, at, err);
    if (status) return status;
    entry *memory, *sorted = sort_part(o, n, &memory);
    dl_event *block = malloc(BLOCK * sizeof *block);
    if (!sorted || !block) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while sorting events");
    for (size_t i = 0, some; i < n && !status; i += some) {
        some = n - i < BLOCK ? n - i : BLOCK;
        for (size_t k = 0; k < some; k++) {
            if (i + k + AHEAD < n) __builtin_prefetch(&s->events[sorted[i + k + AHEAD].index]);
            block[k] = s->events[sorted[i + k].index];
        }
        status = transfer(s->fd, true, block, some * sizeof *block, at + i * sizeof *block, err);
    }
    free(block);
    free(memory);
    return status;
}

/* One sorted part while parts are merged. */
typedef struct run {
    view_key key; /* of *at */
    dl_event *at, *end, *buffer;
    uint64_t next, left; /* in the file: where the rest begins, and how many events it has */
    uint32_t number;
} run;

static bool run_before(const run *a, const run *b)
{
    int c = compare_keys(&a->key, &b->key);
    return c ? c < 0 : a->number < b->number;
}

static void sift_down(run *heap, size_t n, size_t at)
{
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= n) return;
        if (child + 1 < n && run_before(&heap[child + 1], &heap[child])) child++;
        if (!run_before(&heap[child], &heap[at])) return;
        run swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
        at = child;
    }
}

static devlog_status refill(view_spool *s, run *r, size_t block, devlog_error *err)
{
    size_t some = r->left < block ? (size_t)r->left : block;
    devlog_status status = transfer(s->fd, false, r->buffer, some * sizeof *r->buffer, r->next, err);
    r->at = r->buffer;
    r->end = r->buffer + some;
    r->next += some * sizeof *r->buffer;
    r->left -= some;
    return status;
}

static devlog_status merge(view_spool *s, const order *o, view_event_fn *each, void *ctx, devlog_error *err)
{
    size_t n = (size_t)((s->n_spilled + s->max - 1) / s->max), block = s->cap / n;
    run *heap = calloc(n, sizeof *heap);
    dl_event *events = s->events;
    if (block < 16) block = 16;
    if (block * n > s->cap) events = malloc(block * n * sizeof *events);
    devlog_status status = DEVLOG_OK;
    if (!heap || !events) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while sorting events");
    for (size_t i = 0; i < n && !status; i++) {
        uint64_t first = (uint64_t)i * s->max, left = s->n_spilled - first;
        heap[i] = (run){.buffer = events + i * block,
                        .next = first * sizeof *events,
                        .left = left < s->max ? left : s->max,
                        .number = (uint32_t)i};
        status = refill(s, &heap[i], block, err);
        if (!status) o->key(o->key_ctx, heap[i].at, &heap[i].key);
    }
    for (size_t i = n / 2; i-- > 0 && !status;)
        sift_down(heap, n, i);
    while (n && !status) {
        run *r = &heap[0];
        status = each(ctx, r->at, err);
        if (!status && ++r->at == r->end && r->left) status = refill(s, r, block, err);
        if (status) break;
        if (r->at == r->end)
            heap[0] = heap[--n];
        else
            o->key(o->key_ctx, r->at, &r->key);
        sift_down(heap, n, 0);
    }
    free(heap);
    if (events != s->events) free(events);
    return status;
}

static devlog_status run_in_memory(const view_spool *s, order *o, view_event_fn *each, void *ctx,
                                   devlog_error *err)
{
    entry *memory, *sorted = sort_part(o, s->n, &memory);
    devlog_status status = DEVLOG_OK;
    if (!sorted) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while sorting events");
    /* Sorted order is no order of the memory: what comes soon is asked for early. */
    for (size_t i = 0; i < s->n && !status; i++) {
        if (i + AHEAD < s->n) __builtin_prefetch(&s->events[sorted[i + AHEAD].index]);
        status = each(ctx, &s->events[sorted[i].index], err);
    }
    free(memory);
    return status;
}

devlog_status view_spool_run(view_spool *s, view_key_fn *key, void *key_ctx, view_event_fn *each, void *ctx,
                             devlog_error *err)
{
    order o = {s->events, key, key_ctx};
    if (s->fd < 0) return run_in_memory(s, &o, each, ctx, err);
    devlog_status status = s->n ? spill(s, err) : DEVLOG_OK;
    if (status && s->owner.wants) {
        status = do_with_less(s, err);
        o.events = s->events;
        return status ? status : run_in_memory(s, &o, each, ctx, err);
    }
    for (uint64_t at = 0; at < s->n_spilled && !status; at += s->max) {
        uint64_t left = s->n_spilled - at;
        status = sort_spilled(s, &o, at * sizeof *s->events, (size_t)(left < s->max ? left : s->max), err);
    }
    return status ? status : merge(s, &o, each, ctx, err);
}
