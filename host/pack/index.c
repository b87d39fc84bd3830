/* The index of a packed log. See index.h. */
#include "pack/index.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum { MOST_BLOCKS = 1 << 24 };

typedef struct reading {
    pk_read_at *read;
    void *ctx;
    uint64_t id;
} reading;

/* The payload of a frame of this kind, from malloc; NULL: it is none. */
static uint8_t *payload(const reading *r, uint64_t at, uint64_t end, pk_kind kind, pk_header *h)
{
    uint8_t head[PK_HEADER_BYTES];
    if (end < at + sizeof head || !r->read(r->ctx, head, sizeof head, at) || !pk_header_get(head, h))
        return NULL;
    if (h->kind != kind || !pk_header_is_known(h) || (r->id && h->id != r->id) ||
        h->stored > end - at - sizeof head)
        return NULL;
    uint8_t *stored = malloc((size_t)h->stored + 1), *bytes = malloc((size_t)h->size + 1);
    bool good = stored && bytes && r->read(r->ctx, stored, h->stored, at + sizeof head) &&
                pk_header_holds(head, h, stored);
    if (good && h->plain) good = h->size == h->stored;
    if (good && h->plain)
        memcpy(bytes, stored, h->size);
    else if (good)
        good = ZSTD_decompress(bytes, h->size, stored, h->stored) == h->size;
    if (good) good = XXH64(bytes, h->size, 0) == h->text_check;
    free(stored);
    if (good) return bytes;
    free(bytes);
    return NULL;
}

/* Blocks follow one another in the file and in the log. */
static bool in_order(const pk_index *x)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): entries that were read are whole */
    bool good = x->n > 0 && x->entries[0].offset == PK_MAGIC_BYTES && x->entries[0].at == 0;
    for (size_t i = 1; i < x->n && good; i++)
        good = x->entries[i].offset > x->entries[i - 1].offset && x->entries[i].at >= x->entries[i - 1].at;
    return good && x->entries[x->n - 1].offset < x->index_at;
}

bool pk_index_read(pk_index *x, pk_read_at *read, void *ctx, uint64_t size)
{
    reading r = {read, ctx, 0};
    pk_header h;
    *x = (pk_index){0};
    if (size < PK_MAGIC_BYTES + PK_HEADER_BYTES + PK_END_BYTES) return false;
    x->end_at = size - PK_HEADER_BYTES - PK_END_BYTES;
    uint8_t *end = payload(&r, x->end_at, size, PK_END, &h);
    if (!end) return false;
    const uint64_t n = h.size == PK_END_BYTES ? pk_get64(end) : 0;
    x->index_at = h.size == PK_END_BYTES ? pk_get64(end + 32) : 0;
    free(end);
    if (n == 0 || n > MOST_BLOCKS || x->index_at >= x->end_at) return false;
    r.id = h.id;
    x->entries = malloc(n * sizeof *x->entries);
    for (uint64_t at = x->index_at; x->entries && x->n < n && at < x->end_at;
         at += PK_HEADER_BYTES + h.stored) {
        uint8_t *bytes = payload(&r, at, x->end_at, PK_INDEX, &h);
        const size_t size_of_one = pk_entry_bytes(h.version), some = bytes ? h.size / size_of_one : 0;
        if (!bytes || some == 0 || h.at != x->n || some > n - x->n) {
            free(bytes);
            break;
        }
        for (size_t i = 0; i < some; i++)
            pk_entry_get(bytes + i * size_of_one, h.version, &x->entries[x->n++]);
        free(bytes);
    }
    if (x->entries && x->n == n && in_order(x)) return true;
    pk_index_free(x);
    return false;
}

void pk_index_free(pk_index *x)
{
    free(x->entries);
    *x = (pk_index){0};
}
