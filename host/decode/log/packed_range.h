/* A range of a packed log: bytes [from, to) of its text, block by block, whole blocks as they are stored. Not for whole logs,
 * which are read as a stream, from pipes too, and behind damage (pack/unpack.h): here damage is an error. */
#ifndef DEVLOG_DECODE_PACKED_RANGE_H
#define DEVLOG_DECODE_PACKED_RANGE_H

#include "base/error.h"
#include "pack/index.h"

typedef struct dl_packed_range {
    const char *path; /* borrowed */
    int fd;
    uint64_t stored, size; /* bytes of the file, and of its text */
    pk_index index;
    pk_unpacker *unpacker;
    uint8_t *block, *room; /* as stored; what a plain block would store of its text */
    size_t next;
    uint64_t from, to;
} dl_packed_range;

/* Whether a file begins as a packed log does. */
bool dl_packed_range_is(const char *path);
/* All of it is the range. FORMAT: it has no whole index. Close it in any case. */
devlog_status dl_packed_range_open(dl_packed_range *r, const char *path, devlog_error *err);
/* The same of a file that is open, which it takes; -1 is no file. */
devlog_status dl_packed_range_take(dl_packed_range *r, const char *path, int fd, devlog_error *err);
void dl_packed_range_close(dl_packed_range *r);
void dl_packed_range_set(dl_packed_range *r, uint64_t from, uint64_t to);

/* The next block of the range, or what is in the range of it as a plain block; it is not there behind the last. */
devlog_status dl_packed_range_next(dl_packed_range *r, pk_header *h, const uint8_t **stored, bool *there,
                                   devlog_error *err);
/* The same as text; no bytes behind the last. */
devlog_status dl_packed_range_text(dl_packed_range *r, const char **text, size_t *n, devlog_error *err);

#endif
