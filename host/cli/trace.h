/* The trace of a log that is looked at, for viewers that are no page of ours: of `devlog view` and `devlog serve`. Not for `devlog
 * export`, which has options for it. */
#ifndef DEVLOG_CLI_TRACE_H
#define DEVLOG_CLI_TRACE_H

#include "cli/filters.h"

typedef struct cli_trace {
    char *const *logs; /* the log, and the zones of host code of its run */
    size_t n;
    cli_shown *shown;
    const char *format;  /* of dl_export_formats */
    const char *output;  /* file, or folder */
    const char *command; /* that says what it is not called after; NULL: nobody hears it */
} cli_trace;

/* Writes it, launches being called after the ops of the op log beside the first log. Appends what was lost to `lost`, unless that is
 * NULL. */
devlog_status cli_trace_write(const cli_trace *t, dl_str *lost, devlog_error *err);

#endif
