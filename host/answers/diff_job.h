/* A diff from its inputs to its judgement, for the program (cli/cmd_diff.c) and the library (answers_door.c). Not for the diff itself
 * (diff.h), nor for printing it (diff_print.h). */
#ifndef DEVLOG_ANSWERS_DIFF_JOB_H
#define DEVLOG_ANSWERS_DIFF_JOB_H

#include "answers/gate.h"
#include "answers/inputs.h"

typedef struct diff_job {
    run_inputs in;
    diff d;
    gate *gates;
    size_t n_gates;
    dl_str troubles; /* lines: what of op reports could not be used */
    bool lost;       /* something that was recorded was not compared, or there are troubles */
} diff_job;

typedef struct diff_job_options {
    bool exact, by_fw;
    double confidence, min_share; /* percent, as diff_options has them */
} diff_job_options;

/* Conditions; their texts are borrowed. ARGUMENT: one is none. */
devlog_status diff_job_gates(diff_job *j, const char *const *texts, size_t n, devlog_error *err);
/* An input of a side: DIFF_OLD, DIFF_NEW. */
devlog_status diff_job_add(diff_job *j, const char *path, uint32_t side, devlog_error *err);
/* Compares, and judges the conditions. `before` is put before each line of troubles. */
devlog_status diff_job_run(diff_job *j, const diff_job_options *o, const char *before, devlog_error *err);
/* Also after a failure of any of them. */
void diff_job_free(diff_job *j);

#endif
