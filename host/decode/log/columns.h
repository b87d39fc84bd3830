/* Columns: which cell of a device log's line holds what, found by the names in its header line, and the chip
 * line above it. One table of names serves every version of the format that there has been. */
#ifndef DEVLOG_DECODE_COLUMNS_H
#define DEVLOG_DECODE_COLUMNS_H

#include <stdbool.h>

#include "base/error.h"
#include "decode/tables.h"

typedef enum dl_column {
    DL_COL_CHIP,
    DL_COL_CORE_X,
    DL_COL_CORE_Y,
    DL_COL_RISC,
    DL_COL_TIMER_ID,
    DL_COL_TIME,
    DL_COL_DATA,
    DL_COL_RUN_ID,
    DL_COL_RUN_HOST_ID,
    DL_COL_TRACE_ID,
    DL_COL_TRACE_COUNTER,
    DL_COL_ZONE,
    DL_COL_TYPE,
    DL_COL_LINE,
    DL_COL_FILE,
    DL_COL_META,
    DL_COLUMN_KINDS
} dl_column;

enum { DL_MAX_CELLS = 64 }; /* further cells of a line are not looked at */

/* A piece of the input; not terminated, not owned. */
typedef struct dl_cell {
    const char *text;
    size_t len;
} dl_cell;

typedef struct dl_columns {
    int8_t at[DL_COLUMN_KINDS]; /* cell number, or -1 */
    uint8_t n_cells;            /* that the header has */
    uint8_t n_needed;           /* cells that a row must have */
    bool named;                 /* zones by name and type (2024 on); otherwise by timer_id 1..4 */
} dl_columns;

/* Whether the cells are a header (three or more known names); those behind DL_MAX_CELLS are not there, whatever n says. */
bool dl_columns_is_header(const dl_cell *cells, size_t n);
/* Reads a header. On failure the text names the missing column. *twice is a name that occurs twice, or NULL.
 */
devlog_status dl_columns_read(dl_columns *columns, const dl_cell *cells, size_t n, const char **twice,
                              devlog_error *err);
/* Completes columns of which at[] is known, of a header of n cells; false: there can be no such header. */
bool dl_columns_make(dl_columns *c, size_t n);
/* The columns of a file without a header, judged by its first row; false when that cannot be known. */
bool dl_columns_guess(dl_columns *columns, const dl_cell *cells, size_t n);

/* Whether the line is a chip line ("ARCH: ..." or "Chip clock is at ..."); fills *chip when it is. */
bool dl_chip_line_read(dl_chip_line *chip, const char *line, size_t n);

/* "zone name" and so on: the newest name of a column. */
const char *dl_column_name(dl_column column);

#endif
