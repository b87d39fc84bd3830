/* Reading captures: frames found and checked, payloads taken apart. The format is in capture.h. Nothing that
 * a file says is believed before it has been compared with what is there. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#include <zstd.h>

#include "decode/capture/capture_cursor.h"
#include "decode/capture/capture_frame.h"
#include "decode/capture/capture_words.h"

enum {
    BUFFER = 2 * (DL_FRAME_MAX + DL_FRAME_HEADER_BYTES),
    MAX_RISCS = 64,
    MAX_SPANS = 64,
    MAX_CORE_WORDS = 128 * 1024 * 1024,
    MAX_CHIPS = 64,
    /* A file made to waste time has frames that all fail their check: so many bytes are checked in vain
     * before the rest is given up, over and above a multiple of what has been read. */
    VAIN_BYTES = 256 * 1024 * 1024,
    VAIN_TIMES = 16,
};

typedef struct core_in_hand {
    bool any;
    dl_capture_core core;
    dl_capture_risc riscs[MAX_RISCS];
    char *names; /* of the RISCs, one after the other */
    record_span *spans;
    uint32_t *words;
    size_t n_words, cap_words, expected;
} core_in_hand;

typedef struct reader {
    dl_input *in;
    const dl_capture_sink *sink;
    dl_capture_state *state;
    devlog_error *err;
    /* All of them are as large as they had to be so far: most captures are small. */
    uint8_t *buffer;
    size_t have, cap;  /* bytes in the buffer, and its size */
    uint64_t position; /* of the buffer's first byte in the input */
    bool ended;
    uint8_t *unpacked;
    uint32_t *room;                /* for putting words together */
    size_t cap_unpacked, cap_room; /* bytes */
    ZSTD_DCtx *zstd;
    core_in_hand hand;
    uint32_t open[MAX_CHIPS], n_open; /* slots of chips that have not ended */
    bool any_chip;
    uint64_t vain; /* bytes whose check was wrong */
} reader;

/* Makes room for so many bytes; what was there is kept only by a buffer that grows. */
static bool reserve(void *buffer, size_t *cap, size_t need)
{
    enum { LEAST = 16 * 1024 };
    if (need <= *cap) return true;
    size_t grown = *cap ? *cap : LEAST;
    while (grown < need)
        grown *= 2;
    void *old, *bigger;
    memcpy(&old, buffer, sizeof old);
    bigger = realloc(old, grown);
    if (!bigger) return false;
    memcpy(buffer, &bigger, sizeof bigger);
    *cap = grown;
    return true;
}

bool dl_capture_is(const void *bytes, size_t n)
{
    return n >= DL_CAPTURE_MAGIC_BYTES && memcmp(bytes, DL_CAPTURE_MAGIC, DL_CAPTURE_MAGIC_BYTES) == 0;
}

/* Room for all texts of a payload: each has a length of four bytes, which makes place for its NUL. */
static char *text_room(const cursor *c)
{
    return malloc((size_t)(c->end - c->at) + 1);
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}

/* ---- Kinds of frames ----------------------------------------------------------------------------- */

static devlog_status read_chip(reader *r, cursor *c)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(r->err);
    dl_capture_chip chip = {.slot = take32(c), .max_cores = take32(c)};
    chip.freq_khz = take64(c);
    chip.together = take32(c);
    chip.arch = take_text(c, &room);
    chip.board = take_text(c, &room);
    chip.transport = take_text(c, &room);
    chip.boot = take_text(c, &room);
    if (c->end - c->at >= 8) chip.run = take64(c);
    devlog_status status = DEVLOG_OK;
    if (!c->bad) {
        uint32_t i = 0;
        r->any_chip = true;
        while (i < r->n_open && r->open[i] != chip.slot)
            i++;
        if (i == r->n_open && i < MAX_CHIPS) r->open[r->n_open++] = chip.slot;
        if (r->sink->chip) status = r->sink->chip(r->sink->ctx, &chip, r->err);
    }
    free(texts);
    return status;
}

static devlog_status read_elf(reader *r, cursor *c)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(r->err);
    dl_capture_elf elf = {.slot = take32(c), .number = take32(c)};
    elf.path = take_text(c, &room);
    elf.source = take_text(c, &room);
    elf.build_id_size = take32(c);
    elf.build_id = take(c, elf.build_id_size);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && r->sink->elf) status = r->sink->elf(r->sink->ctx, &elf, r->err);
    free(texts);
    return status;
}

static devlog_status read_launch(reader *r, cursor *c)
{
    dl_capture_launch launch = {.slot = take32(c), .number = take32(c), .op = take32(c)};
    launch.call_start = take64(c);
    launch.call_end = take64(c);
    launch.pull_start = take64(c);
    launch.pull_end = take64(c);
    if (c->bad || !r->sink->launch) return DEVLOG_OK;
    return r->sink->launch(r->sink->ctx, &launch, r->err);
}

