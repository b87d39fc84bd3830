/* Blocks: an input cut into pieces of whole lines, with what the stages of the decoder make of each: text,
 * then marks. One block after the other on one thread, or several in the air on two (decode/pipeline.h).
 */
#ifndef DEVLOG_DECODE_BLOCKS_H
#define DEVLOG_DECODE_BLOCKS_H

#include "decode/input.h"
#include "decode/log/parser.h"
#include "decode/run.h"
#include "pack/unpack.h"

typedef struct dl_block_chip {
    uint32_t before; /* the chip line stands above this mark of the block */
    dl_chip_line chip;
} dl_block_chip;

typedef struct dl_block {
    char *buffer; /* DL_PARSE_BEFORE + cap + DL_PARSE_AFTER bytes */
    size_t cap;
    /* Read: */
    const char *text; /* whole lines; of the last block what follows the last line feed */
    size_t n;
    bool last;
    bool too_long; /* a line that did not fit stood above the text */
    bool broken;   /* the input failed: *why */
    devlog_error why;
    uint64_t taken; /* bytes of the input so far, for progress */
    /* Read, of a packed log in place of text (decode/log/packed.h): */
    bool packed;
    pk_header header;
    uint64_t line; /* lines before it; UINT64_MAX: those that have been read */
    uint8_t *stored;
    size_t cap_stored;
    /* Parsed, when parsing and pairing are apart: */
    dl_marks marks;
    dl_marks carry; /* of the run that the block before has left unfinished */
    dl_outbox out;  /* paired, when consumers are apart */
    dl_block_chip *chips;
    size_t n_chips, cap_chips;
    dl_table_counts counts; /* of the tables when it had been parsed */
    uint64_t rows_so_far;   /* of all inputs, for progress */
} dl_block;

/* Where the reading of an input stands. Zero-initialised but for `in` at its beginning. */
typedef struct dl_block_reader {
    dl_input *in;
    pk_unpack *packed; /* its blocks, when they are taken without their text */
    const char *rest;  /* in the block before: the beginning of a line */
    size_t n_rest;
    bool skipping; /* the rest of a line that was too long */
} dl_block_reader;

/* Makes room for `cap` bytes of text; false when out of memory. */
bool dl_block_init(dl_block *b, size_t cap);
void dl_block_free(dl_block *b);
/* Reads the next block, which may be the one read before or another one; that one must be as it was. After
 * the last block there are no more. */
void dl_block_read(dl_block_reader *r, dl_block *b);
/* Adds a chip line; DEVLOG_ERR_MEMORY when there is no room. */
devlog_status dl_block_add_chip(dl_block *b, const dl_chip_line *chip, devlog_error *err);

#endif
