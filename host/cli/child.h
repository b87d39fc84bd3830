/* Running a user's command as if devlog were not there: its input, output and signals are its own. */
#ifndef DEVLOG_CLI_CHILD_H
#define DEVLOG_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct cli_child_result {
    int exit;   /* exit status; 128 + signal when a signal ended it */
    int signal; /* that ended it; 0: none */
} cli_child_result;

/* Runs argv[0] (looked up in PATH) with settings[0 .. n), "NAME=value", in front of the environment, and
 * waits for it. Signals that this process gets meanwhile are handed on. NOT_FOUND when there is no such
 * program. */
devlog_status cli_child(char *const *argv, const char *const *settings, size_t n, cli_child_result *out,
                        devlog_error *err);

#endif