static devlog_status make_room(reader *r, size_t n)
{
    core_in_hand *h = &r->hand;
    if (h->words && h->n_words + n <= h->cap_words) return DEVLOG_OK;
    size_t cap = h->cap_words ? h->cap_words : 1024;
    while (cap < h->n_words + n)
        cap *= 2;
    uint32_t *bigger = realloc(h->words, cap * 4);
    if (!bigger) return no_memory(r->err);
    h->words = bigger;
    h->cap_words = cap;
    return DEVLOG_OK;
}

static devlog_status add_words(reader *r, cursor *c)
{
    core_in_hand *h = &r->hand;
    bool sorted = c->version >= 2;
    size_t size = (size_t)(c->end - c->at), n = sorted ? dl_words_count(c->at, size) : size / 4;
    if (n > h->expected - h->n_words) {
        c->bad = true;
        n = sorted ? 0 : h->expected - h->n_words;
    }
    devlog_status status = make_room(r, n);
    if (status) return status;
    if (sorted) {
        if (!c->bad && !reserve(&r->room, &r->cap_room, 8 * n + 8)) return no_memory(r->err);
        if (!c->bad && !dl_words_join(c->at, h->words + h->n_words, n, r->room)) c->bad = true;
        if (!c->bad) h->n_words += n;
        return DEVLOG_OK;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (n) memcpy(h->words + h->n_words, c->at, n * 4);
#else
    for (size_t i = 0; i < n; i++)
        h->words[h->n_words + i] = le32(c->at + 4 * i);
#endif
    h->n_words += n;
    return DEVLOG_OK;
}

static void forget_core(core_in_hand *h)
{
    free(h->names);
    free(h->spans);
    h->names = NULL;
    h->spans = NULL;
    h->any = false;
    h->n_words = h->expected = 0;
}

/* The core in hand is complete, or will never be. */
static devlog_status hand_on_core(reader *r)
{
    core_in_hand *h = &r->hand;
    if (!h->any) return DEVLOG_OK;
    size_t at = 0;
    if (h->core.n_events > h->n_words) h->core.n_events = (uint32_t)h->n_words;
    h->core.events = h->words;
    at += h->core.n_events;
    record_span *span = h->spans;
    for (uint32_t i = 0; i < h->core.n_riscs; i++) {
        dl_capture_risc *risc = &h->riscs[i];
        risc->spans = span;
        for (uint32_t s = 0; s < risc->n_spans; s++, span++) {
            size_t here = h->n_words - at < span->n ? h->n_words - at : span->n;
            risc->missing += span->n - here;
            span->words = h->words + at;
            span->n = (uint32_t)here;
            at += here;
        }
    }
    devlog_status status = r->sink->core ? r->sink->core(r->sink->ctx, &h->core, r->err) : DEVLOG_OK;
    forget_core(h);
    return status;
}

static devlog_status read_core(reader *r, cursor *c)
{
    core_in_hand *h = &r->hand;
    h->names = text_room(c);
    h->spans = malloc(sizeof *h->spans * ((size_t)(c->end - c->at) / 4 + 1));
    if (!h->names || !h->spans) {
        forget_core(h);
        return no_memory(r->err);
    }
    char *room = h->names;
    record_span *span = h->spans;
    h->core = (dl_capture_core){.slot = take32(c), .riscs = h->riscs};
    uint32_t xy = take32(c);
    h->core.x = (uint16_t)xy;
    h->core.y = (uint16_t)(xy >> 16);
    h->core.events_from = take64(c);
    h->core.n_events = take32(c);
    h->core.n_riscs = take32(c);
    uint64_t expected = h->core.n_events;
    if (h->core.n_riscs > MAX_RISCS) c->bad = true;
    for (uint32_t i = 0; i < h->core.n_riscs && !c->bad; i++) {
        dl_capture_risc *risc = &h->riscs[i];
        *risc = (dl_capture_risc){.name = take_text(c, &room)};
        risc->index = take32(c);
        risc->elf = take32(c);
        uint32_t n = take32(c);
        const uint8_t *words = take(c, (size_t)n * 4);
        uint32_t *to = (uint32_t *)&risc->control;
        for (uint32_t w = 0; words && w < n && w < DL_CONTROL_WORDS; w++)
            to[w] = le32(words + 4 * w);
        risc->n_spans = take32(c);
        if (risc->n_spans > MAX_SPANS) c->bad = true;
        for (uint32_t s = 0; s < risc->n_spans && !c->bad; s++, span++) {
            *span = (record_span){.n = take32(c)};
            expected += span->n;
        }
    }
    if (expected > MAX_CORE_WORDS) c->bad = true;
    if (c->bad) {
        forget_core(h);
        return DEVLOG_OK;
    }
    h->any = true;
    h->expected = (size_t)expected;
    return add_words(r, c);
}

static devlog_status read_words(reader *r, cursor *c)
{
    if (!r->hand.any) { /* the frame that says whose they are is damaged */
        c->bad = true;
        return DEVLOG_OK;
    }
    return add_words(r, c);
}

static devlog_status read_samples(reader *r, cursor *c)
{
    dl_clock_samples s = {.slot = take32(c), .peer = take32(c)};
    uint32_t n = take32(c);
    if (n > (size_t)(c->end - c->at) / 28) c->bad = true;
    if (c->bad || n == 0) return DEVLOG_OK;
    dl_clock_sample *items = malloc(n * sizeof *items);
    if (!items) return no_memory(r->err);
    for (uint32_t i = 0; i < n; i++) {
        items[i].before = take64(c);
        items[i].after = take64(c);
        items[i].cycles = take64(c);
        items[i].burst = take32(c);
    }
    s.items = items;
    s.n = n;
    devlog_status status = r->sink->samples ? r->sink->samples(r->sink->ctx, &s, r->err) : DEVLOG_OK;
    free(items);
    return status;
}

static devlog_status read_offsets(reader *r, cursor *c)
{
    dl_clock_offsets o = {.slot = take32(c)};
    uint32_t xy = take32(c), n = take32(c);
    o.reference_x = (uint16_t)xy;
    o.reference_y = (uint16_t)(xy >> 16);
    if (n > (size_t)(c->end - c->at) / 24) c->bad = true;
    if (c->bad) return DEVLOG_OK;
    dl_clock_offset *items = malloc((n + 1) * sizeof *items);
    if (!items) return no_memory(r->err);
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
    devlog_status status = r->sink->offsets ? r->sink->offsets(r->sink->ctx, &o, r->err) : DEVLOG_OK;
    free(items);
    return status;
}

static devlog_status read_end(reader *r, cursor *c)
{
    uint32_t slot = take32(c);
    for (uint32_t i = 0; i < r->n_open; i++)
        if (r->open[i] == slot) {
            r->open[i] = r->open[--r->n_open];
            break;
        }
    return DEVLOG_OK;
}

static devlog_status (*const kinds[DL_FRAME_KINDS])(reader *, cursor *) = {
    [DL_FRAME_CHIP] = read_chip,       [DL_FRAME_ELF] = read_elf,     [DL_FRAME_LAUNCH] = read_launch,
    [DL_FRAME_CORE] = read_core,       [DL_FRAME_WORDS] = read_words, [DL_FRAME_SAMPLES] = read_samples,
    [DL_FRAME_OFFSETS] = read_offsets, [DL_FRAME_END] = read_end,
};

/* ---- Frames ---------------------------------------------------------------------------------------- */

static devlog_status read_frame(reader *r, const uint8_t *header)
{
    const uint8_t *stored = header + DL_FRAME_HEADER_BYTES;
    uint32_t n = le32(header + 8), size = le32(header + 12);
    uint8_t kind = header[4];
    r->state->frames++;
    if (kind != DL_FRAME_WORDS) {
        devlog_status status = hand_on_core(r);
        if (status) return status;
    }
    if (kind == 0 || kind >= DL_FRAME_KINDS || header[5] > dl_frame_version(kind)) {
        r->state->unknown++;
        return DEVLOG_OK;
    }
    if ((kind == DL_FRAME_CORE || kind == DL_FRAME_WORDS) && !r->sink->core) return DEVLOG_OK;
    cursor c = {stored, stored + n, false, header[5]};
    if (header[6]) {
        if (!reserve(&r->unpacked, &r->cap_unpacked, size + 1u)) return no_memory(r->err);
        size_t got = ZSTD_decompressDCtx(r->zstd, r->unpacked, size, stored, n);
        if (ZSTD_isError(got) || got != size) {
            r->state->malformed++;
            return DEVLOG_OK;
        }
        c = (cursor){r->unpacked, r->unpacked + got, false, header[5]};
    }
    devlog_status status = kinds[kind](r, &c);
    if (c.bad) r->state->malformed++;
    if (!status && r->sink->frame) r->sink->frame(r->sink->ctx, r->state->frames);
    return status;
}

static devlog_status fill(reader *r, size_t at)
{
    if (r->have > at) memmove(r->buffer, r->buffer + at, r->have - at);
    r->have -= at;
    r->position += at;
    while (r->have < BUFFER && !r->ended) {
        size_t got = 0;
        if (!reserve(&r->buffer, &r->cap, r->have + 1)) return no_memory(r->err);
        size_t room = (r->cap < BUFFER ? r->cap : BUFFER) - r->have;
        if (dl_input_read(r->in, r->buffer + r->have, room, &got, &r->state->why) != DEVLOG_OK) {
            r->state->stopped = true;
            got = 0;
        }
        if (got == 0) r->ended = true;
        r->have += got;
    }
    return DEVLOG_OK;
}

typedef enum found { FRAME, NOT_A_FRAME, NEEDS_MORE } found;

static found look(reader *r, size_t at, size_t *length)
{
    static const uint8_t magic[4] = {'D', 'L', 'F', '1'};
    const uint8_t *p = r->buffer + at;
    size_t left = r->have - at;
    if (memcmp(p, magic, left < 4 ? left : 4) != 0) return NOT_A_FRAME;
    if (left < DL_FRAME_HEADER_BYTES) return NEEDS_MORE;
    uint32_t stored = le32(p + 8), size = le32(p + 12);
    if (stored > DL_FRAME_MAX || size > DL_FRAME_MAX || p[6] > 1 || p[7] || (!p[6] && stored != size))
        return NOT_A_FRAME;
    *length = DL_FRAME_HEADER_BYTES + stored;
    if (left < *length) return NEEDS_MORE;
    uint64_t check = le32(p + 16) | (uint64_t)le32(p + 20) << 32;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return FRAME;
#endif
    if (XXH64(p + DL_FRAME_HEADER_BYTES, stored, XXH64(p, 16, 0)) == check) return FRAME;
    r->vain += stored;
    return NOT_A_FRAME;
}

/* How far it is from here to the next byte that a frame, or a capture, may begin with. */
static size_t to_next(const reader *r, size_t at)
{
    const uint8_t *from = r->buffer + at + 1, *end = r->buffer + r->have;
    const uint8_t *next = from < end ? memchr(from, 'D', (size_t)(end - from)) : NULL;
    return (size_t)((next ? next : end) - (r->buffer + at));
}

static void damaged(reader *r, size_t at, size_t n)
{
    if (r->state->damaged_bytes == 0) r->state->damaged_at = r->position + at;
    r->state->damaged_bytes += n;
}

static devlog_status read_frames(reader *r)
{
    size_t at = 0;
    for (;;) {
        if (r->have - at < DL_FRAME_MAX + DL_FRAME_HEADER_BYTES && !r->ended) {
            devlog_status status = fill(r, at);
            if (status) return status;
            at = 0;
        }
        if (at == r->have) return DEVLOG_OK;
        if (r->vain > VAIN_BYTES + VAIN_TIMES * (r->position + at)) {
            r->state->stopped = true;
            dl_fail(&r->state->why, DEVLOG_ERR_FORMAT,
                    "too much of it is damaged to go on looking for what is whole");
            return DEVLOG_OK;
        }
        size_t length = 0;
        switch (look(r, at, &length)) {
        case FRAME: {
            devlog_status status = read_frame(r, r->buffer + at);
            if (status) return status;
            at += length;
            break;
        }
        case NEEDS_MORE: /* the buffer holds the longest frame, so this is the end of the input */
        {
            /* Unless a whole frame follows, the last one is cut; otherwise this was not one. */
            size_t next = at + 1;
            while (next < r->have && look(r, next, &length) != FRAME)
                next += to_next(r, next);
            if (next >= r->have) {
                r->state->cut_bytes += r->have - at;
                return DEVLOG_OK;
            }
            damaged(r, at, next - at);
            at = next;
            break;
        }
        case NOT_A_FRAME:
            if (dl_capture_is(r->buffer + at, r->have - at)) {
                at += DL_CAPTURE_MAGIC_BYTES;
                break;
            }
            length = to_next(r, at);
            damaged(r, at, length);
            at += length;
            break;
        }
    }
}

devlog_status dl_capture_read(dl_input *in, const dl_capture_sink *sink, dl_capture_state *state,
                              devlog_error *err)
{
    reader *r = calloc(1, sizeof *r);
    devlog_status status = no_memory(err);
    *state = (dl_capture_state){0};
    if (!r) return status;
    r->in = in;
    r->sink = sink;
    r->state = state;
    r->err = err;
    r->zstd = ZSTD_createDCtx();
    if (r->zstd) {
        status = read_frames(r);
        if (!status) status = hand_on_core(r);
        state->closed = r->any_chip && r->n_open == 0;
    }
    forget_core(&r->hand);
    free(r->hand.words);
    free(r->buffer);
    free(r->unpacked);
    free(r->room);
    ZSTD_freeDCtx(r->zstd);
    free(r);
    return status;
}
