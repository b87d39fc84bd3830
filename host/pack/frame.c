/* The frames of a packed log. See pack/frame.h. */
#include "pack/frame.h"

#include <stdlib.h>
#include <xxhash.h>

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void pk_put64(uint8_t *to, uint64_t value)
{
    put32(to, (uint32_t)value);
    put32(to + 4, (uint32_t)(value >> 32));
}

uint64_t pk_get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static const char frame_magic[4] = {'D', 'L', 'P', '1'};

static uint64_t check_of(const uint8_t bytes[PK_HEADER_BYTES], const uint8_t *stored, size_t n)
{
    return XXH64(stored, n, XXH64(bytes, PK_HEADER_BYTES - 8, 0));
}

void pk_header_put(uint8_t out[PK_HEADER_BYTES], pk_header *h, const uint8_t *stored)
{
    memcpy(out, frame_magic, 4);
    out[4] = h->kind;
    out[5] = h->version;
    out[6] = h->plain;
    out[7] = 0;
    put32(out + 8, h->stored);
    put32(out + 12, h->size);
    pk_put64(out + 16, h->id);
    pk_put64(out + 24, h->at);
    pk_put64(out + 32, h->text_check);
    h->check = check_of(out, stored, h->stored);
    pk_put64(out + 40, h->check);
}

bool pk_header_get(const uint8_t bytes[PK_HEADER_BYTES], pk_header *h)
{
    *h = (pk_header){.kind = bytes[4],
                     .version = bytes[5],
                     .plain = bytes[6] & 1,
                     .stored = get32(bytes + 8),
                     .size = get32(bytes + 12),
                     .id = pk_get64(bytes + 16),
                     .at = pk_get64(bytes + 24),
                     .text_check = pk_get64(bytes + 32),
                     .check = pk_get64(bytes + 40)};
    return memcmp(bytes, frame_magic, 4) == 0 && h->stored <= PK_MAX_STORED && h->size <= PK_MAX_TEXT;
}

bool pk_header_is_known(const pk_header *h)
{
    const unsigned newest = h->kind == PK_INDEX ? PK_INDEX_VERSION : PK_VERSION;
    return h->kind >= PK_BLOCK && h->kind <= PK_END && h->version >= PK_VERSION && h->version <= newest;
}

bool pk_header_holds(const uint8_t bytes[PK_HEADER_BYTES], const pk_header *h, const uint8_t *stored)
{
    return check_of(bytes, stored, h->stored) == h->check;
}

void pk_entry_put(uint8_t out[PK_ENTRY_BYTES], const pk_entry *e)
{
    pk_put64(out, e->offset);
    pk_put64(out + 8, e->at);
    pk_put64(out + 16, e->line);
    pk_info_put(out + 24, &e->info);
    pk_ids_put(out + PK_OLD_ENTRY_BYTES, &e->info.ids.plain);
    pk_ids_put(out + PK_OLD_ENTRY_BYTES + PK_IDS_BYTES, &e->info.ids.traced);
    pk_ids_put(out + PK_OLD_ENTRY_BYTES + 2 * PK_IDS_BYTES, &e->info.ids.counts);
}

size_t pk_entry_bytes(unsigned version)
{
    return version == 1   ? PK_OLD_ENTRY_BYTES
           : version == 2 ? PK_OLD_ENTRY_BYTES + PK_IDS_BYTES
                          : PK_ENTRY_BYTES;
}

void pk_entry_get(const uint8_t *bytes, unsigned version, pk_entry *e)
{
    e->offset = pk_get64(bytes);
    e->at = pk_get64(bytes + 8);
    e->line = pk_get64(bytes + 16);
    pk_info_get(bytes + 24, &e->info);
    if (version == 1) return;
    pk_ids_get(bytes + PK_OLD_ENTRY_BYTES, &e->info.ids.plain);
    if (version == 2) {
        e->info.ids.traced = e->info.ids.plain;
        return;
    }
    pk_ids_get(bytes + PK_OLD_ENTRY_BYTES + PK_IDS_BYTES, &e->info.ids.traced);
    pk_ids_get(bytes + PK_OLD_ENTRY_BYTES + 2 * PK_IDS_BYTES, &e->info.ids.counts);
}

struct pk_reader {
    pk_source *source;
    void *ctx;
    uint8_t *buffer;
    size_t at, have, cap;
    uint64_t offset; /* of buffer[at] in the file */
    uint64_t limit;  /* nothing is read beyond; 0: there is none */
    uint64_t id;
    uint64_t in_vain; /* bytes of which the check was wrong, again and again */
    bool begun, knows_magic, knows_id, ended;
};

enum { FIRST_ROOM = 256 * 1024, MOST_IN_VAIN = 64 << 20 };

