/* Reading captures: batches of frames unpacked, taken apart and handed on, on one thread or two. The format
 * is in capture.h. Nothing that a file says is believed before it has been compared with what is there. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "decode/capture/capture_cursor.h"
#include "decode/capture/capture_frames.h"
#include "decode/capture/capture_payloads.h"
#include "decode/capture/capture_words.h"
#include "decode/pipeline.h"

enum {
    MAX_RISCS = 64,
    MAX_SPANS = 64,
    MAX_CORE_WORDS = 128 * 1024 * 1024,
};

/* A core but for its words. */
typedef struct core_parts {
    dl_capture_core core;
    dl_capture_risc riscs[MAX_RISCS];
    char *names; /* of the RISCs, one after the other */
    record_span *spans;
    size_t cap_names, cap_spans; /* bytes */
    uint64_t expected;           /* words */
} core_parts;

/* A frame that has been unpacked. */
typedef struct part {
    cursor payload; /* of a frame with words: only whether it is bad */
    bool broken;    /* it could not be unpacked */
    core_parts *core;
    bool core_is_bad;
    size_t words_at, n_words; /* in the batch */
    bool plain;               /* there are `planes` there, and no words yet */
    dl_word_planes planes;    /* only their sizes are good: the batch may have moved */
} part;

typedef struct batch {
    frame_batch frames;
    part *parts;
    uint8_t *payloads;
    uint32_t *words;
    size_t n_parts, n_words;
    uint32_t *room;                                      /* for putting words together */
    size_t cap_parts, cap_payloads, cap_words, cap_room; /* bytes */
    ZSTD_DCtx *zstd;
} batch;

typedef struct core_in_hand {
    bool any;
    core_parts *parts;
    const uint32_t *words; /* of a batch, or our own */
    size_t n_words;
    uint32_t *own;
    size_t cap_own; /* bytes */
    bool plain;     /* and has no words yet */
    dl_word_planes planes;
    dl_capture_planes shown;
} core_in_hand;

typedef struct reader {
    const dl_capture_sink *sink;
    frame_finder finder;
    batch batches[DL_PIPELINE_SLOTS];
    /* Handing on: */
    dl_capture_state *state;
    core_in_hand hand;
    capture_open open;
} reader;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}

/* ---- Unpacking --------------------------------------------------------------------------------------- */

static void free_core(core_parts *p)
{
    if (!p) return;
    free(p->names);
    free(p->spans);
    free(p);
}

/* The name of a RISC behind the `used` bytes of those before it. */
static bool take_name(cursor *c, core_parts *p, size_t *used)
{
    uint32_t n = take32(c);
    const uint8_t *name = take(c, n);
    if (!name) n = 0;
    if (!frame_reserve(&p->names, &p->cap_names, *used + n + 1)) return false;
    if (n) memcpy(p->names + *used, name, n);
    p->names[*used + n] = 0;
    *used += n + 1;
    return true;
}

/* What a frame says of a core before its words. False: no memory. */
static bool read_parts(cursor *c, core_parts *p)
{
    size_t names[MAX_RISCS], used = 0, n_spans = 0;
    p->core = (dl_capture_core){.slot = take32(c), .riscs = p->riscs};
    uint32_t xy = take32(c);
    p->core.x = (uint16_t)xy;
    p->core.y = (uint16_t)(xy >> 16);
    p->core.events_from = take64(c);
    p->core.n_events = take32(c);
    p->core.n_riscs = take32(c);
    p->expected = p->core.n_events;
    if (p->core.n_riscs > MAX_RISCS) c->bad = true;
    for (uint32_t i = 0; i < p->core.n_riscs && !c->bad; i++) {
        dl_capture_risc *risc = &p->riscs[i];
        names[i] = used;
        if (!take_name(c, p, &used)) return false;
        *risc = (dl_capture_risc){.index = take32(c)};
        risc->elf = take32(c);
        uint32_t n = take32(c);
        const uint8_t *words = take(c, (size_t)n * 4);
        uint32_t *to = (uint32_t *)&risc->control;
        /* Captures of before have 48 words at most: two words of the host stand where counts of drops and passes do
         * now, and those behind them begin earlier. */
        const uint32_t first = offsetof(devlog_control, dropped_complete) / 4,
                       moved = offsetof(devlog_control, events_base) / 4;
        for (uint32_t w = 0; words && w < n; w++) {
            uint32_t at = w;
            if (n <= 48 && w >= moved) at = w + 2;
            if (n <= 48 && w >= first && w < first + 2) at = moved + w - first;
            if (at < DL_CONTROL_WORDS) to[at] = le32(words + 4 * w);
        }
        risc->n_spans = take32(c);
        if (risc->n_spans > MAX_SPANS) c->bad = true;
        if (c->bad) break;
        if (!frame_reserve(&p->spans, &p->cap_spans, (n_spans + risc->n_spans) * sizeof *p->spans))
            return false;
        for (uint32_t s = 0; s < risc->n_spans; s++, n_spans++) {
            p->spans[n_spans] = (record_span){.n = take32(c)};
            p->expected += p->spans[n_spans].n;
        }
    }
    if (p->expected > MAX_CORE_WORDS) c->bad = true;
    n_spans = 0;
    for (uint32_t i = 0; i < p->core.n_riscs && !c->bad; i++) {
        p->riscs[i].name = p->names + names[i];
        p->riscs[i].spans = p->spans + n_spans;
        n_spans += p->riscs[i].n_spans;
    }
    return true;
}

