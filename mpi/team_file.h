/* A file that all ranks write, each its own bytes of it, by MPI-IO. */
#ifndef DEVLOG_MPI_TEAM_FILE_H
#define DEVLOG_MPI_TEAM_FILE_H

#include "team.h"

typedef struct team_file team_file;

/* Of a file that is there, each rank by itself: one that cannot open it need not keep the others waiting. The path is borrowed. */
devlog_status team_file_open(team *r, team_file **file, const char *path, devlog_error *err);
/* All of these bytes, or a failure. */
devlog_status team_file_write(team *r, team_file *file, uint64_t at, const void *bytes, size_t n,
                              devlog_error *err);
/* `status` is of the work so far, whose failure stays the one that is told. NULL: it is not open. */
devlog_status team_file_close(team *r, team_file *file, devlog_status status, devlog_error *err);

#endif
