/* Frames of a capture as they stand in an input: found and checked, a batch at a time. The format is in
 * capture.h. Not for what is in them (capture_read.c). */
#ifndef DEVLOG_DECODE_CAPTURE_FRAMES_H
#define DEVLOG_DECODE_CAPTURE_FRAMES_H

#include "decode/capture/capture_frame.h"

typedef struct found_frame {
    uint64_t number; /* in the input, from 1 */
    size_t at;       /* of its stored bytes in the batch */
    uint32_t stored, size;
    uint8_t kind, version;
    bool packed;
} found_frame;

typedef struct frame_batch {
    uint8_t *bytes;
    size_t n, cap;
    found_frame *items;
    size_t count, cap_items; /* cap_items in bytes */
    uint64_t taken;          /* bytes of the input so far, for progress */
} frame_batch;

typedef struct frame_finder {
    dl_input *in;
    dl_capture_state *state;
    const dl_capture_sink *sink; /* which hears of all that is found */
    bool no_cores;               /* frames of cores and their words are left out */
    uint8_t *buffer;
    size_t at, have, cap; /* where the next frame is looked for, bytes in the buffer, and its size */
    uint64_t position;    /* of the buffer's first byte in the input */
    uint64_t vain;        /* bytes whose check was wrong */
    bool ended;
} frame_finder;

/* Fills a batch with the next frames; *last: there are no more behind them. What is not a frame is counted in
 * the finder's state; fails only for lack of memory. */
devlog_status frames_next(frame_finder *f, frame_batch *b, bool *last, devlog_error *err);
void frames_free(frame_finder *f);
void frame_batch_free(frame_batch *b);

/* Makes room for so many bytes; what was there is kept. `buffer` is the address of a pointer. */
bool frame_reserve(void *buffer, size_t *cap, size_t need);

static inline bool frame_has_words(uint8_t kind)
{
    return kind == DL_FRAME_CORE || kind == DL_FRAME_WORDS;
}

#endif
