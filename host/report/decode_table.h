/* The terminal's tables of a decoded log, and the list of what was lost that ends every report. */
#ifndef DEVLOG_REPORT_DECODE_TABLE_H
#define DEVLOG_REPORT_DECODE_TABLE_H

#include "decode/analysis/analyzer.h"
#include "decode/analysis/groups.h"

/* What the rows of a table are sorted by: the greatest first, names from A on. */
typedef enum dl_table_sort {
    DL_SORT_TOTAL,
    DL_SORT_AVERAGE,
    DL_SORT_MAX,
    DL_SORT_COUNT,
    DL_SORT_NAME
} dl_table_sort;

typedef struct dl_table_options {
    bool colour;
    uint32_t max_launches; /* of the table per launch; 0: none */
    unsigned width;        /* of the terminal; 0: none, nothing is shortened; DL_GRID_MARKDOWN */
    dl_table_sort sort;
    size_t top; /* rows of a table, of a launch in the table per launch; 0: all */
} dl_table_options;

/* Durations per RISC, then per launch and RISC, in cycles and, when the clock is known, nanoseconds. */
devlog_status dl_report_table(dl_decode *d, const dl_table_options *options, dl_str *out, devlog_error *err);
/* The line above a table: its title, and the chip. */
void dl_report_head(const dl_tables *t, const dl_chip *chip, const dl_table_options *options,
                    const char *title, dl_str *out);
/* Every analysis that has results, over all cores of a chip. */
void dl_report_analyses(dl_decode *d, const dl_analyzer *a, const dl_table_options *options, dl_str *out);
/* What was lost, repaired or noticed; one line when there was nothing. */
void dl_report_losses(const dl_losses *l, bool colour, dl_str *out);
/* The same without how much was read. */
void dl_report_losses_of_part(const dl_losses *l, bool colour, dl_str *out);

#endif
