/* One op report of a folder of tt-metal's from beginning to end: reads its files, joins them, writes the
 * report, and says what was found. */
#ifndef DEVLOG_TT_METAL_JOB_H
#define DEVLOG_TT_METAL_JOB_H

#include "tt_metal/folder.h"
#include "tt_metal/part.h"
#include "tt_metal/report.h"
#include "tt_metal/select_rows.h"

typedef struct tt_job_options {
    const tt_files *files;
    bool no_device;         /* leave device data out */
    const char *device_log; /* taken although there is a C++ report; NULL: what the folder has */
    const char *output;     /* folder of the report; made when missing */
    const char *name;       /* of the report, without extension */
    tt_report_options report;
    const op_selection *selection; /* NULL: everything */
    void (*progress)(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows);
    void *progress_ctx;
} tt_job_options;

typedef struct tt_job {
    tt_found found;
    tt_host host;
    tt_execs execs;
    tt_join join;
    op_selected selected;
    tt_part part;
    tt_report_counts counts;
    const tt_job_options *o;
    const char *input;                          /* in hand, for progress */
    char *report_path, *gaps_path, *zones_path; /* NULL: none was written */
} tt_job;

/* Free with tt_job_free, also after a failure. */
devlog_status tt_job_run(tt_job *job, const tt_job_options *options, devlog_error *err);
void tt_job_free(tt_job *job);
/* True when something that happened is not in the report. */
bool tt_job_lost(const tt_job *job);
/* What was found, for a person. */
void tt_job_describe(const tt_job *job, bool colour, dl_str *out);

#endif
