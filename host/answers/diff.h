/* Two versions of a program beside one another: what became slower or faster, by how much, and how sure that
 * is. Each version was run once or several times; what those runs recorded is added run by run, from op
 * reports (diff_ops.c) and device logs (diff_log.c), and then judged (diff_judge.c). Not for finding files
 * (inputs.c), conditions that fail (gate.h), or printing (diff_print.h). */
#ifndef DEVLOG_ANSWERS_DIFF_H
#define DEVLOG_ANSWERS_DIFF_H

#include "answers/launch_rows.h"
#include "answers/rank_test.h"
#include "base/intern.h"
#include "base/str.h"
#include "ops/op_table.h"

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

typedef enum diff_kind {
    DIFF_TOTAL, /* of a run: diff_total says which */
    DIFF_OP,    /* an op of one code and shape; in logs without ops a launch */
    DIFF_ZONE,  /* a zone of one RISC */
    DIFF_CAUSE, /* what a RISC or a zone took in an op, without the zones inside it; is not tested */
    DIFF_KINDS
} diff_kind;

typedef enum diff_total {
    DIFF_DEVICE,  /* time of all ops, or launches, on the device */
    DIFF_GAPS,    /* between ops, and inside of ops between their launches */
    DIFF_HOST,    /* the host inside ops, nested ones counted once */
    DIFF_BUSIEST, /* as DIFF_DEVICE, of the chip that has most of it; where a run has several */
    DIFF_TOTALS
} diff_total;

typedef enum diff_verdict {
    DIFF_SAME, /* nothing but chance, or equal */
    DIFF_SLOWER,
    DIFF_FASTER,
    DIFF_UNDECIDED, /* too few samples to tell this line, among so many, from chance */
    DIFF_IS_NEW,
    DIFF_IS_GONE,
    DIFF_NO_TIME,   /* there, and without a time in both, or in the new one only */
    DIFF_LOST_TIME, /* with a time in the old one only */
    DIFF_VERDICTS
} diff_verdict;

/* With several runs on a side the sample is a run: the mean of the line's values in it. With one run on both
 * it is a value: an op's repeat, what a zone took in a launch on average. */
typedef struct diff_sample {
    double sum;
    uint32_t n, run;
} diff_sample;

typedef struct diff_part {
    diff_sample *samples;
    size_t n, cap;
    uint64_t count, without; /* how often it was there, and how often without a time */
    double per_run;          /* sum of its values, per run of the side */
    /* by diff_judge */
    double *sorted; /* the samples */
    double mean, median;
} diff_part;

typedef struct diff_line {
    diff_kind kind;
    uint32_t group, place; /* ops: number of code and shape, and which of the equal ones in a run, from 0;
                              totals: diff_total */
    uint32_t parent;       /* causes: the line of their op */
    const char *name;      /* ops: code and shapes; otherwise the zone, "" for a RISC's kernel as a whole */
    const char *risc;      /* "" for ops */
    const char *where;     /* zones: file:line, or "" */
    const char *moved;     /* where it is now, when that is another place; NULL */
    bool marked;           /* a zone of the program, not a RISC's kernel or firmware */
    bool by_clock;         /* values are cycles */
    bool numbered;         /* there are several places of this group */
    bool dead;             /* has become part of another */
    diff_part part[DIFF_SIDES];
    /* by diff_judge */
    double difference; /* per run: of means of values times their number */
    double change;     /* of one value, in percent */
    bool has_change;
    double p, corrected; /* 1 unless tested */
    double higher;       /* -1 to 1: how much more often new samples are above old ones than below */
    bool tested, too_few;
    bool is_small; /* left alone, as diff.min_share asks for */
    diff_verdict verdict;
} diff_line;

