/* Running another program and keeping what it prints. */
#ifndef DEVLOG_BASE_PROCESS_H
#define DEVLOG_BASE_PROCESS_H

#include <stddef.h>

#include "base/error.h"

typedef struct dl_output {
    char *text; /* what it printed, zero-terminated; freed by the caller */
    size_t size;
    int exit; /* exit status; 128 + signal when killed by one */
} dl_output;

/* Runs argv[0] (looked up in PATH) and waits for it. DEVLOG_ERR_NOT_FOUND when there is no such program,
 * DEVLOG_ERR_STATE when nobody can say how it ended, because this process ignores SIGCHLD. The output, standard
 * output and standard error, is there on DEVLOG_OK, whatever the exit status. */
devlog_status dl_process_run(const char *const *argv, dl_output *out, devlog_error *err);

/* The same with the two kept apart: `out` has standard output, *errors (zero-terminated, freed by the caller)
 * standard error. */
devlog_status dl_run_apart(const char *const *argv, dl_output *out, char **errors, devlog_error *err);

#endif
