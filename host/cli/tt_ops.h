/* Op reports of tt-metal's own folders, for devlog ops. */
#ifndef DEVLOG_CLI_TT_OPS_H
#define DEVLOG_CLI_TT_OPS_H

#include "ops/op_job.h"

/* Folders of ranks: the numbers of those that there were; freed by the caller. */
typedef struct tt_made_ranks {
    unsigned *numbers;
    size_t n;
} tt_made_ranks;

/* Makes and prints the report when the folder is tt-metal's; *exit_status is what the command returns. False:
 * it is not. */
bool cli_tt_ops(const op_job_options *o, tt_made_ranks *made, int *exit_status);

#endif
