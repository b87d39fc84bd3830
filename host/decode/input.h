/* Inputs: the bytes of a log from a file, a pipe or standard input, unpacked when they are gzip, zstd, xz or
 * a packed log. Streaming: nothing is read twice and memory does not grow with the input. */
#ifndef DEVLOG_DECODE_INPUT_H
#define DEVLOG_DECODE_INPUT_H

#include <stdbool.h>

#include "decode/input_follow.h"

/* What is said of an input that is not there. */
#define DL_NOT_THERE                                                                                         \
    "cannot read %s: No such file or directory; devlog view --list-only FOLDER lists the logs below a folder"

typedef struct dl_input dl_input;
struct pk_index;
struct dl_packed_range;

/* Opens a file; "-" is standard input. Fails with NOT_FOUND, IO (unreadable, a folder) or MEMORY. */
devlog_status dl_input_open(dl_input **input, const char *path, devlog_error *err);
/* From now on its end is where it has not grown any more (input_follow.h). ARGUMENT when it is no file that can grow. */
devlog_status dl_input_follow(dl_input *input, const dl_follow *follow, devlog_error *err);
/* Reads from memory, which is borrowed; `name` is for messages. */
devlog_status dl_input_memory(dl_input **input, const char *name, const void *bytes, size_t n,
                              devlog_error *err);
/* Bytes [from, to) of a file that is read as it is, unpacked by nobody. */
devlog_status dl_input_range(dl_input **input, const char *path, uint64_t from, uint64_t to,
                             devlog_error *err);
void dl_input_close(dl_input *input);

/* "log.csv", or "standard input". */
const char *dl_input_name(const dl_input *input);
/* Its bytes are those of the file: nothing is unpacked. */
bool dl_input_is_plain(const dl_input *input);
/* Fills up to `cap` bytes; *n == 0 at the end. On failure what came before is good (a damaged archive). */
devlog_status dl_input_read(dl_input *input, void *bytes, size_t cap, size_t *n, devlog_error *err);
/* The first bytes, up to `n`, which a later read gives again; less at the end of a short input. */
devlog_status dl_input_peek(dl_input *input, const void **bytes, size_t *n, devlog_error *err);
/* Nobody will read more than the first n bytes, for all that is known: a packed log makes no more text unless they do. */
void dl_input_few(dl_input *input, size_t n);
/* The blocks of a packed log of which no text has been read: who takes these reads no more text. NULL: it is
 * none, or its text must be read. */
struct pk_unpack *dl_input_packed(dl_input *input);
/* A packed log of which nothing has been read, but for looking at its beginning. */
bool dl_input_is_untouched(const dl_input *input);
/* The blocks of a packed log, beside what is taken from it. FORMAT: it has no whole index, or is no such file. Close the range in
 * any case; it borrows the input's name. */
devlog_status dl_input_blocks(const dl_input *input, struct dl_packed_range *range, devlog_error *err);
/* Reads only these of its blocks from now on; both are borrowed. */
void dl_input_choose(dl_input *input, const struct pk_index *index, const bool *wanted);
/* The descriptor of a file whose bytes are those that are read, and which does not grow; -1: it is something else. */
int dl_input_plain_file(const dl_input *input);
/* Bytes taken from the file so far, and its size; 0: unknown. For progress. */
uint64_t dl_input_taken(const dl_input *input);
uint64_t dl_input_size(const dl_input *input);

#endif
