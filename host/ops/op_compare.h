/* Two op reports beside one another: what became faster, what slower. By op code, or op by op where both hold
 * the same ops in the same order. */
#ifndef DEVLOG_OPS_OP_COMPARE_H
#define DEVLOG_OPS_OP_COMPARE_H

#include "ops/op_filter.h"

typedef struct op_compare_options {
    bool list;  /* op by op instead of by op code */
    bool by_fw; /* firmware instead of kernel durations */
    op_filter filter;
    double min_share;      /* percent of the device time, in either report: what has less is neither shown nor
                              judged */
    bool judged;           /* whether any of OP_WORSE_* is looked for */
    double max_regression; /* percent */
    bool host_told;        /* else OP_COMPARE_HOST is for host times and gaps: */
    double max_host;       /* percent */
    bool other_ops;        /* other ops than before, or another number of them, are no fault */
    enum { OP_COMPARE_TEXT, OP_COMPARE_CSV, OP_COMPARE_JSON, OP_COMPARE_MARKDOWN } format;
    bool colour;    /* of text */
    unsigned width; /* of the terminal; 0: none, nothing is shortened */
    size_t top;     /* lines of text; 0: all */
} op_compare_options;

/* Percent by which host times and gaps may grow unless told: they are times of a whole machine, and two runs
 * of one program differ by a factor of three when the first of them has to compile or to fill caches. */
enum { OP_COMPARE_HOST = 400 };

/* What is worse about a line, or in total. Device times: the mean of one op, or the total, grew by more than
 * max_regression percent, or that of the other duration did, firmware's beside kernels' or the other way
 * round. Counts: ops or launches of a code are more or fewer by more than that. */
enum {
    OP_WORSE_TIME = 1,
    OP_WORSE_COUNT = 2,
    OP_WORSE_DATA =
        4, /* a smaller part of them has device data, or none of them host times or gaps any more */
    OP_WORSE_GONE = 8, /* only before */
    OP_WORSE_NEW = 16, /* only after */
    OP_WORSE_HOST = 32,
    OP_WORSE_GAPS = 64,
    OP_WORSE_OTHER = 128, /* the other device duration */
};

/* One side of a line. */
typedef struct op_compare_side {
    uint64_t count, with_device, ns; /* a duration of 0 is none: nothing runs in no time */
    uint64_t with_other, other_ns;   /* firmware durations where ns is of kernels, and the other way round */
    uint64_t id;                     /* of the first */
    /* In total only: rows with a gap before them, the gaps that are greater than 0, and those inside of ops;
     * rows with host times, and the time, nested ops and rows of one op counted once. */
    uint64_t with_gap, gap_ns, with_host, host_ns;
} op_compare_side;

typedef struct op_compare_item {
    op_compare_side before, after;
    const char *code; /* of one of the tables */
    uint8_t worse;    /* OP_WORSE_* */
} op_compare_item;

typedef struct op_compare {
    op_compare_item *items; /* by op code: the greatest difference first */
    size_t n;
    op_compare_item all;             /* of everything that the filter let through */
    bool same;                       /* both hold the same ops in the same order */
    uint64_t difference;             /* else the position of the first that differs, from 1 */
    const char *here[2];             /* and what is there; NULL: the report has ended */
    uint64_t worse, below, left_out; /* worse: lines, the total among them */
} op_compare;

/* The tables must outlive it. FORMAT when the list is wanted and the reports do not hold the same ops;
 * NOT_FOUND when the filter lets nothing through, or nothing can be judged as the report before has no device
 * data. Free with op_compare_free. */
devlog_status op_compare_make(op_compare *c, const op_table *before, const op_table *after,
                              const op_compare_options *o, devlog_error *err);
void op_compare_free(op_compare *c);
/* Appends it as text, CSV, JSON or Markdown. Times in CSV and JSON are integers of ns. */
void op_compare_print(const op_compare *c, const op_table *before, const op_table *after,
                      const op_compare_options *o, dl_str *out);

#endif
