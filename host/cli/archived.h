/* devlog archive get and diff: runs that come out of an archive. Not for adding them, nor for what is asked of all of them (cmd_archive.c). */
#ifndef DEVLOG_CLI_ARCHIVED_H
#define DEVLOG_CLI_ARCHIVED_H

#include "archive/archive.h"
#include "cli/options.h"

typedef struct cli_archived {
    archive *a;                /* open */
    const char *file, *output; /* its path; where --output says, or NULL */
    const cli_args *rest;      /* the arguments behind get or diff */
} cli_archived;

/* Each returns an exit status; CLI_FAILED with *err filled in. */
int cli_archive_get(const cli_archived *from, devlog_error *err);
int cli_archive_diff(const cli_archived *from, devlog_error *err);

#endif
