/* Lines of an input that are wanted again once all of it has been read, in whatever order: those of a plain file stay there
 * and are read again, others are copied into room that may be taken in a folder (base/big.h). */
#ifndef DEVLOG_TT_METAL_KEPT_H
#define DEVLOG_TT_METAL_KEPT_H

#include "base/big.h"
#include "decode/input.h"

enum { TT_KEPT_STREAMS = 64 };

/* A piece of the file. */
typedef struct tt_kept_window {
    uint64_t at;
    size_t n;
} tt_kept_window;

/* Zero-initialise it and set copy.folder; free it with tt_kept_free. */
typedef struct tt_kept {
    dl_big copy;
    size_t n;      /* bytes of the copy */
    int file;      /* descriptor + 1; 0: lines are copied */
    bool all;      /* the copy is the file's, with the same places */
    char *windows; /* one for each stream */
    tt_kept_window about[TT_KEPT_STREAMS];
    uint64_t asked, missed;
    uint64_t size, seconds, nanoseconds; /* of the file and of its last change, when it was opened */
} tt_kept;

/* Before the first line is added: whether lines may stay where they are. */
void tt_kept_begin(tt_kept *k, const dl_input *input);
/* Adds a line that begins at `place` in the input; *at says where it is. False: no memory. */
bool tt_kept_add(tt_kept *k, const char *line, size_t n, uint64_t place, uint64_t *at);
/* The line, until the next is asked for; NULL: it is not there any more. Lines of one stream are read ahead of. */
const char *tt_kept_line(tt_kept *k, uint64_t at, size_t n, uint32_t stream);
/* Whether the file is not what it was when its lines were added. */
bool tt_kept_changed(const tt_kept *k);
/* As dl_big_cool. */
void tt_kept_cool(tt_kept *k);
void tt_kept_free(tt_kept *k);

#endif