/* The same for words that may stay as they are: those of a whole core. */
static bool unpack_planes(batch *b, part *p, size_t n)
{
    const size_t room = dl_words_planes_room(p->payload.at);
    if (!frame_reserve(&b->words, &b->cap_words, (b->n_words + room + n) * 4)) return false;
    p->planes = dl_words_unite(p->payload.at, b->words + b->n_words);
    p->plain = dl_words_are_plain(&p->planes, n);
    if (!p->plain) {
        p->words_at = b->n_words + room;
        p->payload.bad |= !dl_words_of_planes(&p->planes, b->words + p->words_at, n);
        if (p->payload.bad) return true;
    }
    p->n_words = n;
    b->n_words += room + (p->plain ? 0 : n);
    return true;
}

/* The words of a frame: what is left of its payload. False: no memory. */
static bool unpack_words(batch *b, part *p, bool planes)
{
    cursor *c = &p->payload;
    bool sorted = c->version >= 2;
    size_t size = (size_t)(c->end - c->at), n = sorted ? dl_words_count(c->at, size) : size / 4;
    p->words_at = b->n_words;
    if (n == SIZE_MAX) c->bad = true;
    if (c->bad || n == 0) return true;
    if (planes && sorted && n == p->core->expected && !p->core->core.n_events) return unpack_planes(b, p, n);
    if (!frame_reserve(&b->words, &b->cap_words, (b->n_words + n) * 4)) return false;
    uint32_t *words = b->words + b->n_words;
    if (sorted) {
        if (!frame_reserve(&b->room, &b->cap_room, 8 * n + 8)) return false;
        if (!dl_words_join(c->at, words, n, b->room)) c->bad = true;
        if (c->bad) return true;
    } else {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        memcpy(words, c->at, n * 4);
#else
        for (size_t i = 0; i < n; i++)
            words[i] = le32(c->at + 4 * i);
#endif
    }
    p->n_words = n;
    b->n_words += n;
    return true;
}

/* False: no memory. */
static bool unpack_frame(batch *b, const found_frame *f, part *p, uint8_t *room, bool planes)
{
    const uint8_t *stored = b->frames.bytes + f->at;
    p->payload = (cursor){stored, stored + f->stored, false, f->version};
    p->broken = p->core_is_bad = p->plain = false;
    p->n_words = 0;
    if (f->version > dl_frame_version(f->kind)) return true;
    if (f->packed) {
        size_t got = ZSTD_decompressDCtx(b->zstd, room, f->size, stored, f->stored);
        p->broken = ZSTD_isError(got) || got != f->size;
        p->payload = (cursor){room, room + f->size, false, f->version};
    }
    if (p->broken || !frame_has_words(f->kind)) return true;
    if (f->kind == DL_FRAME_CORE) {
        if (!p->core) p->core = calloc(1, sizeof *p->core);
        if (!p->core || !read_parts(&p->payload, p->core)) return false;
        p->core_is_bad = p->payload.bad;
    }
    return unpack_words(b, p, planes && f->kind == DL_FRAME_CORE);
}

