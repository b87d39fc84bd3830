/* What `devlog serve` makes of a log when somebody asks for it: makers for stores (store.h). Not for what is kept of it, nor for who asks. */
#ifndef DEVLOG_CLI_SERVE_MAKE_H
#define DEVLOG_CLI_SERVE_MAKE_H

#include "cli/filters.h"

#define SERVE_REPORT "report.txt" /* of an op report, what `devlog report` says */
#define SERVE_TRACE  "trace.perfetto-trace"

typedef struct serve_maker {
    const cli_filters *filters;
    const dl_filter *filter;
    const struct cli_command *command; /* whose options they are */
} serve_maker;

/* The results of a log, of what the options choose of it; of an op report its tables. `ctx` is a serve_maker. */
devlog_status serve_make_results(void *ctx, const char *log, const char *folder, devlog_error *err);
/* The log for ui.perfetto.dev. */
devlog_status serve_make_trace(void *ctx, const char *log, const char *folder, devlog_error *err);

#endif
