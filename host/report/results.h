/* Results: everything that `devlog decode` makes of one log, into a folder, by one call; for commands that
 * need the files and not the tables. The same bytes as `devlog decode` without options writes, but for page_intervals. */
#ifndef DEVLOG_REPORT_RESULTS_H
#define DEVLOG_REPORT_RESULTS_H

#include "report/artifacts.h"

#define DL_RESULTS_TAR "device_perf_results.tar"

/* What of a log is wanted. */
typedef struct dl_results_options {
    dl_filter filter;
    /* Called when all is decoded, and fails when the filter left nothing; may be NULL. */
    devlog_status (*check)(void *ctx, dl_decode *d, devlog_error *err);
    void *ctx;
    devlog_status (*answers)(void *ctx, dl_str *out,
                             devlog_error *err); /* as in dl_artifacts_options, as are: */
    bool (*answers_runs)(void *ctx, dl_decode *decode, dl_run_sink *out);
    void *answers_ctx;
    uint32_t page_intervals; /* in the page at most; 0: DL_PAGE_INTERVALS */
    /* What belongs to the log, and is decoded with it: zones of host code. */
    char *const *also;
    size_t n_also;
} dl_results_options;

/* Decodes `log` (`options` NULL: all of it) and writes all artifacts and the tar into `folder`, which is made when it is missing. A log
 * without rows still has results: files that say so. What was lost is added to `lost` (NULL: not wanted), as
 * `devlog decode` says it; nothing when nothing was. */
devlog_status dl_results_make(const char *log, const char *folder, const dl_results_options *options,
                              dl_str *lost, devlog_error *err);

#endif
