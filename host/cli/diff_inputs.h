/* What `devlog diff` is given: files and folders, and which runs are in them. Opens no more of a file than its
 * beginning; makes an op report, in a temporary folder, of a folder that has only what one is made of. */
#ifndef DEVLOG_CLI_DIFF_INPUTS_H
#define DEVLOG_CLI_DIFF_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct cli_diff_run {
    char *name;      /* as it was given, or found in a folder of runs */
    char *report;    /* an op report, or NULL */
    char *log;       /* a device log or capture, or NULL */
    char *temporary; /* folder of a report that was made; NULL: none */
    uint32_t side;   /* DIFF_OLD, DIFF_NEW */
    bool lost;       /* what the report was made of had losses */
} cli_diff_run;

typedef struct cli_diff_inputs {
    cli_diff_run *items;
    size_t n, cap;
} cli_diff_inputs;

/* Adds the runs of an input: a file and a folder of one run are a run, a folder of such is one run each, in the
 * order of their names. NOT_FOUND when it is not there, or holds nothing of that kind. */
devlog_status cli_diff_input(cli_diff_inputs *in, const char *path, uint32_t side, devlog_error *err);
/* The same of a path that has to hold one run; ARGUMENT says what the others are. */
devlog_status cli_diff_one_input(cli_diff_inputs *in, const char *path, devlog_error *err);
/* Removes temporary files, too. */
void cli_diff_inputs_free(cli_diff_inputs *in);

#endif
