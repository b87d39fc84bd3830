/* Tables of what is no zone: sums, values and counters, events, and the messages of kernels. */
#ifndef DEVLOG_REPORT_SERIES_TABLE_H
#define DEVLOG_REPORT_SERIES_TABLE_H

#include "report/decode_table.h"

/* A table for each kind that there is, chip by chip. */
devlog_status dl_report_series(dl_decode *d, const dl_table_options *options, dl_str *out, devlog_error *err);

#endif
