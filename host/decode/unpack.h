/* Unpacking zstd and xz, several frames in a row too, as gunzip.h does gzip. Not for captures, whose frames
 * are unpacked by their reader. */
#ifndef DEVLOG_DECODE_UNPACK_H
#define DEVLOG_DECODE_UNPACK_H

#include "decode/gunzip.h"

typedef enum dl_unpack_format { DL_UNPACK_ZSTD, DL_UNPACK_XZ } dl_unpack_format;

typedef struct dl_unpack dl_unpack;

/* NULL: out of memory. */
dl_unpack *dl_unpack_new(dl_unpack_format format, dl_gunzip_source *source, void *ctx);
void dl_unpack_free(dl_unpack *u);
/* Unpacked bytes; 0 at the end, -1 on failure and from then on: dl_unpack_why, or the source's. */
ssize_t dl_unpack_read(dl_unpack *u, void *bytes, size_t cap);
/* What is wrong; NULL: nothing, or the source failed. */
const char *dl_unpack_why(const dl_unpack *u);

#endif
