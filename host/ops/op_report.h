/* The op report: stitched rows as CSV or JSON. One op is in memory at a time. */
#ifndef DEVLOG_OPS_OP_REPORT_H
#define DEVLOG_OPS_OP_REPORT_H

#include "ops/op_columns.h"
#include "ops/stitch.h"

typedef struct op_report_options {
    op_column_set columns;
    bool json;          /* an array of objects, one for each row; numbers as integers */
    bool plain;         /* every row cell by cell: the same bytes, for tests */
    bool no_host_times; /* leave them out: they would be those of downloading device data */
} op_report_options;

typedef struct op_report_counts {
    uint64_t rows, ops, points; /* written */
    uint64_t points_left_out;   /* the reference's columns have no place for signposts and steps */
    uint64_t tensors_left_out;  /* of ops with more than 255 inputs or outputs */
    uint64_t ops_with_device, launches_without_op;
    uint64_t damaged;                      /* lines of the op log that could not be read to their end */
    uint64_t kernel_ns, fw_ns, overlap_ns; /* sums of the columns of those names */
    uint64_t host_ns; /* in which an op was open, per thread: nested ops are not counted again */
} op_report_counts;

/* Appends to `out`, and calls `flush` now and then so that it can be written and emptied. */
devlog_status op_report_write(op_stitch *s, const op_report_options *options, dl_str *out,
                              devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                              op_report_counts *counts, devlog_error *err);

#endif
