/* Two op reports beside one another: what became faster, what slower. By op code, or op by op where both hold
 * the same ops in the same order. */
#ifndef DEVLOG_OPS_OP_COMPARE_H
#define DEVLOG_OPS_OP_COMPARE_H

#include "ops/op_table.h"

typedef struct op_compare_options {
    bool list;              /* op by op instead of by op code */
    bool by_fw;             /* firmware instead of kernel durations */
    const char *const *ops; /* op codes; a trailing * is a prefix */
    size_t n_ops;
    double min_share;      /* percent of the device time, in either report: what has less is neither shown nor
                              judged */
    bool judged;           /* worse is what grew by more than: */
    double max_regression; /* percent of the time of one op */
    enum { OP_COMPARE_TEXT, OP_COMPARE_CSV, OP_COMPARE_JSON } format;
    bool colour;
} op_compare_options;

/* One side of a line. */
typedef struct op_compare_side {
    uint64_t count, with_device, ns;
    uint64_t id; /* of the first */
} op_compare_side;

typedef struct op_compare_item {
    op_compare_side before, after;
    const char *code; /* of one of the tables */
    bool worse;
} op_compare_item;

typedef struct op_compare {
    op_compare_item *items; /* by op code: the greatest difference first */
    size_t n;
    op_compare_item all; /* of everything that the filter let through */
    bool same;           /* both hold the same ops in the same order */
    uint64_t difference; /* else the position of the first that differs, from 1 */
    const char *here[2]; /* and what is there; NULL: the report has ended */
    uint64_t worse, below, left_out;
} op_compare;

/* The tables must outlive it. FORMAT when the list is wanted and the reports do not hold the same ops. Free
 * with op_compare_free. */
devlog_status op_compare_make(op_compare *c, const op_table *before, const op_table *after,
                              const op_compare_options *o, devlog_error *err);
void op_compare_free(op_compare *c);
/* Appends it as text, CSV or JSON. Times in CSV and JSON are integers of ns. */
void op_compare_print(const op_compare *c, const op_table *before, const op_table *after,
                      const op_compare_options *o, dl_str *out);

#endif
