/* What the list of `devlog serve` says of each log besides its name: launches, ops, chips, and what was lost. A thread reads the logs one
 * after the other, newest first, and only while somebody looks at the list; nobody waits for it. Not for the logs' results (store.h). */
#ifndef DEVLOG_CLI_LOG_FIGURES_H
#define DEVLOG_CLI_LOG_FIGURES_H

#include "cli/logs.h"

typedef enum log_figures_state {
    LOG_FIGURES_NONE, /* not read yet */
    LOG_FIGURES_THERE,
    LOG_FIGURES_FAILED, /* it is no log, or gone */
    LOG_FIGURES_LARGE,  /* it is larger than LOG_FIGURES_BYTES, and is not read for a list */
} log_figures_state;

typedef struct log_figure {
    log_figures_state state;
    uint64_t launches, ops, chips, lost; /* lost: how many of whatever was lost */
    bool has_ops;                        /* it is an op report; launches and chips are not known then */
    char why[200];                       /* FAILED */
} log_figure;

typedef struct log_figures log_figures;

enum { LOG_FIGURES_BYTES = 512 * 1024 * 1024, LOG_FIGURES_KEPT = CLI_MAX_LOGS };

devlog_status log_figures_new(log_figures **f, devlog_error *err);
/* Waits until the thread is done with the log in hand. */
void log_figures_free(log_figures *f);
/* What is known of this log as it is now; what is not will be read. */
log_figure log_figures_of(log_figures *f, const cli_log *log);

#endif
