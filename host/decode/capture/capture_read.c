/* Reading captures: batches of frames unpacked, taken apart and handed on, on one thread or two. The format
 * is in capture.h. Nothing that a file says is believed before it has been compared with what is there. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "decode/capture/capture_cursor.h"
#include "decode/capture/capture_frames.h"
#include "decode/capture/capture_words.h"
#include "decode/pipeline.h"

enum {
    MAX_RISCS = 64,
    MAX_SPANS = 64,
    MAX_CORE_WORDS = 128 * 1024 * 1024,
    MAX_CHIPS = 64,
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
} part;

typedef struct batch {
    frame_batch frames;
    part *parts;
    uint8_t *payloads;
    uint32_t *words;
    size_t n_parts, n_words;
    size_t cap_parts, cap_payloads, cap_words; /* bytes */
} batch;

typedef struct core_in_hand {
    bool any;
    core_parts *parts;
    const uint32_t *words; /* of a batch, or our own */
    size_t n_words;
    uint32_t *own;
    size_t cap_own; /* bytes */
} core_in_hand;

typedef struct reader {
    const dl_capture_sink *sink;
    frame_finder finder;
    batch batches[DL_PIPELINE_SLOTS];
    /* Unpacking: */
    ZSTD_DCtx *zstd;
    uint32_t *room; /* for putting words together */
    size_t cap_room;
    /* Handing on: */
    dl_capture_state *state;
    core_in_hand hand;
    uint32_t open[MAX_CHIPS], n_open; /* slots of chips that have not ended */
    bool any_chip;
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

/* The words of a frame: what is left of its payload. False: no memory. */
static bool unpack_words(reader *r, batch *b, part *p)
{
    cursor *c = &p->payload;
    bool sorted = c->version >= 2;
    size_t size = (size_t)(c->end - c->at), n = sorted ? dl_words_count(c->at, size) : size / 4;
    p->words_at = b->n_words;
    if (n == SIZE_MAX) c->bad = true;
    if (c->bad || n == 0) return true;
    if (!frame_reserve(&b->words, &b->cap_words, (b->n_words + n) * 4)) return false;
    uint32_t *words = b->words + b->n_words;
    if (sorted) {
        if (!frame_reserve(&r->room, &r->cap_room, 8 * n + 8)) return false;
        if (!dl_words_join(c->at, words, n, r->room)) c->bad = true;
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
static bool unpack_frame(reader *r, batch *b, const found_frame *f, part *p, uint8_t *room)
{
    const uint8_t *stored = b->frames.bytes + f->at;
    p->payload = (cursor){stored, stored + f->stored, false, f->version};
    p->broken = p->core_is_bad = false;
    p->n_words = 0;
    if (f->version > dl_frame_version(f->kind)) return true;
    if (f->packed) {
        size_t got = ZSTD_decompressDCtx(r->zstd, room, f->size, stored, f->stored);
        p->broken = ZSTD_isError(got) || got != f->size;
        p->payload = (cursor){room, room + f->size, false, f->version};
    }
    if (p->broken || !frame_has_words(f->kind)) return true;
    if (f->kind == DL_FRAME_CORE) {
        if (!p->core) p->core = calloc(1, sizeof *p->core);
        if (!p->core || !read_parts(&p->payload, p->core)) return false;
        p->core_is_bad = p->payload.bad;
    }
    return unpack_words(r, b, p);
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
    b->n_words = 0;
    for (size_t i = 0; i < frames->count; i++) {
        if (!unpack_frame(r, b, &frames->items[i], &b->parts[i], b->payloads + at)) return no_memory(err);
        at += frames->items[i].packed ? frames->items[i].size : 0;
    }
    return DEVLOG_OK;
}

/* ---- Cores ---------------------------------------------------------------------------------------- */

static void set_words(core_in_hand *h, const uint32_t *words, size_t n)
{
    h->words = words;
    h->n_words = n;
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
    at += core->n_events;
    for (uint32_t i = 0; i < core->n_riscs; i++) {
        dl_capture_risc *risc = &h->parts->riscs[i];
        for (uint32_t s = 0; s < risc->n_spans; s++, span++) {
            size_t here = h->n_words - at < span->n ? h->n_words - at : span->n;
            risc->missing += span->n - here;
            span->words = h->words + at;
            span->n = (uint32_t)here;
            at += here;
        }
    }
    h->any = false;
    return r->sink->core(r->sink->ctx, core, err);
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

/* ---- Other frames ------------------------------------------------------------------------------------ */

/* Room for all texts of a payload: each has a length of four bytes, which makes place for its NUL. */
static char *text_room(const cursor *c)
{
    return malloc((size_t)(c->end - c->at) + 1);
}

static devlog_status read_chip(reader *r, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_chip chip = {.slot = take32(c), .max_cores = take32(c)};
    chip.freq_khz = take64(c);
    chip.together = take32(c);
    chip.arch = take_text(c, &room);
    chip.board = take_text(c, &room);
    chip.transport = take_text(c, &room);
    chip.boot = take_text(c, &room);
    if (c->end - c->at >= 8) chip.run = take64(c);
    if (c->end - c->at >= 8) chip.aiclk_khz = take64(c);
    if (c->end - c->at >= 8) chip.instructions = take64(c) & 1;
    devlog_status status = DEVLOG_OK;
    if (!c->bad) {
        uint32_t i = 0;
        r->any_chip = true;
        while (i < r->n_open && r->open[i] != chip.slot)
            i++;
        if (i == r->n_open && i < MAX_CHIPS) r->open[r->n_open++] = chip.slot;
        if (r->sink->chip) status = r->sink->chip(r->sink->ctx, &chip, err);
    }
    free(texts);
    return status;
}

static devlog_status read_elf(reader *r, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_elf elf = {.slot = take32(c), .number = take32(c)};
    elf.path = take_text(c, &room);
    elf.source = take_text(c, &room);
    elf.build_id_size = take32(c);
    elf.build_id = take(c, elf.build_id_size);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && r->sink->elf) status = r->sink->elf(r->sink->ctx, &elf, err);
    free(texts);
    return status;
}

static devlog_status read_violation(reader *r, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_violation v = {.slot = take32(c)};
    uint32_t xy = take32(c);
    v.x = (uint16_t)xy;
    v.y = (uint16_t)(xy >> 16);
    v.index = take32(c);
    v.launch = take32(c);
    v.line = take32(c);
    v.times = take64(c);
    v.worst = take64(c);
    v.text = take_text(c, &room);
    v.file = take_text(c, &room);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && r->sink->violation) status = r->sink->violation(r->sink->ctx, &v, err);
    free(texts);
    return status;
}

static devlog_status read_launch(reader *r, cursor *c, devlog_error *err)
{
    dl_capture_launch launch = {.slot = take32(c), .number = take32(c), .op = take32(c)};
    launch.call_start = take64(c);
    launch.call_end = take64(c);
    launch.pull_start = take64(c);
    launch.pull_end = take64(c);
    if (c->bad || !r->sink->launch) return DEVLOG_OK;
    return r->sink->launch(r->sink->ctx, &launch, err);
}

static devlog_status read_samples(reader *r, cursor *c, devlog_error *err)
{
    dl_clock_samples s = {.slot = take32(c), .peer = take32(c)};
    uint32_t n = take32(c);
    if (n > (size_t)(c->end - c->at) / 28) c->bad = true;
    if (c->bad || n == 0) return DEVLOG_OK;
    dl_clock_sample *items = malloc(n * sizeof *items);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        items[i].before = take64(c);
        items[i].after = take64(c);
        items[i].cycles = take64(c);
        items[i].burst = take32(c);
    }
    s.items = items;
    s.n = n;
    devlog_status status = r->sink->samples ? r->sink->samples(r->sink->ctx, &s, err) : DEVLOG_OK;
    free(items);
    return status;
}

static devlog_status read_offsets(reader *r, cursor *c, devlog_error *err)
{
    dl_clock_offsets o = {.slot = take32(c)};
    uint32_t xy = take32(c), n = take32(c);
    o.reference_x = (uint16_t)xy;
    o.reference_y = (uint16_t)(xy >> 16);
    if (n > (size_t)(c->end - c->at) / 24) c->bad = true;
    if (c->bad) return DEVLOG_OK;
    dl_clock_offset *items = malloc((n + 1) * sizeof *items);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        xy = take32(c);
        items[i].x = (uint16_t)xy;
        items[i].y = (uint16_t)(xy >> 16);
        items[i].moved = take32(c);
        items[i].lo = (int64_t)take64(c);
        items[i].hi = (int64_t)take64(c);
    }
    o.items = items;
    o.n = n;
    devlog_status status = r->sink->offsets ? r->sink->offsets(r->sink->ctx, &o, err) : DEVLOG_OK;
    free(items);
    return status;
}

