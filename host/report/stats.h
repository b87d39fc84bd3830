/* device_stats.txt: every analysis and every zone with its exact statistics, per core as a grid, and what was
 * lost. */
#ifndef DEVLOG_REPORT_STATS_H
#define DEVLOG_REPORT_STATS_H

#include "report/artifacts.h"

extern const dl_artifact dl_artifact_stats;

/* The same text appended to a buffer; analyzer may be NULL. */
devlog_status dl_report_stats(dl_decode *d, const dl_analyzer *analyzer, dl_str *out, devlog_error *err);

#endif
