/* Writing the frames of a packed log: blocks in their order, then index and end. Where the bytes go is the
 * caller's. */
#ifndef DEVLOG_PACK_WRITE_H
#define DEVLOG_PACK_WRITE_H

#include <xxhash.h>

#include "base/error.h"
#include "pack/frame.h"

/* A block that has been packed. */
typedef struct pk_packed {
    const uint8_t *stored;
    size_t n_stored, n_text;
    uint64_t text_check;
    bool plain;
    pk_info info;
} pk_packed;

typedef devlog_status pk_sink(void *ctx, const void *bytes, size_t n, devlog_error *err);

typedef struct pk_writer {
    pk_sink *sink;
    void *ctx;
    uint64_t id, offset, text, lines; /* written so far */
    pk_entry *entries;
    size_t n_entries, cap_entries;
    XXH64_state_t *whole;
} pk_writer;

devlog_status pk_writer_begin(pk_writer *w, pk_sink *sink, void *ctx, devlog_error *err);
devlog_status pk_writer_block(pk_writer *w, const pk_packed *b, devlog_error *err);
/* Takes over a block that the file has already, at w->offset: to go on with a file that has no end. */
devlog_status pk_writer_had(pk_writer *w, const pk_header *h, const uint8_t *stored, const pk_row_ids *ids,
                            devlog_error *err);
devlog_status pk_writer_end(pk_writer *w, devlog_error *err);
void pk_writer_free(pk_writer *w);

#endif
