/* Many ranks, for the commands that take several folders: devlog ranks, and report, ops, export and diff of ranks. */
#ifndef DEVLOG_CLI_RANKS_JOB_H
#define DEVLOG_CLI_RANKS_JOB_H

#include "cli/options.h"

struct ranks;

typedef struct cli_ranks {
    const char *command;            /* for messages */
    const cli_list *tables, *hosts; /* NULL: all; as they are recorded */
    uint64_t top;
    int format; /* of CLI_ANSWER_FORMATS */
    const char *output;
    const char *merge, *trace; /* files to write; NULL: none */
    bool quiet;                /* only these files */
    bool plain;                /* as cli_answer_out.plain */
    /* Finds the reports of ranks before they are read (rank_entry.found); NULL: they are found one after the other. */
    devlog_status (*find)(void *ctx, struct ranks *r, devlog_error *err);
    void *ctx;
} cli_ranks;

/* Whether the arguments of a command that takes one run are ranks: several, or a folder of rank0, rank1, ... */
bool cli_are_ranks(const cli_args *rest);
/* The exit status. */
int cli_ranks_run(const cli_ranks *c, const cli_args *rest);

#endif
