/* devlog/answers.h: what took the time of a run, why it waited, and what has changed between two versions of a program, as tables
 * of values: the same figures as those of `devlog report`, `devlog causes`, `devlog diff` and `devlog memory`.
 *
 *     devlog_answer *answer;
 *     if (devlog_report("generated/profiler/logs", NULL, &answer, &err)) ...
 *     devlog_cell busy = devlog_answer_fact(answer, "verdict", "busy");
 *     size_t ops = devlog_answer_find(answer, "op_statistics"), name = devlog_answer_find_column(answer, ops, "op");
 *     for (size_t i = 0; i < devlog_answer_table(answer, ops).rows; i++)
 *         puts(devlog_answer_cell(answer, ops, i, name).text);
 *     devlog_answer_free(answer);
 *
 * An input is an op report, a device log (plain, compressed or packed), a capture, or the folder of a run, of devlog or of
 * tt-metal's profiler, or a tar or zip of it, which is unpacked in TMPDIR for as long as the call takes. Tables, columns and facts have the keys that they have in JSON (share/devlog/schema says what each
 * means). Everything that is returned by pointer is owned by the answer; options are needed during the call only. An answer
 * may be used by several threads at once: nothing in it changes. No global state. Errors are as in devlog/devlog.h: the line
 * that the program prints. */
#ifndef DEVLOG_ANSWERS_H
#define DEVLOG_ANSWERS_H

#include "devlog/decode.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct devlog_answer devlog_answer;

/* ---- Asking ------------------------------------------------------------------------------------------- */

/* Which launches and ops are wanted; members that are 0: all. */
typedef struct devlog_selection {
    size_t size; /* DEVLOG_SELECTION() sets it; see devlog/devlog.h */
    const devlog_range *chips;
    size_t n_chips;
    const devlog_range *launches; /* run host ids, or numbers from 0 in logs without ids */
    size_t n_launches;
    const devlog_range *traces, *sessions; /* ids of traces, and which of their replays, from 1 */
    size_t n_traces, n_sessions;
    const char *const *ops; /* op codes; a '*' at the end: what begins so */
    size_t n_ops;
    const char *from_signpost, *to_signpost; /* what lies between them; NULL: no bound */
    uint64_t skip_launches;                  /* of each chip, in the order in which they began */
    bool skip_warm_up;                       /* leave out the launches of each chip before durations settle */
} devlog_selection;
#define DEVLOG_SELECTION(...) DEVLOG_OPTIONS_(devlog_selection, __VA_ARGS__)

/* What is one row of the table "op_statistics". */
typedef enum devlog_group {
    DEVLOG_GROUP_CODE,
    DEVLOG_GROUP_SHAPE,    /* a code with its shapes */
    DEVLOG_GROUP_MEMORY,   /* a code with where its tensors are */
    DEVLOG_GROUP_CATEGORY, /* a kind of work */
    DEVLOG_GROUP_NONE,     /* every op by itself */
    DEVLOG_GROUP_STACK,    /* a code with who called, where the log of ops has that (DEVLOG_OP_STACKS) */
} devlog_group;

/* By what its rows are sorted: the greatest first, texts by the alphabet, what is unknown last; DEVLOG_SORT_ORDER as ops
 * came. Every column has one. */
typedef enum devlog_sort {
    DEVLOG_SORT_TIME,
    DEVLOG_SORT_GAP,
    DEVLOG_SORT_COUNT,
    DEVLOG_SORT_AVERAGE,
    DEVLOG_SORT_MAX,
    DEVLOG_SORT_HOST,
    DEVLOG_SORT_NAME,
    DEVLOG_SORT_ORDER,
    DEVLOG_SORT_MIN,
    DEVLOG_SORT_SHARE,
    DEVLOG_SORT_CORES,
    DEVLOG_SORT_FLOP_RATE,
    DEVLOG_SORT_BANDWIDTH,
    DEVLOG_SORT_BOUND_BY,
    DEVLOG_SORT_IDEAL,
    DEVLOG_SORT_RUNS_ON,
    DEVLOG_SORT_TOTAL,   /* DEVLOG_SORT_TIME, by the name of its column */
    DEVLOG_SORT_OP,      /* DEVLOG_SORT_NAME, by the name of its column */
    DEVLOG_SORT_SLOWEST, /* by the number of the op that took longest */
} devlog_sort;

