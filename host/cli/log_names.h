/* Names of the files that a run leaves: by which logs are found in folders, and are not written over. Finding them: logs.h. */
#ifndef DEVLOG_CLI_LOG_NAMES_H
#define DEVLOG_CLI_LOG_NAMES_H

#include <stdbool.h>

/* Of a name without folders: profile_log_device.csv and whatever stands in front of or behind that stem, compressed or not; or
 * a capture, *.devlog. */
bool cli_is_log_name(const char *name, bool *capture);
/* Of an op report: ops_perf_results.csv, with whatever stands behind that stem. */
bool cli_is_report_name(const char *name);
/* Either of them, or what an op report is made from, compressed or not. */
bool cli_is_run_name(const char *name);

#endif
