/* The dashboard: what `devlog serve` answers. Its routes are fixed:
 *
 *   /                                  the list of logs, as a page that keeps itself up to date
 *   /logs.json                         the same as JSON
 *   /log/ID/device_perf.html           timeline; and the other results: device_stats.txt,
 *   /log/ID/device_perf_results.tar    device_rearranged_timestamps.csv, the tar
 *   /log/ID/trace.perfetto-trace       for ui.perfetto.dev
 *   /log/ID/report.txt                 of an op report
 *   /diff/ID/ID                        two logs, the old one first, as a page; of op reports as text
 *
 * ID is a hash out of the list; no text of a request ever becomes part of a path. */
#ifndef DEVLOG_CLI_DASHBOARD_H
#define DEVLOG_CLI_DASHBOARD_H

#include "cli/http.h"
#include "cli/log_figures.h"
#include "cli/store.h"

typedef struct dashboard_parts { /* borrowed */
    const char *folder;
    cli_store *store, *traces;
    log_figures *figures;
} dashboard_parts;

typedef struct dashboard {
    dashboard_parts parts;
    dl_str list_policy, page_policy, pair_policy;
} dashboard;

devlog_status dashboard_init(dashboard *d, const dashboard_parts *parts, devlog_error *err);
void dashboard_free(dashboard *d);
/* An http_options.handler; ctx is the dashboard. */
void dashboard_answer(void *ctx, const char *path, http_reply *reply);

#endif
