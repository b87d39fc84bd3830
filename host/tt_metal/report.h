/* The report of a folder of tt-metal's: joined rows as CSV or JSON. Cells are what tt-metal's script
 * (tools/tracy/process_ops_logs.py at 00761ba) writes, to the character; devlog's own columns stand last. */
#ifndef DEVLOG_TT_METAL_REPORT_H
#define DEVLOG_TT_METAL_REPORT_H

#include "tt_metal/join.h"

typedef struct tt_report_options {
    bool json;
    bool reference; /* the columns of the reference document, in its order */
} tt_report_options;

typedef struct tt_report_counts {
    uint64_t rows, points, launches;
    uint64_t kernel_ns, fw_ns; /* sums of the columns of those names */
} tt_report_counts;

/* Appends to `out`, and calls `flush` now and then so that it can be written and emptied. */
devlog_status tt_report_write(tt_join *j, const tt_report_options *options, dl_str *out,
                              devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                              tt_report_counts *counts, devlog_error *err);

#endif
