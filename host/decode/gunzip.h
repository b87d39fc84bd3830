/* Unpacking gzip, by zlib: checksums and lengths of all its members are compared, and whatever is behind them
 * is told. Not for other formats: unpack.h. */
#ifndef DEVLOG_DECODE_GUNZIP_H
#define DEVLOG_DECODE_GUNZIP_H

#include <sys/types.h>

#include "base/error.h"

typedef struct dl_gunzip dl_gunzip;

/* Where the packed bytes come from: how many there are now, 0 at the end, -1 on failure. */
typedef ssize_t dl_gunzip_source(void *ctx, void *bytes, size_t cap);

/* NULL: out of memory. */
dl_gunzip *dl_gunzip_new(dl_gunzip_source *source, void *ctx);
void dl_gunzip_free(dl_gunzip *g);
/* Unpacked bytes; 0 at the end, -1 on failure and from then on: dl_gunzip_why, or the source's. */
ssize_t dl_gunzip_read(dl_gunzip *g, void *bytes, size_t cap);
/* What is wrong; NULL: nothing, or the source failed. */
const char *dl_gunzip_why(const dl_gunzip *g);

#endif
