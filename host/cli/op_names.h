/* Names of ops for timelines: launches are called after the op that asked for them, when an op log is at
 * hand. */
#ifndef DEVLOG_CLI_OP_NAMES_H
#define DEVLOG_CLI_OP_NAMES_H

#include "ops/op_text.h"
#include "report/view.h"

typedef struct cli_op_names {
    op_log log;
    op_text text;
    char **names; /* by number of the op; NULL: not read yet */
    bool open;
} cli_op_names;

/* Reads the op log `path`, or, when it is NULL, the one beside `device_log` if there is one. Zero-initialise
 * *names; free it with cli_op_names_free in any case. */
devlog_status cli_op_names_read(cli_op_names *names, const char *path, const char *device_log,
                                devlog_error *err);
void cli_op_names_free(cli_op_names *names);

/* dl_view_options.op_name, with the cli_op_names as its context. */
const char *cli_op_name(void *names, const dl_launch *launch);

#endif
