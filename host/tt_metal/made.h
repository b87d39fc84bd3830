/* A folder that holds a report and nothing that one could be made of: its rows again, in the form and columns that are
 * asked for. */
#ifndef DEVLOG_TT_METAL_MADE_H
#define DEVLOG_TT_METAL_MADE_H

#include "tt_metal/report.h"

typedef struct tt_made_counts {
    uint64_t rows, short_rows; /* short: with fewer cells than the header; they are kept */
    bool cut;                  /* the last row is */
} tt_made_counts;

devlog_status tt_made_write(const char *path, const tt_report_options *options, dl_str *out,
                            devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                            tt_made_counts *counts, devlog_error *err);

#endif
