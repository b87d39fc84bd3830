/* The command lines of devlog-mpi (mpi/), the program for many ranks. The tables are here so that manual and docs come from them
 * wherever devlog is built; what they do is not. */
#ifndef DEVLOG_CLI_CMD_MPI_H
#define DEVLOG_CLI_CMD_MPI_H

#include "cli/options.h"
#include "report/artifacts.h"

typedef struct cli_mpi_decode {
    int format, sort; /* DECODE_*, dl_table_sort */
    const char *analyses, *resume, *folder, *suffix;
    bool print, defaults, stats, files, date, tar;
    bool wanted[DL_ARTIFACT_KINDS];
    uint64_t max_launches, top, parts, least;
} cli_mpi_decode;

typedef struct cli_mpi_ranks {
    const char *output, *suffix;
    cli_list tables;
    uint64_t top;
    int format;
} cli_mpi_ranks;

extern const cli_command cmd_mpi_decode, cmd_mpi_ops, cmd_mpi_report;

/* All of them, by name; ends with NULL. */
extern const cli_command *const cli_mpi_commands[];

#endif
