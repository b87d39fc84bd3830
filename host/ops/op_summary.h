/* Where the device time of an op report went: its ops ranked, grouped by op
 * code or one by one. */
#ifndef DEVLOG_OPS_OP_SUMMARY_H
#define DEVLOG_OPS_OP_SUMMARY_H

#include "ops/op_filter.h"

typedef struct op_summary_options {
    bool list;             /* every op by itself, in the order of the file, instead of grouped
                              and ranked */
    bool by_fw;            /* firmware instead of kernel durations */
    uint64_t first, last;  /* GLOBAL CALL COUNT, both included; last 0: no end */
    const char *from, *to; /* signposts: rows behind the first, before the second;
                              NULL: no such bound */
    op_filter filter;
    double min_share; /* percent of the device time; less is left out of the list,
                         not of the totals */
    enum { OP_SUMMARY_TEXT, OP_SUMMARY_CSV, OP_SUMMARY_JSON, OP_SUMMARY_MARKDOWN } format;
    bool colour;
    unsigned width; /* of the terminal; 0: none, nothing is shortened */
    size_t top;     /* lines of text; 0: all */
} op_summary_options;

/* One line of it. */
typedef struct op_summary_item {
    uint64_t count, with_device, total_ns, min_ns, max_ns;
    uint64_t host_ns; /* nested ops and rows of one op are not added up again */
    uint64_t fw_ns, kernel_ns;
    uint64_t with_fw, with_kernel, with_host, with_gap; /* rows that say it */
    int64_t gap_ns;                                     /* sum of the gaps before */
    uint64_t id;                                        /* of the first */
    uint32_t code, type, cores_min, cores_max;
} op_summary_item;

typedef struct op_summary {
    op_summary_item *items;
    size_t n;
    op_summary_item all; /* of everything that the filters let through */
    uint64_t left_out;   /* rows that they did not */
    uint64_t below;      /* items below the share */
} op_summary;

/* NOT_FOUND when a signpost of the options is not in the table. Free with
 * op_summary_free. */
devlog_status op_summary_make(op_summary *s, const op_table *t, const op_summary_options *o,
                              devlog_error *err);
void op_summary_free(op_summary *s);
/* Appends it as text, CSV, JSON or Markdown. Numbers in CSV and JSON are integers of ns.
 */
void op_summary_print(const op_summary *s, const op_table *t, const op_summary_options *o, dl_str *out);

#endif
