/* Many ranks, for the commands that take several folders: devlog ranks, and report, ops, export and diff of ranks. */
#ifndef DEVLOG_CLI_RANKS_JOB_H
#define DEVLOG_CLI_RANKS_JOB_H

#include "cli/options.h"

typedef struct cli_ranks {
    const char *command;            /* for messages */
    const cli_list *tables, *hosts; /* NULL: all; as they are recorded */
    uint64_t top;
    int format; /* of CLI_ANSWER_FORMATS */
    const char *output;
    const char *merge, *trace; /* files to write; NULL: none */
    bool quiet;                /* only these files */
} cli_ranks;

/* Whether the arguments of a command that takes one run are ranks: several, or a folder of rank0, rank1, ... */
bool cli_are_ranks(const cli_args *rest);
/* The exit status. */
int cli_ranks_run(const cli_ranks *c, const cli_args *rest);

#endif
