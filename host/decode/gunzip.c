/* Unpacking gzip. */
#include "decode/gunzip.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum { BLOCK = 64 * 1024 };

struct dl_gunzip {
    z_stream z;
    dl_gunzip_source *source;
    void *ctx;
    bool failed, between; /* between: a member has ended and no other has begun */
    const char *why;
    unsigned char block[BLOCK];
};

dl_gunzip *dl_gunzip_new(dl_gunzip_source *source, void *ctx)
{
    dl_gunzip *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->source = source;
    g->ctx = ctx;
    if (inflateInit2(&g->z, 15 + 16) == Z_OK) return g; /* 16: gzip, with its checksum */
    free(g);
    return NULL;
}

void dl_gunzip_free(dl_gunzip *g)
{
    if (!g) return;
    inflateEnd(&g->z);
    free(g);
}

const char *dl_gunzip_why(const dl_gunzip *g)
{
    return g->why;
}

static ssize_t fail(dl_gunzip *g, const char *why)
{
    g->failed = true;
    g->why = why;
    return -1;
}

/* More packed bytes: 1, 0 at the end, -1. */
static int fill(dl_gunzip *g)
{
    if (g->z.avail_in) return 1;
    ssize_t n = g->source(g->ctx, g->block, BLOCK);
    if (n < 0) g->failed = true;
    if (n <= 0) return (int)n;
    g->z.next_in = g->block;
    g->z.avail_in = (uInt)n;
    return 1;
}

/* Behind a member: another one, zeros up to the end (tapes have them), or damage. As fill. */
static int next_member(dl_gunzip *g)
{
    int more = fill(g);
    for (; more > 0 && *g->z.next_in == 0; more = fill(g)) {
        g->z.next_in++;
        g->z.avail_in--;
    }
    if (more <= 0) return more;
    if (*g->z.next_in != 0x1F || inflateReset(&g->z) != Z_OK)
        return (int)fail(g, "what follows the end of its gzip part is no gzip");
    g->between = false;
    return 1;
}

ssize_t dl_gunzip_read(dl_gunzip *g, void *bytes, size_t cap)
{
    const uInt room = cap < INT_MAX ? (uInt)cap : INT_MAX;
    if (g->failed) return -1;
    g->z.next_out = bytes;
    g->z.avail_out = room;
    while (g->z.avail_out == room && room) {
        int more = g->between ? next_member(g) : fill(g);
        if (more < 0) return -1;
        if (more == 0) return g->between ? 0 : fail(g, "it ends in the middle");
        int r = inflate(&g->z, Z_NO_FLUSH);
        if (r == Z_STREAM_END)
            g->between = true;
        else if (r != Z_OK && r != Z_BUF_ERROR) {
            const char *why = g->z.msg ? g->z.msg : "it is damaged";
            /* What came before the damage is handed out first. */
            fail(g, why);
            return g->z.avail_out < room ? (ssize_t)(room - g->z.avail_out) : -1;
        }
    }
    return (ssize_t)(room - g->z.avail_out);
}
