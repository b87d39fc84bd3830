/* Names of ops for timelines: launches are called after the op that asked for them, when an op log is at
 * hand. */
#ifndef DEVLOG_CLI_OP_NAMES_H
#define DEVLOG_CLI_OP_NAMES_H

#include "ops/op_text.h"
#include "report/view.h"
#include "tt_metal/host.h"

typedef struct cli_op_names {
    op_log log;
    op_text text;
    tt_found found;
    tt_host host; /* of tt-metal's folders, instead of the log */
    char **names; /* by number of the op; NULL: not read yet */
    bool open, metals;
    char *older; /* a file of tt-metal's that is not asked, because it is older than the log; NULL: none */
} cli_op_names;

/* Reads the op log `path`, or the tracy_ops_data.csv of tt-metal; when it is NULL, the one beside the first of the logs if there is one;
 * tt-metal's, whose logs do not say of which run they are, where all of them lie beside it.
 * Zero-initialise *names; free it with cli_op_names_free in any case. */
devlog_status cli_op_names_read(cli_op_names *names, const char *path, char *const *logs, size_t n,
                                devlog_error *err);
void cli_op_names_free(cli_op_names *names);

/* Says on stderr which file is not asked, if there is one. */
void cli_op_names_say(const cli_op_names *names, const char *command);
/* Tells a decoder that has finished which launches are of which op, where its log does not say it itself. Filters have been checked. */
void cli_op_names_tell(cli_op_names *names, dl_decode *d);

/* dl_view_options.op_name, with the cli_op_names as its context. */
const char *cli_op_name(void *names, const dl_launch *launch);

#endif