static devlog_status unpack_stage(void *ctx, unsigned slot, devlog_error *err)
{
    reader *r = ctx;
    batch *b = &r->batches[slot];
    const frame_batch *frames = &b->frames;
    size_t had = b->cap_parts / sizeof *b->parts, size = 1, at = 0;
    for (size_t i = 0; i < frames->count; i++)
        size += frames->items[i].packed ? frames->items[i].size : 0;
    if (!frame_reserve(&b->parts, &b->cap_parts, frames->count * sizeof *b->parts)) return no_memory(err);
    size_t has = b->cap_parts / sizeof *b->parts;
    if (has > had) memset(b->parts + had, 0, (has - had) * sizeof *b->parts);
    if (!frame_reserve(&b->payloads, &b->cap_payloads, size)) return no_memory(err);
    if (!b->zstd && !(b->zstd = ZSTD_createDCtx())) return no_memory(err);
    b->n_words = 0;
    for (size_t i = 0; i < frames->count; i++) {
        if (!unpack_frame(b, &frames->items[i], &b->parts[i], b->payloads + at, r->sink->planes))
            return no_memory(err);
        at += frames->items[i].packed ? frames->items[i].size : 0;
    }
    return DEVLOG_OK;
}

/* ---- Cores ---------------------------------------------------------------------------------------- */

static void set_words(core_in_hand *h, const uint32_t *words, size_t n)
{
    h->words = words;
    h->n_words = n;
    h->plain = false;
}

/* Gives spans their words; none where they are in planes. */
static void set_spans(core_in_hand *h)
{
    size_t at = h->parts->core.n_events;
    record_span *span = h->parts->spans;
    for (uint32_t i = 0; i < h->parts->core.n_riscs; i++)
        for (uint32_t s = 0; s < h->parts->riscs[i].n_spans; s++, span++) {
            span->words = h->plain ? NULL : h->words + at;
            at += span->n;
        }
}

devlog_status dl_capture_join(const dl_capture_core *core, devlog_error *err)
{
    core_in_hand *h = core->planes ? &((reader *)core->planes->reader)->hand : NULL;
    if (!h || !h->plain) return DEVLOG_OK;
    if (!frame_reserve(&h->own, &h->cap_own, h->n_words * 4)) return no_memory(err);
    (void)dl_words_of_planes(&h->planes, h->own, h->n_words); /* plain ones can be */
    set_words(h, h->own, h->n_words);
    set_spans(h);
    return DEVLOG_OK;
}

/* Hands on the core in hand, which is complete, or will never be. */
static devlog_status hand_on_core(reader *r, devlog_error *err)
{
    core_in_hand *h = &r->hand;
    if (!h->any) return DEVLOG_OK;
    dl_capture_core *core = &h->parts->core;
    record_span *span = h->parts->spans;
    size_t at = 0;
    if (core->n_events > h->n_words) core->n_events = (uint32_t)h->n_words;
    core->events = h->words;
    core->planes = h->plain ? &h->shown : NULL;
    at += core->n_events;
    for (uint32_t i = 0; i < core->n_riscs; i++) {
        dl_capture_risc *risc = &h->parts->riscs[i];
        for (uint32_t s = 0; s < risc->n_spans; s++, span++) {
            size_t here = h->n_words - at < span->n ? h->n_words - at : span->n;
            risc->missing += span->n - here;
            span->n = (uint32_t)here;
            at += here;
        }
    }
    set_spans(h);
    h->any = false;
    return r->sink->core(r->sink->ctx, core, err);
}

/* The core in hand has planes of these sizes. */
static void set_planes(reader *r, dl_word_planes p, uint32_t *at)
{
    core_in_hand *h = &r->hand;
    h->plain = true;
    h->planes = dl_words_planes_at(p, at);
    h->shown = (dl_capture_planes){h->planes.heads, h->planes.lows, h->planes.rest, r};
}

/* The words of a frame: borrowed when they are all of the core's, otherwise put behind those before them. */
static devlog_status add_words(reader *r, const batch *b, part *p, devlog_error *err)
{
    core_in_hand *h = &r->hand;
    size_t n = p->n_words, left = (size_t)h->parts->expected - h->n_words;
    if (n > left) {
        p->payload.bad = true;
        n = p->payload.version >= 2 ? 0 : left;
    }
    if (n == 0) return DEVLOG_OK;
    const uint32_t *words = b->words + p->words_at;
    if (n == h->parts->expected) {
        set_words(h, words, n);
        if (p->plain) set_planes(r, p->planes, b->words + p->words_at);
        return DEVLOG_OK;
    }
    if (!frame_reserve(&h->own, &h->cap_own, (h->n_words + n) * 4)) return no_memory(err);
    memcpy(h->own + h->n_words, words, n * 4);
    set_words(h, h->own, h->n_words + n);
    return DEVLOG_OK;
}

