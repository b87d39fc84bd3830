/* One run of a user's command with profiling, into a folder of its own: for `devlog run` and `devlog time`. Not for what is
 * made of its logs. */
#ifndef DEVLOG_CLI_PROFILED_RUN_H
#define DEVLOG_CLI_PROFILED_RUN_H

#include "cli/child.h"

enum { CLI_PATH_SIZE = 4096 };

typedef struct cli_profiled {
    char *const *command;
    const char *folder; /* of the logs; made when missing, and what an earlier run left there goes */
    bool device;        /* with device profiling, otherwise with the op log only */
    int recording;   /* STOP, RING, STREAM as in --recording of `devlog run`; -1: as the environment says */
    bool waits;      /* kernels record what they wait for */
    unsigned stacks; /* frames of Python's call stack with each op; 0: as the environment says */
    bool quiet;      /* as cli_child has it */
} cli_profiled;

/* Takes a folder for the runs of this command, until the program ends, and makes it when it is missing: of two commands at a time each
 * would remove the other's logs, and take what comes for its own. */
devlog_status cli_profiled_alone(const char *folder, devlog_error *err);
/* Removes the logs that an earlier run has left in a folder into which this one writes none; the folder need not be there. */
devlog_status cli_profiled_forget(const char *folder, devlog_error *err);
devlog_status cli_profiled_run(const cli_profiled *run, cli_child_result *out, devlog_error *err);

/* Whether a file of that name can be read there. */
bool cli_folder_holds(const char *folder, const char *name);

#endif
