/* Cells and rows of CSV, block by block: as libcsv gives them without options, which the tests compare it with. Cells are mostly
 * slices of the block, so that nothing is copied. Not for device logs (decode/log), whose lines have readers of their own, nor
 * for what is in a cell.
 *
 *     dl_csv csv = {.cell = on_cell, .row = on_row, .ctx = ctx};
 *     while (... read block ...)
 *         dl_csv_feed(&csv, block, n);
 *     dl_csv_end(&csv);
 *     dl_csv_free(&csv);
 *
 * A line that is empty is no row; CR, LF and both end a line. Blanks around a cell are no part of it. A quoted cell holds
 * commas, line ends, and quotes that are written twice. What is malformed is taken as it stands. */
#ifndef DEVLOG_BASE_CSV_H
#define DEVLOG_BASE_CSV_H

#include "base/str.h"

typedef enum dl_csv_state { DL_CSV_ROW, DL_CSV_FIELD, DL_CSV_INSIDE, DL_CSV_PERHAPS_ENDED } dl_csv_state;

typedef struct dl_csv {
    void (*cell)(void *ctx, const char *text, size_t n); /* the text is valid during the call */
    void (*row)(void *ctx);
    void *ctx;
    dl_csv_state state;
    bool quoted;
    size_t blanks; /* at the end of the cell in hand */
    dl_str text;   /* of a cell that is no slice of the block; .failed: no memory for it */
} dl_csv;

void dl_csv_feed(dl_csv *c, const char *text, size_t n);
/* What the last line has, when it has no end. */
void dl_csv_end(dl_csv *c);
void dl_csv_free(dl_csv *c);

#endif
