/* Logs below a folder: which there are, for `devlog serve` and `devlog view`. Knows names, sizes and times,
 * and opens nothing. */
#ifndef DEVLOG_CLI_LOGS_H
#define DEVLOG_CLI_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct cli_log {
    char *path;   /* as it can be opened */
    char *name;   /* below the folder */
    char id[17];  /* of the name: 16 hexadecimal digits, for URLs */
    bool capture; /* capture.devlog, otherwise a device log */
    uint64_t bytes;
    int64_t time_ns; /* of its last change, since 1970 */
} cli_log;

typedef struct cli_logs {
    cli_log *items; /* newest first */
    size_t n;
    bool more; /* there are more than CLI_MAX_LOGS, or folders deeper than CLI_MAX_DEPTH */
} cli_logs;

enum { CLI_MAX_LOGS = 1000, CLI_MAX_DEPTH = 8, CLI_MAX_ENTRIES = 100000 };

/* The logs below `folder`, or the one log when it is a file. Links are not followed. Free *logs in any case.
 * NOT_FOUND when there is no such folder; a folder without a log is no failure. */
devlog_status cli_logs_find(const char *folder, cli_logs *logs, devlog_error *err);
void cli_logs_free(cli_logs *logs);
const cli_log *cli_logs_by_id(const cli_logs *logs, const char *id, size_t n);

#endif
