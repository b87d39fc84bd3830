/* Unpacking zstd and xz. */
#include "decode/unpack.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

enum { BLOCK = 64 * 1024, XZ_MEMORY = 1 << 30 };

struct dl_unpack {
    dl_unpack_format format;
    ZSTD_DCtx *zstd;
    lzma_stream xz;
    dl_gunzip_source *source;
    void *ctx;
    bool failed, ended; /* ended: there are no more packed bytes */
    bool between;       /* a frame has ended and no other has begun */
    const char *why;
    const unsigned char *at; /* packed bytes that are left */
    size_t left;
    unsigned char block[BLOCK];
};

dl_unpack *dl_unpack_new(dl_unpack_format format, dl_gunzip_source *source, void *ctx)
{
    dl_unpack *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->format = format;
    u->source = source;
    u->ctx = ctx;
    u->between = true;
    bool good = format == DL_UNPACK_ZSTD
                    ? (u->zstd = ZSTD_createDCtx()) != NULL
                    : lzma_stream_decoder(&u->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
    if (good) return u;
    free(u);
    return NULL;
}

void dl_unpack_free(dl_unpack *u)
{
    if (!u) return;
    ZSTD_freeDCtx(u->zstd);
    lzma_end(&u->xz);
    free(u);
}

const char *dl_unpack_why(const dl_unpack *u)
{
    return u->why;
}

static ssize_t fail(dl_unpack *u, const char *why)
{
    u->failed = true;
    u->why = why;
    return -1;
}

/* Both take what they can of the packed bytes and return how many they have made of it. */

static ssize_t step_zstd(dl_unpack *u, void *bytes, size_t cap)
{
    ZSTD_inBuffer in = {u->at, u->left, 0};
    ZSTD_outBuffer out = {bytes, cap, 0};
    if (u->ended && u->between) return 0;
    size_t r = ZSTD_decompressStream(u->zstd, &out, &in);
    if (ZSTD_isError(r)) return fail(u, ZSTD_getErrorName(r));
    u->between = r == 0;
    u->at += in.pos;
    u->left -= in.pos;
    return (ssize_t)out.pos;
}

static ssize_t step_xz(dl_unpack *u, void *bytes, size_t cap)
{
    u->xz.next_in = u->at;
    u->xz.avail_in = u->left;
    u->xz.next_out = bytes;
    u->xz.avail_out = cap;
    lzma_ret r = lzma_code(&u->xz, u->ended ? LZMA_FINISH : LZMA_RUN);
    u->at = u->xz.next_in;
    u->left = u->xz.avail_in;
    u->between = r == LZMA_STREAM_END;
    if (r != LZMA_OK && r != LZMA_STREAM_END && r != LZMA_BUF_ERROR) {
        fail(u, r == LZMA_MEMLIMIT_ERROR ? "it wants more than 1 GiB of memory" : "it is damaged");
        return u->xz.avail_out < cap ? (ssize_t)(cap - u->xz.avail_out)
                                     : -1; /* what came before the damage */
    }
    return (ssize_t)(cap - u->xz.avail_out);
}

ssize_t dl_unpack_read(dl_unpack *u, void *bytes, size_t cap)
{
    if (u->failed) return -1;
    for (;;) {
        if (!u->left && !u->ended) {
            ssize_t n = u->source(u->ctx, u->block, BLOCK);
            if (n < 0) u->failed = true;
            if (n < 0) return -1;
            u->at = u->block;
            u->left = (size_t)n;
            u->ended = n == 0;
        }
        ssize_t made = u->format == DL_UNPACK_ZSTD ? step_zstd(u, bytes, cap) : step_xz(u, bytes, cap);
        if (made) return made;
        if (u->ended && !u->left) return u->between ? 0 : fail(u, "it ends in the middle");
    }
}
