/* The frames of a packed log: eight bytes PK_MAGIC, then blocks, their index, and the end.
 *
 *     4  magic "DLP1"
 *     1  kind
 *     1  version of the payload: 1; of an index 3; 2: its rows with a trace are not told apart; 1: without ids
 *     1  1: the payload is as it is, otherwise packed
 *     1  0
 *     4  bytes that follow the header
 *     4  a block: bytes of its text; otherwise bytes of its payload, unpacked
 *     8  id of the file, in all of its frames: the check of its first block's text
 *     8  a block: where its text begins in the log; index: number of its first block; end: bytes of the log
 *     8  XXH64 (seed 0) of the text, or of the payload, unpacked
 *     8  XXH64 of the 40 bytes before it (seed 0), used as the seed of XXH64 over the bytes that follow
 *
 * all numbers little-endian. Reading goes on behind damage, with the next frame of this file whose check is
 * right. What is in a block: pack/block.h. */
#ifndef DEVLOG_PACK_FRAME_H
#define DEVLOG_PACK_FRAME_H

#include <stdbool.h>
#include <sys/types.h>

#include "pack/block.h"

#define PK_MAGIC "DEVLOGP1"

enum {
    PK_MAGIC_BYTES = 8,
    PK_HEADER_BYTES = 48,
    PK_MAX_STORED = PK_MAX_TEXT + PK_INFO_BYTES,
    PK_END_BYTES = 40,
    PK_ENTRY_BYTES = 24 + PK_INFO_BYTES + 3 * PK_IDS_BYTES,
    PK_OLD_ENTRY_BYTES = 24 + PK_INFO_BYTES, /* in an index of version 1 */
    PK_ENTRIES = 8192,                       /* of an index frame at most; before, 16384 */
    PK_VERSION = 1,
    PK_INDEX_VERSION = 3,
};

typedef enum pk_kind {
    PK_BLOCK = 1,
    PK_INDEX, /* of PK_ENTRIES blocks; as many frames as there need be */
    PK_END, /* u64 blocks, bytes, lines; XXH64 of the checks of all texts in order; u64 where the index begins */
} pk_kind;

typedef struct pk_header {
    uint8_t kind, version;
    bool plain;
    uint32_t stored, size;
    uint64_t id, at, text_check, check;
} pk_header;

/* An entry of the index. */
typedef struct pk_entry {
    uint64_t offset, at, line; /* of its frame in the file; of its text in the log; lines before it */
    pk_info info;
} pk_entry;

/* Writes the header of a frame with this payload; fills in h->check. */
void pk_header_put(uint8_t out[PK_HEADER_BYTES], pk_header *h, const uint8_t *stored);
/* False: this is no header. */
bool pk_header_get(const uint8_t bytes[PK_HEADER_BYTES], pk_header *h);
/* Whether its kind and version are such as can be read. */
bool pk_header_is_known(const pk_header *h);
bool pk_header_holds(const uint8_t bytes[PK_HEADER_BYTES], const pk_header *h, const uint8_t *stored);

void pk_entry_put(uint8_t out[PK_ENTRY_BYTES], const pk_entry *e);
/* Of an index of this version: pk_entry_bytes() of it. */
void pk_entry_get(const uint8_t *bytes, unsigned version, pk_entry *e);
size_t pk_entry_bytes(unsigned version);

void pk_put64(uint8_t *to, uint64_t value);
uint64_t pk_get64(const uint8_t *p);

/* Where packed bytes come from: how many there are now, 0 at the end, -1 on failure. */
typedef ssize_t pk_source(void *ctx, void *bytes, size_t cap);

typedef struct pk_reader pk_reader;

typedef struct pk_frame {
    pk_header header;
    const uint8_t *stored; /* until the next call */
    uint64_t offset;       /* of the frame in the file */
    uint64_t skipped;      /* bytes before it that belong to no frame */
} pk_frame;

/* Reads frames one after the other, from anywhere, in memory for one of them. NULL: no memory. */
pk_reader *pk_reader_new(pk_source *source, void *ctx);
void pk_reader_free(pk_reader *r);
/* 1: a frame; 0: the end, with what was skipped before it in *frame; -1: the source failed. */
int pk_reader_next(pk_reader *r, pk_frame *frame);
/* Goes on at another place, where a frame is, and reads nothing beyond `limit`: what it has ends there. False: `seek`,
 * which goes there in the source, has failed. */
typedef bool pk_seek(void *ctx, uint64_t offset);
bool pk_reader_go(pk_reader *r, uint64_t offset, uint64_t limit, pk_seek *seek, void *ctx);
/* Whether the file begins as a packed log does, after the first frame has been asked for. */
bool pk_reader_knows_magic(const pk_reader *r);

#endif