typedef struct devlog_report_options {
    size_t size; /* DEVLOG_REPORT_OPTIONS() sets it */
    const devlog_selection *selection;
    devlog_group group;
    devlog_sort sort;
    size_t top;                                 /* rows of each table; 0: all */
    bool firmware_time;                         /* an op's time is that of its firmware, not of its kernels */
    const char *board;                          /* whose peaks hold; NULL: as the run says */
    double dram_bytes_per_s;                    /* of the chip's DRAM; 0: the board's */
    const char *ops_table, *rules, *thresholds; /* files of one's own; NULL: those that are installed */
} devlog_report_options;
#define DEVLOG_REPORT_OPTIONS(...) DEVLOG_OPTIONS_(devlog_report_options, __VA_ARGS__)

/* What took the time of a run, and what would save most. Free *out with devlog_answer_free. DEVLOG_ERR_NOT_FOUND: a folder
 * holds no run, or a selection leaves nothing of it. */
devlog_status devlog_report(const char *input, const devlog_report_options *options, devlog_answer **out,
                            devlog_error *err);

typedef struct devlog_causes_options {
    size_t size; /* DEVLOG_CAUSES_OPTIONS() sets it */
    const devlog_selection *selection;
    size_t top;             /* rows of each table; 0: all */
    const char *elf_folder; /* where to look for ELF files of kernels that have moved; or NULL */
} devlog_causes_options;
#define DEVLOG_CAUSES_OPTIONS(...) DEVLOG_OPTIONS_(devlog_causes_options, __VA_ARGS__)

/* Why RISCs waited, and the path that decided how long launches took. DEVLOG_ERR_ARGUMENT: an op report says nothing of
 * waits. */
devlog_status devlog_causes(const char *input, const devlog_causes_options *options, devlog_answer **out,
                            devlog_error *err);

typedef struct devlog_diff_options {
    size_t size;                   /* DEVLOG_DIFF_OPTIONS() sets it */
    bool exact;                    /* there is no chance in the times (a simulator's) */
    bool firmware_time;            /* the time of an op that is compared is that of its firmware */
    double confidence_percent;     /* 0: 99.9 */
    double min_share_percent;      /* lines of a smaller share of the device time are not tested */
    const char *const *conditions; /* as --fail-on of `devlog diff`: "op_p95>+5%" */
    size_t n_conditions;
} devlog_diff_options;
#define DEVLOG_DIFF_OPTIONS(...) DEVLOG_OPTIONS_(devlog_diff_options, __VA_ARGS__)

/* Two versions of a program, each run once or several times: each input is a run or a folder of runs. Its tables: "diff" (facts),
 * "runs", "conditions", "lines", and "causes", whose column "line" is a row of "lines". Times are in the unit that the
 * column "unit" of the row says. */
devlog_status devlog_diff(const char *const *old_inputs, size_t n_old, const char *const *new_inputs,
                          size_t n_new, const devlog_diff_options *options, devlog_answer **out,
                          devlog_error *err);

/* The rows of an op report: one table, "ops", with the columns that the report has, by their names. It is read, or made where
 * `input` is a folder of a run without one. A cell is a number where it is one that a double holds exactly, otherwise a text;
 * devlog_answer_print prints it as CSV and JSON too. DEVLOG_ERR_NOT_FOUND: no op is known of this run. */
devlog_status devlog_op_rows(const char *input, devlog_answer **out, devlog_error *err);