/* A newer devlog may know more causes of waits: they are passed over. */
static devlog_status read_cycles(reader *r, cursor *c, devlog_error *err)
{
    enum { MOST_STALLS = 64 };
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_cycles y = {.slot = take32(c)};
    uint32_t xy = take32(c);
    y.x = (uint16_t)xy;
    y.y = (uint16_t)(xy >> 16);
    y.risc = take_text(c, &room);
    y.index = take32(c);
    y.elf = take32(c);
    y.launch = take32(c);
    y.kernel = take32(c) & 1;
    uint32_t stalls = take32(c), n = take32(c);
    if (stalls > MOST_STALLS || n > (size_t)(c->end - c->at) / (20 + 8 * (size_t)stalls)) c->bad = true;
    sim_cycles *items = c->bad ? NULL : calloc((size_t)n + 1, sizeof *items);
    devlog_status status = c->bad || items ? DEVLOG_OK : no_memory(err);
    for (uint32_t i = 0; i < n && items; i++) {
        items[i].pc = take32(c);
        items[i].count = take64(c);
        items[i].cycles = take64(c);
        for (uint32_t k = 0; k < stalls; k++) {
            uint64_t stalled = take64(c);
            if (k < SIM_STALLS) items[i].stalled[k] = stalled;
        }
        if (i && items[i].pc <= items[i - 1].pc) c->bad = true;
    }
    y.items = items;
    y.n = n;
    if (items && !c->bad && r->sink->cycles) status = r->sink->cycles(r->sink->ctx, &y, err);
    free(items);
    free(texts);
    return status;
}

