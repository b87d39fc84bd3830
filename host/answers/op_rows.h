/* The rows of an op report as a section of an answer: every column that the file has, by its name. Not for what follows from them
 * (answer_run.h), nor for writing them (ops/). */
#ifndef DEVLOG_ANSWERS_OP_ROWS_H
#define DEVLOG_ANSWERS_OP_ROWS_H

#include "answers/answer.h"
#include "answers/inputs.h"

enum { OP_ROWS_FORMAT_VERSION = 1 }; /* of the JSON */

typedef struct op_rows_job {
    answer a;
    dl_str troubles; /* lines: what of the report could not be used */
    bool lost;       /* something that was recorded is in no row, or there are troubles */
    run_inputs in;
    answer_column *columns;
    size_t n_columns, cap_columns;
} op_rows_job;

/* Reads a run's report, which is made where there is none yet, into the section "ops". A cell is a number where it is one that a
 * double holds exactly; "-" and nothing are unknown. NOT_FOUND: no op is known of this run. Free with op_rows_job_free, also after
 * a failure. */
devlog_status op_rows_job_run(op_rows_job *j, const char *path, devlog_error *err);
void op_rows_job_free(op_rows_job *j);

#endif
