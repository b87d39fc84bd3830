/* A run as its files tell it, which every section of an answer is computed from: ops with their times, chips, points, and
 * what was lost. Comes from an op report, from a device log or capture, or from both. Not for what follows from it. */
#ifndef DEVLOG_ANSWERS_ANSWER_RUN_H
#define DEVLOG_ANSWERS_ANSWER_RUN_H

#include "answers/answer.h"
#include "answers/run_log.h"
#include "ops/op_table.h"

/* An op that ran, on all of its chips together: the longest of them counts, of collectives the mean. Numbers that nobody
 * knows are NAN; times are ns, or cycles where run.cycles. */
typedef struct answer_op {
    uint32_t row;   /* of the table: the chip that took longest */
    uint32_t chips; /* 0: it ran on the host only */
    double time;    /* on the device: kernels, or firmware where that was asked for */
    double gap;     /* before it */
    double spread;  /* longest minus mean of the chips; NAN with one chip */
    /* Given by flops.h, where shapes are known. */
    double flops, bytes;
    const char *bound; /* "compute", "DRAM", ...; NULL */
} answer_op;

typedef struct answer_chip {
    uint32_t chip;
    const char *arch; /* "" unknown */
    double mhz;       /* NAN unknown */
    const char *mhz_source;
    uint32_t available;                      /* worker cores; 0 unknown */
    uint64_t launches;                       /* rows with device data */
    double span;                             /* from the first firmware to the last; NAN */
    double busy;                             /* of it: union of its launches */
    double first, last;                      /* cycles */
    double gaps;                             /* between ops; NAN */
    double core_error_cycles, host_error_ns; /* NAN unknown */
    size_t warm_up;                          /* launches that come before durations settle */
} answer_chip;

typedef struct answer_run {
    const char *name; /* the input */
    op_table *table;  /* always there; made of launches when there is no op report */
    bool has_report, has_log;
    bool by_fw;     /* firmware instead of kernel durations */
    bool cycles;    /* nobody knows the clock: times are cycles */
    answer_op *ops; /* in the order of the report: what the selection let through, points left out */
    size_t n_ops;
    uint32_t *points; /* rows: signposts and steps of the selection */
    size_t n_points;
    answer_chip *chips; /* by number */
    size_t n_chips;
    bool by_order; /* chips of an op were put together by the order of ops, not by their ids */
    double host_span, host_time, compile_time; /* ns; NAN */
    size_t left_out;                           /* rows that the selection did not let through */
    run_log *log;                              /* NULL: no device log */
} answer_run;

static inline const op_table_row *answer_row(const answer_run *r, const answer_op *op)
{
    return &r->table->rows[op->row];
}
/* What else the report says of it: numbers and texts by their kinds (ops/op_wide.h). */
static inline const op_wide *answer_wide(const answer_run *r, const answer_op *op)
{
    return r->table->wide ? &r->table->wide[op->row] : NULL;
}
static inline const char *answer_code(const answer_run *r, const answer_op *op)
{
    return dl_intern_text(r->table->texts, r->table->rows[op->row].code, NULL);
}

#endif