static devlog_status read_host_sites(reader *r, cursor *c, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const uint32_t slot = take32(c), n = take32(c);
    for (uint32_t i = 0; i < n && !c->bad && !status; i++) {
        char *texts = text_room(c), *room = texts;
        if (!texts) return no_memory(err);
        dl_host_site site = {.number = take32(c), .line = take32(c)};
        site.name = take_text(c, &room);
        site.function = take_text(c, &room);
        site.file = take_text(c, &room);
        if (!c->bad && r->sink->host_site) status = r->sink->host_site(r->sink->ctx, slot, &site, err);
        free(texts);
    }
    return status;
}

static devlog_status read_host_records(reader *r, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_host_records records = {.slot = take32(c), .thread = take32(c)};
    records.name = take_text(c, &room);
    records.lost = take64(c);
    records.elsewhere = take64(c);
    records.bytes = (const char *)c->at;
    records.size = (size_t)(c->end - c->at);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && r->sink->host_records) status = r->sink->host_records(r->sink->ctx, &records, err);
    free(texts);
    return status;
}

static devlog_status read_end(reader *r, cursor *c, devlog_error *err)
{
    (void)err;
    uint32_t slot = take32(c);
    for (uint32_t i = 0; i < r->n_open; i++)
        if (r->open[i] == slot) {
            r->open[i] = r->open[--r->n_open];
            break;
        }
    return DEVLOG_OK;
}

static devlog_status (*const others[DL_FRAME_KINDS])(reader *, cursor *, devlog_error *) = {
    [DL_FRAME_CHIP] = read_chip,
    [DL_FRAME_ELF] = read_elf,
    [DL_FRAME_LAUNCH] = read_launch,
    [DL_FRAME_SAMPLES] = read_samples,
    [DL_FRAME_OFFSETS] = read_offsets,
    [DL_FRAME_END] = read_end,
    [DL_FRAME_CYCLES] = read_cycles,
    [DL_FRAME_VIOLATION] = read_violation,
    [DL_FRAME_HOST_SITES] = read_host_sites,
    [DL_FRAME_HOST_RECORDS] = read_host_records,
};

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
        status = others[f->kind](r, &p->payload, err);
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
}

devlog_status dl_capture_read(dl_input *in, const dl_capture_sink *sink, bool two_threads,
                              dl_capture_state *state, devlog_error *err)
{
    reader *r = calloc(1, sizeof *r);
    devlog_status status = no_memory(err);
    *state = (dl_capture_state){0};
    if (!r) return status;
    r->sink = sink;
    r->state = state;
    r->finder = (frame_finder){.in = in, .state = state, .no_cores = !sink->core};
    r->zstd = ZSTD_createDCtx();
    if (r->zstd) {
        const dl_pipeline_stages stages = {r, find_stage, unpack_stage, hand_on_stage, NULL};
        status = dl_pipeline_run(&stages, two_threads, err);
        if (!status) status = hand_on_core(r, err);
        state->closed = r->any_chip && r->n_open == 0;
    }
    for (size_t i = 0; i < DL_PIPELINE_SLOTS; i++)
        free_batch(&r->batches[i]);
    free_core(r->hand.parts);
    free(r->hand.own);
    frames_free(&r->finder);
    free(r->room);
    ZSTD_freeDCtx(r->zstd);
    free(r);
    return status;
}