pk_reader *pk_reader_new(pk_source *source, void *ctx)
{
    pk_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->source = source;
    r->ctx = ctx;
    r->cap = FIRST_ROOM;
    r->buffer = malloc(r->cap);
    if (r->buffer) return r;
    free(r);
    return NULL;
}

void pk_reader_free(pk_reader *r)
{
    if (!r) return;
    free(r->buffer);
    free(r);
}

/* Sees to it that n bytes are there, from r->at on; 0: the file ends before; -1: failed. */
static int need(pk_reader *r, size_t n)
{
    if (r->have - r->at >= n) return 1;
    memmove(r->buffer, r->buffer + r->at, r->have - r->at);
    r->have -= r->at;
    r->at = 0;
    if (n > r->cap) {
        uint8_t *more = realloc(r->buffer, n);
        if (!more) return -1;
        r->buffer = more;
        r->cap = n;
    }
    while (r->have < n && !r->ended) {
        const uint64_t next = r->offset + (r->have - r->at);
        size_t room = r->cap - r->have;
        if (r->limit && r->limit - next < room) room = next < r->limit ? (size_t)(r->limit - next) : 0;
        ssize_t got = room ? r->source(r->ctx, r->buffer + r->have, room) : 0;
        if (got < 0) return -1;
        r->ended = got == 0;
        r->have += (size_t)got;
    }
    return r->have >= n;
}

static void skip(pk_reader *r, size_t n)
{
    r->at += n;
    r->offset += n;
}

/* A frame at r->at: 1, with its header; 0: there is none; -1. */
static int look(pk_reader *r, pk_header *h)
{
    *h = (pk_header){0};
    int there = need(r, PK_HEADER_BYTES);
    if (there <= 0) return there;
    if (!pk_header_get(r->buffer + r->at, h) || (r->knows_id && h->id != r->id)) return 0;
    there = need(r, PK_HEADER_BYTES + h->stored);
    if (there <= 0) return there;
    const uint8_t *bytes = r->buffer + r->at;
    if (pk_header_holds(bytes, h, bytes + PK_HEADER_BYTES)) return 1;
    r->in_vain += h->stored;
    return 0;
}

/* Over what is no frame, to the next byte that one may begin with. Where headers stand in headers so that
 * each byte is checked many times over, what they announce is skipped as a whole. */
static void skip_damage(pk_reader *r, pk_frame *frame)
{
    const size_t announced = PK_HEADER_BYTES + frame->header.stored;
    if (r->in_vain > MOST_IN_VAIN + 16 * r->offset && announced <= r->have - r->at) {
        skip(r, announced);
        frame->skipped += announced;
        return;
    }
    const size_t left = r->have - r->at - 1;
    const uint8_t *from = r->buffer + r->at + 1, *next = left ? memchr(from, frame_magic[0], left) : NULL;
    const size_t n = next ? (size_t)(next - from) + 1 : left + 1;
    skip(r, n);
    frame->skipped += n;
}

int pk_reader_next(pk_reader *r, pk_frame *frame)
{
    *frame = (pk_frame){0};
    if (!r->begun) {
        r->begun = true;
        int there = need(r, PK_MAGIC_BYTES);
        if (there < 0) return -1;
        r->knows_magic = there && memcmp(r->buffer + r->at, PK_MAGIC, PK_MAGIC_BYTES) == 0;
        if (r->knows_magic) skip(r, PK_MAGIC_BYTES);
    }
    for (;;) {
        int there = need(r, 1);
        if (there <= 0) return there;
        there = look(r, &frame->header);
        if (there < 0) return -1;
        if (there) break;
        skip_damage(r, frame);
    }
    r->id = frame->header.id;
    r->knows_id = true;
    frame->stored = r->buffer + r->at + PK_HEADER_BYTES;
    frame->offset = r->offset;
    skip(r, PK_HEADER_BYTES + frame->header.stored);
    return 1;
}

bool pk_reader_go(pk_reader *r, uint64_t offset, uint64_t limit, pk_seek *seek, void *ctx)
{
    r->limit = limit;
    r->ended = false;
    if (offset >= r->offset && offset - r->offset <= r->have - r->at) {
        skip(r, (size_t)(offset - r->offset));
        if (r->offset + (r->have - r->at) > limit) r->have = r->at + (size_t)(limit - r->offset);
        return r->offset + (r->have - r->at) == limit || seek(ctx, r->offset + (r->have - r->at));
    }
    r->at = r->have = 0;
    r->offset = offset;
    return seek(ctx, offset);
}

bool pk_reader_knows_magic(const pk_reader *r)
{
    return r->knows_magic;
}
