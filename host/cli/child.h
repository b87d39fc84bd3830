/* Running a user's command as if devlog were not there: its input, output and signals are its own. */
#ifndef DEVLOG_CLI_CHILD_H
#define DEVLOG_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct cli_child_result {
    int exit;                 /* exit status; 128 + signal when a signal ended it */
    int signal;               /* that ended it; 0: none */
    uint64_t wall_ns, cpu_ns; /* from its start to its end; its processor time, user's and system's */
    uint64_t
        peak_bytes; /* of memory, of it or of the greatest of its children; never less than this program's own */
} cli_child_result;

/* Runs argv[0] (looked up in PATH) with settings[0 .. n), "NAME=value", in front of the environment, and
 * waits for it. Signals that this process gets meanwhile are handed on. `quiet`: what it prints goes nowhere; what it says on
 * standard error stays. NOT_FOUND when there is no such program. */
devlog_status cli_child(char *const *argv, const char *const *settings, size_t n, bool quiet,
                        cli_child_result *out, devlog_error *err);
/* Whether posix_spawnp failed because there is no such program: in PATH there may be folders that nobody but root may look into. */
bool cli_no_program(int failed, const char *name);

#endif