static devlog_status read_core(reader *r, const batch *b, part *p, devlog_error *err)
{
    if (p->core_is_bad) return DEVLOG_OK;
    r->hand.any = true;
    core_parts *before = r->hand.parts; /* they change hands: this core may go on in the next batch */
    r->hand.parts = p->core;
    p->core = before;
    static const uint32_t no_words[1] = {0}; /* spans of nothing have a place too */
    set_words(&r->hand, no_words, 0);
    return add_words(r, b, p, err);
}

static devlog_status read_words(reader *r, const batch *b, part *p, devlog_error *err)
{
    if (r->hand.any) return add_words(r, b, p, err);
    p->payload.bad = true; /* the frame that says whose they are is damaged */
    return DEVLOG_OK;
}

/* ---- Handing on ------------------------------------------------------------------------------------- */

static devlog_status hand_on(reader *r, const batch *b, const found_frame *f, part *p, devlog_error *err)
{
    devlog_status status = f->kind == DL_FRAME_WORDS ? DEVLOG_OK : hand_on_core(r, err);
    if (status) return status;
    if (f->kind == 0 || f->kind >= DL_FRAME_KINDS || f->version > dl_frame_version(f->kind)) {
        r->state->unknown++;
        return DEVLOG_OK;
    }
    if (p->broken) {
        r->state->malformed++;
        return DEVLOG_OK;
    }
    if (f->kind == DL_FRAME_CORE)
        status = read_core(r, b, p, err);
    else if (f->kind == DL_FRAME_WORDS)
        status = read_words(r, b, p, err);
    else
        status = capture_payload(f->kind, &p->payload, r->sink, &r->open, err);
    if (p->payload.bad) r->state->malformed++;
    if (!status && r->sink->frame) r->sink->frame(r->sink->ctx, f->number, b->frames.taken);
    bool whole = r->hand.any && r->hand.n_words == r->hand.parts->expected;
    return !status && whole ? hand_on_core(r, err) : status;
}

static devlog_status hand_on_stage(void *ctx, unsigned slot, devlog_error *err)
{
    reader *r = ctx;
    batch *b = &r->batches[slot];
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < b->frames.count && !status; i++)
        status = hand_on(r, b, &b->frames.items[i], &b->parts[i], err);
    return status;
}

static devlog_status find_stage(void *ctx, unsigned slot, bool *last, devlog_error *err)
{
    reader *r = ctx;
    return frames_next(&r->finder, &r->batches[slot].frames, last, err);
}

static void free_batch(batch *b)
{
    for (size_t i = 0; i < b->cap_parts / sizeof *b->parts; i++)
        free_core(b->parts[i].core);
    frame_batch_free(&b->frames);
    free(b->parts);
    free(b->payloads);
    free(b->words);
    free(b->room);
    ZSTD_freeDCtx(b->zstd);
}

devlog_status dl_capture_read(dl_input *in, const dl_capture_sink *sink, bool two_threads,
                              dl_capture_state *state, devlog_error *err)
{
    reader *r = calloc(1, sizeof *r);
    devlog_status status;
    *state = (dl_capture_state){0};
    if (!r) return no_memory(err);
    r->sink = sink;
    r->state = state;
    r->finder = (frame_finder){.in = in, .state = state, .sink = sink, .no_cores = !sink->core};
    const dl_pipeline_stages stages = {r, find_stage, unpack_stage, hand_on_stage, NULL, true};
    status = dl_pipeline_run(&stages, two_threads, err);
    if (!status) status = hand_on_core(r, err);
    state->closed = r->open.any_chip && r->open.n == 0;
    for (size_t i = 0; i < DL_PIPELINE_SLOTS; i++)
        free_batch(&r->batches[i]);
    free_core(r->hand.parts);
    free(r->hand.own);
    frames_free(&r->finder);
    free(r);
    return status;
}
