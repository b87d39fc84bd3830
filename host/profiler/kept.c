/* Keeping frames of captures in memory. See the header. */
#include "profiler/kept.h"

#include <string.h>

#include "decode/capture/capture_frame.h"

static size_t frame_bytes(const char *frame)
{
    const unsigned char *stored = (const unsigned char *)frame + 8;
    return DL_FRAME_HEADER_BYTES +
           ((size_t)stored[0] | (size_t)stored[1] << 8 | (size_t)stored[2] << 16 | (size_t)stored[3] << 24);
}

static void copy_but(dl_str *to, const char *frames, size_t n, int kind)
{
    for (size_t at = 0; at < n; at += frame_bytes(frames + at))
        if (frames[at + 4] != kind) dl_str_add_n(to, frames + at, frame_bytes(frames + at));
}

/* Chips, ELF files and offsets among the frames go into the context. */
static bool take_context(kept *k, const char *frames, size_t n)
{
    bool launch = false;
    for (size_t at = 0; at < n; at += frame_bytes(frames + at)) {
        int kind = (unsigned char)frames[at + 4];
        if (kind == DL_FRAME_CHIP) k->capture = k->context.len;
        if (kind == DL_FRAME_CHIP || kind == DL_FRAME_ELF || kind == DL_FRAME_OFFSETS)
            dl_str_add_n(&k->context, frames + at, frame_bytes(frames + at));
        launch |= kind == DL_FRAME_LAUNCH;
    }
    return launch;
}

/* All but the last launch is let go. */
static void forget(kept *k)
{
    size_t gone = k->last.from;
    if (!gone) return;
    memmove(k->frames.text, k->frames.text + gone, k->frames.len - gone);
    k->frames.len -= gone;
    k->last.from -= gone;
    k->last.to -= gone;
}

devlog_status kept_take(kept *k, const char *frames, size_t n, devlog_error *err)
{
    if (k->keep == DEVLOG_KEEP_NONE || n == 0) return DEVLOG_OK;
    if (n >= DL_CAPTURE_MAGIC_BYTES && memcmp(frames, DL_CAPTURE_MAGIC, DL_CAPTURE_MAGIC_BYTES) == 0) {
        frames += DL_CAPTURE_MAGIC_BYTES;
        n -= DL_CAPTURE_MAGIC_BYTES;
    }
    bool launch = take_context(k, frames, n);
    if (launch && k->keep == DEVLOG_KEEP_LATEST) forget(k);
    size_t from = k->frames.len;
    if (launch || k->keep == DEVLOG_KEEP_ALL) copy_but(&k->frames, frames, n, DL_FRAME_END);
    if (launch) {
        k->before = k->last;
        k->last = (kept_launch){from, k->frames.len, k->capture, k->context.len};
    }
    devlog_status status = dl_str_status(&k->context, err);
    return status ? status : dl_str_status(&k->frames, err);
}

static void add_context(const kept *k, const kept_launch *l, dl_str *out)
{
    dl_str_add_n(out, k->context.text + l->context_from, l->context_to - l->context_from);
}

static void add_launch(const kept *k, const kept_launch *l, dl_str *out)
{
    copy_but(out, k->frames.text + l->from, l->to - l->from, DL_FRAME_SAMPLES);
}

devlog_status kept_capture(const kept *k, kept_which which, uint32_t slot, dl_str *out, devlog_error *err)
{
    dl_capture *end;
    dl_str_clear(out);
    if (k->last.from == k->last.to) return DEVLOG_OK;
    dl_str_add_n(out, DL_CAPTURE_MAGIC, DL_CAPTURE_MAGIC_BYTES);
    if (which == KEPT_ALL) {
        dl_str_add_n(out, k->frames.text, k->frames.len);
    } else {
        bool two = which == KEPT_LATEST_TWO && k->before.from != k->before.to;
        bool moved = two && k->before.context_from != k->last.context_from;
        if (moved) add_context(k, &k->before, out);
        if (moved) add_launch(k, &k->before, out);
        add_context(k, &k->last, out);
        if (two && !moved) add_launch(k, &k->before, out);
        add_launch(k, &k->last, out);
    }
    /* Nothing is missing behind it. */
    devlog_status status = dl_capture_open(&end, NULL, NULL, false, err);
    if (status) return status;
    status = dl_capture_put_end(end, slot, err);
    if (!status) dl_str_add_n(out, dl_capture_hand(end)->text, dl_capture_hand(end)->len);
    dl_capture_close(end);
    return status ? status : dl_str_status(out, err);
}

void kept_free(kept *k)
{
    dl_str_free(&k->context);
    dl_str_free(&k->frames);
}