/* One run: one input. */
typedef struct diff_run {
    uint32_t side;
    char *name;
    char *arch;        /* or NULL */
    double mhz;        /* of its first chip; 0: unknown */
    bool clocks;       /* its chips have different ones */
    bool instructions; /* cycles are: it is of a simulator without timing */
    op_aiclk aiclk;    /* what its chips said of their clocks */
    bool has_ops, has_log;
    uint64_t ops, launches, lost; /* lost: kinds of loss in its log */
    uint64_t timeless;            /* ops without device data */
} diff_run;

typedef struct diff {
    diff_run *runs;
    size_t n_runs, cap_runs;
    uint32_t side_runs[DIFF_SIDES];
    diff_line *lines;
    size_t n, cap;
    dl_intern *keys;  /* number i + 1 is line i; see diff_find */
    dl_intern *texts; /* names */
    dl_str key;
    bool no_memory;
    /* the options, and what came of them */
    bool ops;     /* ops are those of op reports, not launches */
    bool several; /* a side has several runs */
    bool chips;   /* a run has several chips */
    bool exact;   /* no chance is in it: every difference is real */
    bool by_fw;
    double alpha;          /* how often it may be wrong: 0.001 */
    double min_share;      /* percent; lines of less, in both, are not tested */
    const char *time_unit; /* "ns", or "cycles" when only logs of unknown clock were compared */
    bool cycles_unknown;   /* the clock of a log is: times of logs are cycles */
    size_t tested, undecided, counted[DIFF_KINDS][DIFF_VERDICTS];
    uint32_t *order; /* lines as they are shown: by kind, the greatest difference first; n_order of them */
    size_t n_order;
} diff;

/* ---- Making it: begin, runs, finish --- */

typedef struct diff_options {
    uint32_t runs[DIFF_SIDES]; /* how many will be added */
    bool ops;                  /* there is an op report among them: launches of logs are no ops then */
    bool exact, by_fw;
    double confidence; /* percent; 0: 99.9 */
    double min_share;
} diff_options;

devlog_status diff_begin(diff *d, const diff_options *o, devlog_error *err);
void diff_free(diff *d);
/* A run of a side from an op report, a log, or both; either may be NULL. `table` is needed no longer than this
 * call; it was read with op_table_read_more. */
devlog_status diff_add_run(diff *d, uint32_t side, const char *name, const op_table *table,
                           const char *const *logs, size_t n_logs, devlog_error *err);
/* NOT_FOUND when the sides have nothing in common that could be compared. */
devlog_status diff_finish(diff *d, devlog_error *err);

/* ---- For those who add and judge --- */

/* A line by its kind and key, new when it is not there yet; UINT32_MAX: no memory, which diff_finish tells. */
uint32_t diff_find(diff *d, diff_kind kind, const char *key, size_t n);
/* What `count` of it took together, one sample; `sum` < 0: they have no time. */
void diff_add(diff *d, uint32_t line, uint32_t side, uint32_t run, double sum, uint64_t count);
const char *diff_text(diff *d, const char *text, size_t n);
/* What each chip of a run took. Zero-initialised; diff_chips_end adds that of the busiest one, and frees. */
typedef struct diff_chips {
    dl_intern *numbers;
    double *times; /* by number */
    size_t cap;
} diff_chips;
void diff_chip_took(diff *d, diff_chips *c, uint32_t chip, double time);
void diff_chips_end(diff *d, diff_chips *c, uint32_t side, uint32_t run);

/* `rows`: lines of the run's ops, by which its launches find theirs. */
devlog_status diff_add_ops(diff *d, uint32_t run, const op_table *table, launch_rows *rows,
                           devlog_error *err);
devlog_status diff_add_logs(diff *d, uint32_t run, const char *const *logs, size_t n_logs,
                            const launch_rows *rows, devlog_error *err);

devlog_status diff_judge(diff *d, devlog_error *err);

/* How a person calls it: "Matmul 32x32 #2", "TRISC1 mm-loop". */
void diff_line_name(const diff_line *l, dl_str *out);

/* The sample's value. */
static inline double diff_value(const diff_sample *s)
{
    return s->sum / s->n;
}

#endif
