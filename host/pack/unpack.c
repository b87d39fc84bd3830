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
    pk_frame frame;  /* of the block in hand */
    uint64_t blocks; /* whose text has been made */
    bool again;      /* the block in hand comes again */
    size_t few;      /* bytes that anybody wants; 0: all */
    bool part;       /* the text is only the first of the block's */
    bool ahead;      /* the block in hand has not been asked for yet */
    bool chooses;
    pk_choice choice;
    size_t next; /* block that may be wanted */
    void *source_ctx;
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
    u->source_ctx = ctx;
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

void pk_unpack_choose(pk_unpack *u, const pk_choice *choice)
{
    u->choice = *choice;
    u->chooses = u->audit.chosen = true;
    u->next = 1;
}

uint64_t pk_unpack_line(const pk_unpack *u)
{
    return u->chooses && u->next - 1 < u->choice.n ? u->choice.entries[u->next - 1].line : UINT64_MAX;
}

/* The next frame that is wanted: a block, or the end. */
static int next_chosen(pk_unpack *u)
{
    const pk_choice *c = &u->choice;
    for (;;) {
        while (u->next < c->n && !c->wanted[u->next])
            u->next++;
        size_t behind = u->next;
        while (behind < c->n && c->wanted[behind])
            behind++;
        const uint64_t offset = u->next < c->n ? c->entries[u->next].offset : c->end_at;
        const uint64_t limit = u->next == c->n ? c->size
                               : behind < c->n ? c->entries[behind].offset
                                               : c->index_at;
        if (u->next > c->n) return 0;
        if (!pk_reader_go(u->reader, offset, limit, c->seek, u->source_ctx)) return -1;
        const int there = pk_reader_next(u->reader, &u->frame);
        u->next++;
        if (there) return there;
        u->audit.skipped += u->frame.skipped; /* nothing of it is to be read */
        u->audit.skipped_at = limit;
    }
}

/* The frame of the next block: 1, 0 at the end, -1 when the source fails. */
static int next_frame(pk_unpack *u)
{
    int there;
    do
        there = u->chooses ? next_chosen(u) : pk_reader_next(u->reader, &u->frame);
    while (there > 0 && !pk_audit_frame(&u->audit, &u->frame));
    if (there == 0) pk_audit_end(&u->audit, u->frame.skipped);
    return there;
}

static bool make_room(pk_unpack *u, size_t n)
{
    const size_t size = n + PK_LONGEST_ROW;
    if (size <= u->cap) return true;
    free(u->text);
    u->text = malloc(size);
    u->cap = u->text ? size : 0;
    return u->text != NULL;
}

/* The beginning of the text of the block in hand, when no more is wanted. */
static bool make_part(pk_unpack *u)
{
    const pk_header *h = &u->frame.header;
    if (u->blocks != 1 || !u->few || u->few >= h->size || !make_room(u, u->few)) return false;
    u->n = pk_unpacker_begin(u->unpacker, u->frame.stored, h->stored, h->plain, u->text, u->few, h->size);
    u->at = 0;
    return u->part = u->n;
}

/* The text of the next good block, or the rest of that in hand: the same. */
static int next_block(pk_unpack *u)
{
    const pk_header *h = &u->frame.header;
    for (;;) {
        const bool rest = u->part, in_hand = u->ahead || rest;
        int there = in_hand ? 1 : next_frame(u);
        u->ahead = u->part = false;
        if (there <= 0) return there;
        u->blocks += !rest;
        if (!rest && make_part(u)) return 1;
        if (!make_room(u, h->size)) return -1;
        const char *why = pk_unpack_block(u->unpacker, h, u->frame.stored, u->text);
        pk_audit_text(&u->audit, h, u->frame.offset, why);
        if (why || !h->size) continue;
        u->at = rest ? u->n : 0;
        u->n = h->size;
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

/* At the end of the input: whether that is a failure, whose text is made. */
static bool must_fail(pk_unpack *u, int there)
{
    u->ended = there == 0;
    u->failed = there < 0 || (u->ended && u->audit.findings);
    if (u->failed && there < 0) u->why[0] = 0;
    if (u->failed) add_how_many(u);
    return u->failed;
}

ssize_t pk_unpack_read(pk_unpack *u, void *bytes, size_t cap)
{
    if (u->failed) return -1;
    if (u->at == u->n && !u->ended && must_fail(u, next_block(u))) return -1;
    if (u->ended) return 0;
    const size_t left = u->n - u->at, n = left < cap ? left : cap;
    memcpy(bytes, u->text + u->at, n);
    u->at += n;
    return (ssize_t)n;
}

bool pk_unpack_first(pk_unpack *u, char bytes[PK_FIRST_TEXT])
{
    char text[PK_FIRST_TEXT + PK_LONGEST_ROW];
    int there = next_frame(u);
    u->ahead = there > 0;
    if (!u->ahead) (void)must_fail(u, there);
    const pk_header *h = &u->frame.header;
    if (!u->ahead ||
        !pk_unpacker_begin(u->unpacker, u->frame.stored, h->stored, h->plain, text, PK_FIRST_TEXT, h->size))
        return false;
    memcpy(bytes, text, PK_FIRST_TEXT);
    return true;
}

void pk_unpack_few(pk_unpack *u, size_t n)
{
    u->few = n;
}

bool pk_unpack_again(pk_unpack *u)
{
    u->ahead |= u->part;
    u->part = false;
    if (u->ahead) return true;
    u->again = u->blocks == 1 && u->n && !u->ended && !u->failed;
    return u->again;
}

int pk_unpack_block_next(pk_unpack *u, pk_header *h, const uint8_t **stored)
{
    if (u->failed || u->ended) return u->failed ? -1 : 0;
    if (!u->again) {
        int there = u->ahead ? 1 : next_frame(u);
        u->ahead = false;
        if (there <= 0) return must_fail(u, there) ? -1 : 0;
        pk_audit_text(&u->audit, &u->frame.header, u->frame.offset, NULL);
    }
    u->again = false;
    *h = u->frame.header;
    *stored = u->frame.stored;
    return 1;
}
