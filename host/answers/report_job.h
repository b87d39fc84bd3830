/* A report from its input to its sections, for the program (cli/cmd_report.c) and the library (answers_door.c). Not for what is in
 * it (sections.h), nor for printing it (answer_print.h). */
#ifndef DEVLOG_ANSWERS_REPORT_JOB_H
#define DEVLOG_ANSWERS_REPORT_JOB_H

#include "answers/causes_saves.h"
#include "answers/causes_sums.h"
#include "answers/inputs.h"
#include "answers/memory_answer.h"
#include "answers/sections.h"

enum { REPORT_FORMAT_VERSION = 1 }; /* of the JSON */

typedef struct report_options {
    const op_selection *selection;
    const struct run_touched *touched; /* of launches only these; NULL: all */
    bool by_fw;
    answer_group group;
    answer_sort sort;
    size_t top;                                         /* rows of each table; 0: all */
    const char *ops_table, *board, *rules, *thresholds; /* NULL: what is installed, and what the run says */
    double dram;                                        /* bytes/s; 0: the board's */
    const dl_filter
        *parts; /* of zones only what it lets through of cores, RISCs, zones and time; NULL: all */
} report_options;

typedef struct report_job {
    answer a;
    dl_str troubles; /* lines: what of the op report could not be used */
    bool lost;       /* something that was recorded is not in the answer, or there are troubles */
    /* What it was made of. */
    run_inputs in;
    op_table table;
    run_log *log;
    causes_reading causes;
    causes_saves saves;
    memory_job memory;
    answer_run run;
    flops_peaks peaks;
    rules *rules;
    bool has_run;
    bool has_begun; /* log has been read beside a decoder */
} report_job;

/* `before` is put before each line of troubles. Free with report_job_free, also after a failure. */
devlog_status report_job_run(report_job *j, const char *path, const report_options *o, const char *before,
                             devlog_error *err);
/* Its two parts, for who makes several answers of one run: reading the only run of j->in, and what sections go by. */
/* Before it, for who decodes the run's log, all of it, at the same time: *takes_runs: so that it is not read once more, the decoder gives
 * report_job_runs its runs from the first input on, and report_job_read comes when it has finished. */
devlog_status report_job_begin(report_job *j, const report_options *o, dl_decode *decode, bool *takes_runs,
                               devlog_error *err);
dl_run_sink report_job_runs(report_job *j);
devlog_status report_job_read(report_job *j, const report_options *o, const char *before, devlog_error *err);
answer_wishes report_job_wishes(const report_job *j, const report_options *o);
void report_job_free(report_job *j);

#endif
