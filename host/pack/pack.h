/* Packing a log and unpacking it: the whole way, from a source of bytes to a sink, on one thread or several,
 * in memory for some blocks. pack/follow.h packs logs that grow; the format: docs/file-formats.md,
 * pack/frame.h, pack/block.h. */
#ifndef DEVLOG_PACK_PACK_H
#define DEVLOG_PACK_PACK_H

#include "pack/write.h"

enum { PK_TEXT = 4 << 20 }; /* bytes of a block's text */

/* The bytes of a log: *n == 0 at the end. */
typedef devlog_status pk_log_source(void *ctx, void *bytes, size_t cap, size_t *n, devlog_error *err);

typedef struct pk_totals {
    uint64_t text, lines, raw, blocks, packed; /* bytes, lines, lines that were kept as they are */
} pk_totals;

typedef struct pk_options {
    unsigned threads; /* 0: as many as there are processors, 4 at most */
    size_t text;      /* bytes of a block's text; 0: PK_TEXT */
} pk_options;

/* Packs all that comes. */
devlog_status pk_pack(pk_log_source *source, void *source_ctx, pk_sink *sink, void *sink_ctx,
                      const pk_options *options, pk_totals *totals, devlog_error *err);

/* One block, for who does without threads: text[0..n), with PK_PADDING readable bytes behind it. `out` has
 * pk_block_bound(n). */
devlog_status pk_pack_block(pk_packer *p, const char *text, size_t n, uint8_t *out, pk_packed *b,
                            devlog_error *err);
/* Where a block that is full ends: behind its last line feed, or at n when it has none. */
size_t pk_cut(const char *text, size_t n);

/* What was wrong with a packed log that could be unpacked. */
typedef struct pk_damage {
    void (*found)(void *ctx, const char *text); /* called for each finding; may be NULL */
    void *ctx;
    uint64_t findings, lost; /* lost: bytes of the log */
} pk_damage;

/* Unpacks all that can be. FORMAT when there is nothing to unpack in it; damage is no failure. */
devlog_status pk_unpack_all(pk_source *source, void *source_ctx, pk_sink *sink, void *sink_ctx,
                            unsigned threads, pk_totals *totals, pk_damage *damage, devlog_error *err);

#endif
