/* Unpacking a packed log as a stream: its text, from any source of its bytes, on the thread of who reads, in
 * memory for one block. Reads on behind damage, and tells it at the end. For files and two threads:
 * pack/pack.h. */
#ifndef DEVLOG_PACK_UNPACK_H
#define DEVLOG_PACK_UNPACK_H

#include "pack/frame.h"

typedef struct pk_unpack pk_unpack;

/* Whether a file that begins so is a packed log. */
bool pk_is_packed(const void *bytes, size_t n);

/* NULL: no memory. */
pk_unpack *pk_unpack_new(pk_source *source, void *ctx);
void pk_unpack_free(pk_unpack *u);
/* Text: how many bytes there are now; 0 at the end; -1 when the source fails, or at the end when anything was
 * wrong: pk_unpack_why, NULL when it was the source. */
ssize_t pk_unpack_read(pk_unpack *u, void *bytes, size_t cap);
const char *pk_unpack_why(const pk_unpack *u);

/* Before anything else of it: the first PK_FIRST_TEXT bytes of the text, without making more of it. They come again, as text or in
 * their block. False: that cannot be (a short first block, or what is wrong); nothing has been lost by asking. */
enum { PK_FIRST_TEXT = 512 };
bool pk_unpack_first(pk_unpack *u, char bytes[PK_FIRST_TEXT]);

/* Nobody will read more than the first n bytes of text, for all that is known: no more of the first block's is made unless
 * they do. */
void pk_unpack_few(pk_unpack *u, size_t n);

/* The blocks as they are stored, for who reads them without their text (pack/rows.h): 1, with *stored until
 * the next call; 0 and -1 as above. No text may be read after that. */
int pk_unpack_block_next(pk_unpack *u, pk_header *h, const uint8_t **stored);
/* Before it: when text was read, but of the first block only, that block comes again. False: of others too. */
bool pk_unpack_again(pk_unpack *u);

/* Some blocks only, from the one behind that in hand on. */
typedef struct pk_choice {
    const pk_entry *entries; /* of all blocks */
    const bool *wanted;
    size_t n;
    uint64_t index_at, end_at; /* where the index and the end are in the file */
    uint64_t size;             /* of the file */
    pk_seek *seek;             /* in the source, with its context */
} pk_choice;

/* `choice`, but for the struct itself, is borrowed. */
void pk_unpack_choose(pk_unpack *u, const pk_choice *choice);
/* How many lines of the log are before the block in hand; UINT64_MAX: as many as have been read. */
uint64_t pk_unpack_line(const pk_unpack *u);

/* The text of a block, checked; `text` has PK_LONGEST_ROW bytes more than it needs. What is wrong, or NULL. */
const char *pk_unpack_block(pk_unpacker *u, const pk_header *h, const uint8_t *stored, char *text);

#endif
