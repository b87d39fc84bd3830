/* The index of a packed log: which block holds what, so that a part of the log can be read without the rest. Not for
 * choosing (decode/log/window.h). */
#ifndef DEVLOG_PACK_INDEX_H
#define DEVLOG_PACK_INDEX_H

#include "pack/frame.h"

typedef struct pk_index {
    pk_entry *entries;
    size_t n;
    uint64_t index_at, end_at; /* where the index and the end are in the file */
} pk_index;

/* Reads n bytes from this place of the file; false: it cannot. */
typedef bool pk_read_at(void *ctx, void *bytes, size_t n, uint64_t at);

/* Of a file of `size` bytes. False: it has none that is whole, or there is no memory. */
bool pk_index_read(pk_index *index, pk_read_at *read, void *ctx, uint64_t size);
void pk_index_free(pk_index *index);

#endif
