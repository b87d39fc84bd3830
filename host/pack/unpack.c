/* Unpacking a packed log as a stream. See pack/unpack.h. */
#include "pack/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "pack/audit.h"

struct pk_unpack {
    pk_reader *reader;
    pk_unpacker *unpacker;
    pk_audit audit;
    char *text;
    size_t n, at, cap;
    bool ended, failed;
    char why[PK_FINDING + 64];
};

bool pk_is_packed(const void *bytes, size_t n)
{
    return n >= PK_MAGIC_BYTES && memcmp(bytes, PK_MAGIC, PK_MAGIC_BYTES) == 0;
}

const char *pk_unpack_block(pk_unpacker *u, const pk_header *h, const uint8_t *stored, char *text)
{
    const char *why = pk_unpacker_block(u, stored, h->stored, h->plain, text, h->size);
    if (why) return why;
    return XXH64(text, h->size, 0) == h->text_check ? NULL : "its text has another checksum";
}

/* The first finding is told. */
static void on_found(void *ctx, const char *text)
{
    pk_unpack *u = ctx;
    if (!u->why[0]) snprintf(u->why, sizeof u->why, "%s", text);
}

pk_unpack *pk_unpack_new(pk_source *source, void *ctx)
{
    pk_unpack *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->reader = pk_reader_new(source, ctx);
    u->unpacker = pk_unpacker_new();
    const bool audited = pk_audit_begin(&u->audit, on_found, u);
    if (u->reader && u->unpacker && audited) return u;
    pk_unpack_free(u);
    return NULL;
}

void pk_unpack_free(pk_unpack *u)
{
    if (!u) return;
    pk_reader_free(u->reader);
    pk_unpacker_free(u->unpacker);
    pk_audit_free(&u->audit);
    free(u->text);
    free(u);
}

const char *pk_unpack_why(const pk_unpack *u)
{
    return u->why[0] ? u->why : NULL;
}

/* The text of the next good block: 1, 0 at the end, -1 when the source fails. */
static int next_block(pk_unpack *u)
{
    pk_frame frame;
    for (;;) {
        int there = pk_reader_next(u->reader, &frame);
        if (there < 0) return -1;
        if (there == 0) {
            pk_audit_end(&u->audit, frame.skipped);
            return 0;
        }
        if (!pk_audit_frame(&u->audit, &frame)) continue;
        const size_t size = frame.header.size + PK_LONGEST_ROW;
        if (size > u->cap) {
            free(u->text);
            u->text = malloc(size);
            u->cap = u->text ? size : 0;
            if (!u->text) return -1;
        }
        const char *why = pk_unpack_block(u->unpacker, &frame.header, frame.stored, u->text);
        pk_audit_text(&u->audit, &frame.header, frame.offset, why);
        if (why || !frame.header.size) continue;
        u->n = frame.header.size;
        u->at = 0;
        return 1;
    }
}

static void add_how_many(pk_unpack *u)
{
    const size_t n = strlen(u->why);
    if (u->audit.findings > 1 && n < sizeof u->why)
        snprintf(u->why + n, sizeof u->why - n, " (and %" PRIu64 " more: devlog unpack names them)",
                 u->audit.findings - 1);
}

ssize_t pk_unpack_read(pk_unpack *u, void *bytes, size_t cap)
{
    if (u->failed) return -1;
    if (u->at == u->n && !u->ended) {
        int there = next_block(u);
        u->ended = there == 0;
        u->failed = there < 0 || (u->ended && u->audit.findings);
        if (u->failed) {
            if (there < 0) u->why[0] = 0;
            add_how_many(u);
            return -1;
        }
    }
    if (u->ended) return 0;
    const size_t left = u->n - u->at, n = left < cap ? left : cap;
    memcpy(bytes, u->text + u->at, n);
    u->at += n;
    return (ssize_t)n;
}
