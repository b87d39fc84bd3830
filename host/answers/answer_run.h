/* A run as its files tell it, which every section of an answer is computed from: ops with their times, chips, points, and
 * what was lost. Comes from an op report, from a device log or capture, or from both. Not for what follows from it. */
#ifndef DEVLOG_ANSWERS_ANSWER_RUN_H
#define DEVLOG_ANSWERS_ANSWER_RUN_H

#include "answers/answer.h"
#include "answers/run_log.h"
#include "ops/op_table.h"
#include "ops/select.h"

/* What limits an op, each in per cent of its time; NAN unknown (flops.h). */
typedef enum op_share {
    OP_OF_COMPUTE,  /* FLOPs by what the cores that it ran on could do at its fidelity */
    OP_OF_DRAM,     /* bytes by what the DRAM could move; computed, or measured where the report has it */
    OP_OF_NOC,      /* as measured */
    OP_IMBALANCE,   /* 100 - mean core by slowest core */
    OP_OVERHEAD,    /* of the firmware's time what is no kernel's */
    OP_OF_DISPATCH, /* dispatch by firmware: 100 and more when the dispatcher took longer than the op */
    OP_SHARES
} op_share;

/* An op that ran, on all of its chips together: the longest of them counts, of collectives the mean. Numbers that nobody
 * knows are NAN; times are ns, or cycles where run.cycles. */
typedef struct answer_op {
    uint32_t row;   /* of the table: the chip that took longest */
    uint32_t chips; /* 0: without device data */
    bool captured;  /* for a trace: it did not run then, and has another row for each replay */
    double time;    /* on the device: kernels, or firmware where that was asked for */
    double gap;     /* before it, on that chip */
    double spread;  /* of its chips: the longest minus the mean; NAN with one chip */
    double host;    /* of the host inside it, without the ops inside it */
    /* Given by who knows shapes (flops.h); NAN and NULL before that. */
    double flops, bytes;
    const char *bound; /* "compute", "DRAM", ... */
    double share[OP_SHARES];
} answer_op;

typedef struct answer_chip {
    uint32_t chip;
    const char *arch;       /* "": unknown */
    double mhz;             /* NAN: unknown */
    double report_mhz;      /* by cycles and ns of the report, where the log says another clock; NAN */
    const char *mhz_source; /* of whoever says it: "device log" or "cycles and ns of the report" */
    double available;       /* worker cores; NAN: unknown */
    uint64_t rows;          /* with device data: launches, or what an op did at a stretch */
    uint32_t first_row;     /* of the table: that of them which began first */
    double span;            /* from the first firmware to the last, times as above; NAN: unknown */
    double busy;            /* of it: union of its launches; NAN */
    double sum;             /* of all rows, one after the other */
    double core_error_cycles, host_error_ns; /* how well clocks are known; NAN: not known */
    size_t warm_up; /* rows at the beginning that come before durations settle (decode/warm_up.h) */
    size_t boots;   /* how often its counter began; 0: nothing of it has cycles */
} answer_chip;

typedef struct answer_run {
    const char *name; /* the input */
    const char *
        folder; /* of one that was unpacked: where its files are, which texts call by its name; NULL: it was not */
    op_table *table; /* always there, with `wide`; made of launches where there is no op report */
    run_log *log;    /* NULL: no device log */
    /* Why it waited; NULL: kernels did not record it, or not all launches are wanted. Borrowed. */
    const struct causes_sums *causes;
    const struct causes_saves *saves; /* with `causes`: by op */
    const struct memory_run *memory;  /* buffers of its devices; NULL: there is no log of them. Borrowed. */
    bool has_report;
    bool by_fw;     /* times of ops are those of firmware, not of kernels */
    bool cycles;    /* nobody knows the clock: times are cycles */
    answer_op *ops; /* in the order of the report: what the selection let through */
    size_t n_ops;
    uint32_t *points; /* rows: signposts and steps among them */
    size_t n_points;
    answer_chip *chips; /* by number */
    size_t n_chips;
    bool by_order;                  /* chips of an op were put together by the order of ops, not by ids */
    uint8_t *wanted;                /* by row: the selection lets it through; answer_run_wants */
    size_t first, last;             /* rows that the selection is about: [first, last) */
    size_t left_out;                /* rows that the selection did not let through */
    size_t timeless;                /* ops of the device without device data, in any of their rows */
    double host_span;               /* ns, from the first op's start to the last one's end; NAN */
    double host_time;               /* ns in which an op was open, by thread, nested ones once; NAN */
    double compile_time;            /* ns inside of CompileProgram; NAN */
    double write_time, read_time;   /* ns inside of WriteToDevice, ReadFromDevice; NAN */
    double write_bytes, read_bytes; /* that they moved; NAN: not of all of them is it known */
    double profiler_cost;           /* ns that the log of ops took itself; NAN */
    double *
        shifts; /* by row: cycles that lay the starts of its chip's counter one behind the other; NULL: none began twice */
} answer_run;

typedef struct answer_run_options {
    const op_selection *selection;
    bool by_fw;
    bool made;                         /* the table was made of launches: there is no op report */
    bool cycles;                       /* its times are cycles */
    const struct run_touched *touched; /* of launches only these; NULL: all */
} answer_run_options;

/* `table` was read with op_table_read_wide, or made by run_log_rows; it is borrowed. NOT_FOUND: the selection leaves nothing,
 * or names what is not there. Free with answer_run_free after a success. */
devlog_status answer_run_make(answer_run *r, op_table *table, const answer_run_options *o, devlog_error *err);
/* Adds what was read of the device log, which is borrowed. */
void answer_run_add_log(answer_run *r, run_log *log);
void answer_run_free(answer_run *r);

static inline bool answer_run_wants(const answer_run *r, size_t row)
{
    return r->wanted[row];
}

/* Whether several chips' times of it are their mean: a collective op, in which chips wait for one another. */
bool answer_is_collective(const char *code);

static inline const op_table_row *answer_row(const answer_run *r, const answer_op *op)
{
    return &r->table->rows[op->row];
}
/* Whether it ran on the host alone. An op of the device (OP TYPE) without device data did not: it was captured for a trace, or
 * its data are missing. */
bool answer_on_host(const answer_run *r, const answer_op *op);
/* DEVICE FW START and END CYCLE on one time line of its chip; NAN: not known. */
static inline double answer_start(const answer_run *r, size_t row)
{
    return r->table->wide[row].numbers[OP_FW_START] + (r->shifts ? r->shifts[row] : 0);
}
static inline double answer_end(const answer_run *r, size_t row)
{
    return r->table->wide[row].numbers[OP_FW_END] + (r->shifts ? r->shifts[row] : 0);
}
/* Whether its chip had run nothing that is wanted before it: the gap is before the run. */
bool answer_is_first(const answer_run *r, const answer_op *op);
/* What else the report says of it: numbers and texts by their kinds (ops/op_wide.h). */
static inline const op_wide *answer_wide(const answer_run *r, const answer_op *op)
{
    return &r->table->wide[op->row];
}
static inline const char *answer_code(const answer_run *r, const answer_op *op)
{
    return dl_intern_text(r->table->texts, r->table->rows[op->row].code, NULL);
}
static inline const char *answer_wide_text(const answer_run *r, const answer_op *op, op_wide_text what)
{
    return dl_intern_text(r->table->texts, r->table->wide[op->row].texts[what], NULL);
}
/* NULL: there is none of this number. */
const answer_chip *answer_chip_of(const answer_run *r, uint32_t chip);

#endif