typedef struct devlog_memory_options {
    size_t size;  /* DEVLOG_MEMORY_OPTIONS() sets it */
    size_t top;   /* rows of each table but "memory" and "timeline"; 0: all */
    size_t steps; /* of "timeline"; 0: 10 */
} devlog_memory_options;
#define DEVLOG_MEMORY_OPTIONS(...) DEVLOG_OPTIONS_(devlog_memory_options, __VA_ARGS__)

/* Who held what memory of devices, and what was not freed, as `devlog memory` has it: of a log of ops, or of the folder of a
 * run. DEVLOG_ERR_NOT_FOUND: the folder has no such log, or the program made no buffers. */
devlog_status devlog_memory_of_run(const char *input, const devlog_memory_options *options,
                                   devlog_answer **out, devlog_error *err);

/* Ends an answer. NULL is allowed. */
void devlog_answer_free(devlog_answer *answer);

/* ---- Tables ------------------------------------------------------------------------------------------- */

typedef struct devlog_table {
    const char *key, *title;
    bool facts; /* a row is one fact: its columns are key, title, value and note */
    size_t columns, rows;
    size_t more; /* rows that options.top left out */
    size_t notes;
} devlog_table;

typedef struct devlog_column {
    const char *key, *title;
    const char *unit; /* "ns", "cycles", "percent", "bytes/s", ...; "" for counts and texts */
    bool is_text;     /* of tables of facts each value says that by itself */
} devlog_column;

typedef struct devlog_cell {
    bool known;       /* otherwise nobody knows it: null in JSON, which is not 0 */
    const char *text; /* NULL: it is a number */
    double number;    /* whole ones are exact up to 2^53 */
    const char *unit; /* of the number */
} devlog_cell;

#define DEVLOG_NO_TABLE SIZE_MAX

/* How many tables there are, in the order in which `devlog report` and the like show them. */
size_t devlog_answer_tables(const devlog_answer *answer);
/* Each is all zero, with empty texts, for a number that there is not. */
devlog_table devlog_answer_table(const devlog_answer *answer, size_t table);
devlog_column devlog_answer_column(const devlog_answer *answer, size_t table, size_t column);
devlog_cell devlog_answer_cell(const devlog_answer *answer, size_t table, size_t row, size_t column);
/* What is said below a table: what a term means here, what was left out and why; "": there is none of this number. */
const char *devlog_answer_note(const devlog_answer *answer, size_t table, size_t note);
/* The number of a table, or of a column of it, by its key; DEVLOG_NO_TABLE: there is none. */
size_t devlog_answer_find(const devlog_answer *answer, const char *key);
size_t devlog_answer_find_column(const devlog_answer *answer, size_t table, const char *key);
/* The value of a fact; all zero when there is none. */
devlog_cell devlog_answer_fact(const devlog_answer *answer, const char *table, const char *fact);

/* ---- As a whole --------------------------------------------------------------------------------------- */

/* Whether everything that was recorded is in it, as far as inputs can tell: what `devlog report` says by its exit status. */
bool devlog_answer_complete(const devlog_answer *answer);
/* What of op reports could not be used, a line for each kind; "": nothing. */
const char *devlog_answer_troubles(const devlog_answer *answer);

typedef enum devlog_judgement {
    DEVLOG_PASSED, /* also where nothing was asked */
    DEVLOG_FAILED,
    DEVLOG_UNDECIDED, /* too few runs to tell change from chance */
} devlog_judgement;

/* All conditions of a diff together. */
devlog_judgement devlog_answer_judgement(const devlog_answer *answer);

typedef enum devlog_form { DEVLOG_AS_TEXT, DEVLOG_AS_JSON, DEVLOG_AS_CSV, DEVLOG_AS_MARKDOWN } devlog_form;

/* The answer as the program prints it, without colours; the caller frees *out. */
devlog_status devlog_answer_print(const devlog_answer *answer, devlog_form form, char **out,
                                  devlog_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
