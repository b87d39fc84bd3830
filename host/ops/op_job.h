/* One op report from beginning to end: finds the logs of a run (or of two), reads and stitches them, writes
 * the report and the tarball, and says what was found. */
#ifndef DEVLOG_OPS_OP_JOB_H
#define DEVLOG_OPS_OP_JOB_H

#include "ops/op_report.h"
#include "ops/select.h"

typedef struct op_job_options {
    const char *logs; /* folder of the run whose host times are reported, or the folder that `devlog run`
                         made, with "logs" and "logs_device" in it */
    const char *device_logs; /* folder of the run with device data; NULL: <logs>_device when that has any and
                                <logs> has none, else the same */
    const char *device_log;  /* device log or capture to use instead of those in the folder; may be NULL */
    bool no_device;          /* leave device data out */
    bool link_logs;          /* tt-metal's device log and capture are linked beside the report */
    const char *output;      /* folder of the report; made when missing */
    const char *name;        /* of the report's files, without extension */
    op_report_options report;
    bool markdown; /* who runs the job writes the report as Markdown, too (op_markdown.h) */
    bool no_tar;
    const op_selection *selection; /* NULL: everything */
    void (*progress)(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows);
    void *progress_ctx;
    const char *archive; /* that `logs` has been unpacked from: who prints calls it by that; NULL: none */
} op_job_options;

typedef struct op_job {
    op_log host, device;
    bool has_host, two_runs, periodic; /* periodic: the device log is one of several captures of its run */
    dl_decode *decode;
    op_device *cycles;
    op_stitch stitch;
    dl_filter filter; /* the selection's, with what it means in these logs */
    op_selected selected;
    op_report_counts counts;
    char *folder;                                             /* where the logs are */
    char *op_log_path, *device_op_log_path, *device_log_path; /* that were read; NULL: there was none */
    char *report_path, *tar_path;
} op_job;

/* NOT_FOUND when the folder holds neither an op log nor a device log. Free with op_job_free, also after a
 * failure. */
devlog_status op_job_run(op_job *job, const op_job_options *options, devlog_error *err);
void op_job_free(op_job *job);
/* True when something that happened is not in the report. */
bool op_job_lost(const op_job *job);
/* What was found, for a person: counts, totals, and everything that is missing or doubtful. */
void op_job_describe(const op_job *job, bool colour, dl_str *out);

#endif
