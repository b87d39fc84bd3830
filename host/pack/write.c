/* Writing the frames of a packed log. See pack/write.h. */
#include "pack/write.h"

#include <stdlib.h>
#include <zstd.h>

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status pk_writer_begin(pk_writer *w, pk_sink *sink, void *ctx, devlog_error *err)
{
    *w = (pk_writer){.sink = sink, .ctx = ctx, .whole = XXH64_createState()};
    if (!w->whole) return no_memory(err);
    XXH64_reset(w->whole, 0);
    return DEVLOG_OK;
}

void pk_writer_free(pk_writer *w)
{
    free(w->entries);
    XXH64_freeState(w->whole);
    *w = (pk_writer){0};
}

static devlog_status put(pk_writer *w, const void *bytes, size_t n, devlog_error *err)
{
    w->offset += n;
    return n ? w->sink(w->ctx, bytes, n, err) : DEVLOG_OK;
}

static devlog_status put_frame(pk_writer *w, pk_header *h, const uint8_t *stored, devlog_error *err)
{
    uint8_t bytes[PK_HEADER_BYTES];
    devlog_status status = w->offset ? DEVLOG_OK : put(w, PK_MAGIC, PK_MAGIC_BYTES, err);
    h->id = w->id;
    h->version = h->kind == PK_INDEX ? PK_INDEX_VERSION : PK_VERSION;
    pk_header_put(bytes, h, stored);
    if (!status) status = put(w, bytes, sizeof bytes, err);
    return status ? status : put(w, stored, h->stored, err);
}

/* Counts a block whose frame is at `offset`. */
static devlog_status count(pk_writer *w, uint64_t offset, size_t n_text, uint64_t text_check,
                           const pk_info *info, devlog_error *err)
{
    uint8_t check[8];
    if (w->n_entries == w->cap_entries) {
        size_t cap = w->cap_entries ? 2 * w->cap_entries : 64;
        pk_entry *more = realloc(w->entries, cap * sizeof *more);
        if (!more) return no_memory(err);
        w->entries = more;
        w->cap_entries = cap;
    }
    w->entries[w->n_entries++] = (pk_entry){offset, w->text, w->lines, *info};
    pk_put64(check, text_check);
    XXH64_update(w->whole, check, sizeof check);
    w->text += n_text;
    w->lines += info->lines;
    return DEVLOG_OK;
}

devlog_status pk_writer_block(pk_writer *w, const pk_packed *b, devlog_error *err)
{
    const uint64_t offset = w->offset ? w->offset : PK_MAGIC_BYTES;
    pk_header h = {.kind = PK_BLOCK,
                   .plain = b->plain,
                   .stored = (uint32_t)b->n_stored,
                   .size = (uint32_t)b->n_text,
                   .at = w->text,
                   .text_check = b->text_check};
    if (!w->n_entries) w->id = b->text_check;
    devlog_status status = put_frame(w, &h, b->stored, err);
    return status ? status : count(w, offset, b->n_text, b->text_check, &b->info, err);
}

devlog_status pk_writer_had(pk_writer *w, const pk_header *h, const uint8_t *stored, const pk_row_ids *ids,
                            devlog_error *err)
{
    pk_info info;
    const uint64_t offset = w->offset ? w->offset : PK_MAGIC_BYTES;
    pk_info_get(stored, &info);
    info.ids = *ids;
    w->id = h->id;
    w->offset = offset + PK_HEADER_BYTES + h->stored;
    return count(w, offset, h->size, h->text_check, &info, err);
}

/* n entries from `first` on. */
static devlog_status put_index(pk_writer *w, size_t first, size_t n, devlog_error *err)
{
    const size_t size = n * PK_ENTRY_BYTES, bound = ZSTD_compressBound(size);
    uint8_t *bytes = malloc(size), *stored = malloc(bound);
    devlog_status status = DEVLOG_OK;
    size_t n_stored = 0;
    if (!bytes || !stored) status = no_memory(err);
    if (!status) {
        for (size_t i = 0; i < n; i++)
            pk_entry_put(bytes + i * PK_ENTRY_BYTES, &w->entries[first + i]);
        n_stored = ZSTD_compress(stored, bound, bytes, size, 3);
        if (ZSTD_isError(n_stored)) status = no_memory(err);
    }
    if (!status) {
        pk_header h = {.kind = PK_INDEX, .stored = (uint32_t)n_stored, .size = (uint32_t)size, .at = first};
        h.text_check = XXH64(bytes, size, 0);
        status = put_frame(w, &h, stored, err);
    }
    free(bytes);
    free(stored);
    return status;
}

devlog_status pk_writer_end(pk_writer *w, devlog_error *err)
{
    uint8_t bytes[PK_END_BYTES];
    const uint64_t index = w->offset ? w->offset : PK_MAGIC_BYTES;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < w->n_entries && !status; i += PK_ENTRIES)
        status = put_index(w, i, w->n_entries - i < PK_ENTRIES ? w->n_entries - i : PK_ENTRIES, err);
    if (status) return status;
    pk_put64(bytes, w->n_entries);
    pk_put64(bytes + 8, w->text);
    pk_put64(bytes + 16, w->lines);
    pk_put64(bytes + 24, XXH64_digest(w->whole));
    pk_put64(bytes + 32, index);
    pk_header h = {
        .kind = PK_END, .plain = true, .stored = PK_END_BYTES, .size = PK_END_BYTES, .at = w->text};
    h.text_check = XXH64(bytes, PK_END_BYTES, 0);
    return put_frame(w, &h, bytes, err);
}
