/* Lines of tt-metal's text files, which may have gigabytes: an input is read piece by piece, and each line is handed
 * over in place. And the cells of lines in which nothing is quoted. */
#ifndef DEVLOG_TT_METAL_LINES_H
#define DEVLOG_TT_METAL_LINES_H

#include "base/digits.h"
#include "decode/input.h"
#include "tt_metal/found.h"

typedef struct tt_progress {
    void (*call)(void *ctx, uint64_t taken, uint64_t size);
    void *ctx;
} tt_progress;

enum { TT_LINES_AHEAD = 64 };

typedef struct tt_lines {
    void *ctx;
    /* A line without its end, behind which TT_LINES_AHEAD bytes can be read, and its number. False: no memory. */
    bool (*take)(void *ctx, const char *line, size_t n, uint64_t number);
    /* Where a line ends; NULL: more must be read. Without it a line ends at the next feed. */
    const char *(*line_end)(void *ctx, const char *line, const char *end);
    /* A place in the next line that may be of interest; NULL: there is none in what is there. Without it all lines are
     * taken; with it the others are not even counted. */
    const char *(*next)(void *ctx, const char *text, const char *end);
    /* Called after each piece; true: nothing more of the input is wanted. */
    bool (*enough)(void *ctx);
    size_t longest;  /* a longer line is taken in pieces */
    uint64_t *place; /* where the line in hand begins in the input; NULL: nobody asks */
} tt_lines;

/* Reads the input to its end and closes it. What cannot be read any further is found (TT_STOPPED), unless `found` is
 * NULL. Fails when memory runs out. */
devlog_status tt_lines_read(const tt_lines *l, dl_input *input, const tt_progress *progress, tt_found *found,
                            devlog_error *err);

typedef struct tt_cell {
    const char *text;
    size_t n;
} tt_cell;

/* The cells between commas, without the blanks around them; at most `cap`, of which *n are there. Quotes stay. */
void tt_cells_split(const char *line, size_t n, tt_cell *cells, size_t cap, size_t *found);
bool tt_cell_is(tt_cell c, const char *text);
/* Digits alone, at most 19. */
static inline bool tt_cell_number(tt_cell c, uint64_t *out)
{
    return dl_digits_value(c.text, c.n, out);
}

#endif
