/* A block of a packed log: some MiB of text and nothing else that is needed to get it back. Its payload is
 *
 *     u32 rows, lines, raw rows, 0
 *     u64 least, greatest stamp; the same of each of PK_CELLS cells behind it; the first above the second: none
 *     u32 bytes, u32 stored bytes of each section; the two are the same when it is stored as it is, otherwise
 *     it is one zstd frame
 *     the sections
 *
 * or, in a plain block, the first two lines and the text as it is. Sections, pk_section: see below. Not for
 * files: pack/file.h. */
#ifndef DEVLOG_PACK_BLOCK_H
#define DEVLOG_PACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/ids.h"
#include "pack/model.h"

enum {
    PK_MAX_TEXT = 8 << 20, /* bytes of a block's text at most */
    PK_RANGES = 1 + PK_CELLS,
    PK_INFO_BYTES = 16 + 16 * PK_RANGES,
};

typedef enum pk_section {
    PK_S_PLACES,     /* their texts, a line feed behind each */
    PK_S_TEMPLATES,  /* the same; a NUL for each number */
    PK_S_CODES,      /* a byte for each row: PK_FIRST ... PK_WRONG */
    PK_S_PICKS,      /* u16 as two planes: numbers of places and of templates that were not foretold */
    PK_S_STAMP_LOW,  /* stamps, low bytes of how much more than foretold, and PK_BIAS */
    PK_S_STAMP_HIGH, /* their high bytes; both 0xFF: it is in the next section */
    PK_S_STAMP_FAR,  /* u64 as eight planes */
    PK_S_WRONG,      /* u16 as two planes: which numbers were not foretold */
    PK_S_NUMBER_LOW, /* these, as stamps are */
    PK_S_NUMBER_HIGH,
    PK_S_NUMBER_FAR,
    PK_S_RAW, /* rows without a template */
    PK_SECTIONS,
} pk_section;

enum { PK_BIAS = 0x4000, PK_IS_FAR = 0xFFFF };

/* What is known of all rows that have a template. */
enum {
    PK_KNOWN = 1,   /* the rest is told: blocks of before have 0 */
    PK_ALL_IDS = 2, /* each has a number in PK_ID_CELL */
    PK_TRACES = 4,  /* PK_TRACE_CELL and the cell behind it are numbers or empty .. */
    PK_COUNTED = 8, /* .. and the second is empty only where the first is */
};

/* What a block holds. The launch ids are in one of the cells, and the log's header says in which. */
typedef struct pk_info {
    uint32_t rows, lines, raw, known;
    uint64_t least[PK_RANGES], most[PK_RANGES]; /* the stamp, then the cells */
    pk_row_ids ids; /* of PK_ID_CELL; the index has them, the block itself has not */
} pk_info;

void pk_info_put(uint8_t *out, const pk_info *info);
void pk_info_get(const uint8_t *bytes, pk_info *info);

/* At most this many bytes are stored for n of text. */
static inline size_t pk_block_bound(size_t n)
{
    return n + PK_INFO_BYTES;
}

typedef struct pk_packer pk_packer;

/* For blocks of at most `cap` bytes. NULL: no memory. */
pk_packer *pk_packer_new(size_t cap);
void pk_packer_free(pk_packer *p);
/* Packs text[0..n), behind which PK_PADDING bytes can be read, into `out`, pk_block_bound(n) bytes. Returns
 * how many, 0 when there is no memory; *plain: it is a plain block. */
size_t pk_packer_block(pk_packer *p, const char *text, size_t n, uint8_t *out, bool *plain, pk_info *info);

typedef struct pk_unpacker pk_unpacker;

pk_unpacker *pk_unpacker_new(void);
void pk_unpacker_free(pk_unpacker *u);
/* The other way: exactly n bytes of text, to `text`, which has PK_LONGEST_ROW more. What is wrong, or NULL. */
const char *pk_unpacker_block(pk_unpacker *u, const uint8_t *bytes, size_t size, bool plain, char *text,
                              size_t n);
/* The first n bytes of a text of `of` bytes, with the same room; 0: that cannot be. What is behind them is not looked at. */
size_t pk_unpacker_begin(pk_unpacker *u, const uint8_t *bytes, size_t size, bool plain, char *text, size_t n,
                         size_t of);

/* The ids of a block that is not plain, of n bytes of text; false: it is damaged. */
bool pk_unpacker_ids(pk_unpacker *u, const uint8_t *bytes, size_t size, size_t n, pk_row_ids *ids);

#endif
