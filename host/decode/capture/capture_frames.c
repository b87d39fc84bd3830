/* Frames of a capture as they stand in an input. Nothing that a file says is believed before it has been
 * compared with what is there. */
#include "decode/capture/capture_frames.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "decode/capture/capture_cursor.h"

enum {
    FRAME_MOST = DL_FRAME_MAX + DL_FRAME_HEADER_BYTES,
    BUFFER = 2 * FRAME_MOST,
    LEAST_LEFT = 1024,  /* bytes: whatever a frame or a capture begins with */
    PIECE = 128 * 1024, /* bytes read at a time: they are still in the cache when they are looked at */
    BATCH = 256 * 1024, /* bytes of frames, stored and unpacked; at least one frame */
    /* A file made to waste time has frames that all fail their check: so many bytes are checked in vain
     * before the rest is given up, over and above a multiple of what has been read. */
    VAIN_BYTES = 256 * 1024 * 1024,
    VAIN_TIMES = 16,
};

bool frame_reserve(void *buffer, size_t *cap, size_t need)
{
    enum { LEAST = 16 * 1024 };
    if (*cap && need <= *cap) return true; /* room for nothing has a place too */
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

void frames_free(frame_finder *f)
{
    free(f->buffer);
}

void frame_batch_free(frame_batch *b)
{
    free(b->bytes);
    free(b->items);
}

/* Moves what is left to the front and fills the buffer up to so much. It is as large as it had to be so far: most
 * captures are small. */
static bool fill(frame_finder *f, size_t most)
{
    f->have -= f->at;
    if (f->at && f->have) memmove(f->buffer, f->buffer + f->at, f->have);
    f->position += f->at;
    f->at = 0;
    while (f->have < most && !f->ended) {
        size_t got = 0;
        if (!frame_reserve(&f->buffer, &f->cap, f->have + 1)) return false;
        size_t room = (f->cap < most ? f->cap : most) - f->have;
        if (dl_input_read(f->in, f->buffer + f->have, room, &got, &f->state->why) != DEVLOG_OK) {
            f->state->stopped = true;
            got = 0;
        }
        if (got == 0) f->ended = true;
        f->have += got;
    }
    return true;
}

typedef enum found { FRAME, NOT_A_FRAME, NEEDS_MORE } found;

static bool has_magic(const uint8_t *p)
{
    return le32(p) == DL_FRAME_MAGIC;
}

static found look(frame_finder *f, size_t at, size_t *length)
{
    static const uint8_t magic[4] = {'D', 'L', 'F', '1'};
    const uint8_t *p = f->buffer + at;
    size_t left = f->have - at;
    if (memcmp(p, magic, left < 4 ? left : 4) != 0) return NOT_A_FRAME;
    if (left < DL_FRAME_HEADER_BYTES) return NEEDS_MORE;
    uint32_t stored = le32(p + 8), size = le32(p + 12);
    if (stored > DL_FRAME_MAX || size > DL_FRAME_MAX || p[6] > 1 || p[7] || (!p[6] && stored != size))
        return NOT_A_FRAME;
    *length = DL_FRAME_HEADER_BYTES + stored;
    if (left < *length) return NEEDS_MORE;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return FRAME;
#endif
    /* What nobody wants need not be whole, if only the next frame is where this one says. */
    const bool unwanted = f->no_cores && frame_has_words(p[4]);
    if (unwanted && left < *length + 4 && !f->ended) return NEEDS_MORE;
    if (unwanted && left >= *length + 4 && has_magic(p + *length)) return FRAME;
    uint64_t check = le32(p + 16) | (uint64_t)le32(p + 20) << 32;
    if (XXH64(p + DL_FRAME_HEADER_BYTES, stored, XXH64(p, 16, 0)) == check) return FRAME;
    f->vain += stored;
    return NOT_A_FRAME;
}

/* How far it is from here to the next byte that a frame, or a capture, may begin with. */
static size_t to_next(const frame_finder *f, size_t at)
{
    const uint8_t *from = f->buffer + at + 1, *end = f->buffer + f->have;
    const uint8_t *next = from < end ? memchr(from, 'D', (size_t)(end - from)) : NULL;
    return (size_t)((next ? next : end) - (f->buffer + at));
}

static void damaged(frame_finder *f, size_t n)
{
    if (f->state->damaged_bytes == 0) f->state->damaged_at = f->position + f->at;
    f->state->damaged_bytes += n;
    f->at += n;
}

static bool add(frame_finder *f, frame_batch *b, size_t length)
{
    const uint8_t *p = f->buffer + f->at;
    found_frame frame = {.number = ++f->state->frames,
                         .at = b->n,
                         .stored = le32(p + 8),
                         .size = le32(p + 12),
                         .kind = p[4],
                         .version = p[5],
                         .packed = p[6] != 0};
    if (f->sink->stands) {
        const dl_capture_standing standing = {frame.number, f->position + f->at, p, length, frame.kind};
        f->sink->stands(f->sink->ctx, &standing);
    }
    f->at += length;
    if (f->no_cores && frame_has_words(frame.kind)) return true;
    if (!frame_reserve(&b->bytes, &b->cap, b->n + frame.stored) ||
        !frame_reserve(&b->items, &b->cap_items, (b->count + 1) * sizeof *b->items))
        return false;
    memcpy(b->bytes + b->n, p + DL_FRAME_HEADER_BYTES, frame.stored);
    b->n += frame.stored;
    b->items[b->count++] = frame;
    return true;
}

static bool next(frame_finder *f, frame_batch *b, bool *last)
{
    size_t unpacked = 0, length = 0, behind;
    b->n = b->count = 0;
    while (b->n + unpacked < BATCH) {
        if (f->have - f->at < LEAST_LEFT && !f->ended && !fill(f, PIECE)) return false;
        *last = true;
        if (f->at == f->have) return true;
        if (f->vain > VAIN_BYTES + VAIN_TIMES * (f->position + f->at)) {
            f->state->stopped = true;
            dl_fail(&f->state->why, DEVLOG_ERR_FORMAT,
                    "too much of it is damaged to go on looking for what is whole");
            return true;
        }
        found what = look(f, f->at, &length);
        for (size_t most = PIECE; what == NEEDS_MORE && !f->ended && most <= BUFFER; most += BUFFER - PIECE) {
            if (!fill(f, most)) return false;
            what = look(f, f->at, &length);
        }
        switch (what) {
        case FRAME:
            unpacked += le32(f->buffer + f->at + 12);
            if (!add(f, b, length)) return false;
            break;
        case NEEDS_MORE: /* the buffer holds the longest frame, so this is the end of the input */
            /* Unless a whole frame follows, the last one is cut; otherwise this was not one. */
            behind = f->at + 1;
            while (behind < f->have && look(f, behind, &length) != FRAME)
                behind += to_next(f, behind);
            if (behind >= f->have) {
                f->state->cut_bytes += f->have - f->at;
                return true;
            }
            damaged(f, behind - f->at);
            break;
        case NOT_A_FRAME:
            if (dl_capture_is(f->buffer + f->at, f->have - f->at))
                f->at += DL_CAPTURE_MAGIC_BYTES;
            else
                damaged(f, to_next(f, f->at));
            break;
        }
        *last = false;
    }
    return true;
}

devlog_status frames_next(frame_finder *f, frame_batch *b, bool *last, devlog_error *err)
{
    bool good = next(f, b, last);
    b->taken = dl_input_taken(f->in);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}
