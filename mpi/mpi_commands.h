/* The commands of devlog-mpi. Each is called on every rank, and returns the exit status of its rank: all but rank 0's are 0. */
#ifndef DEVLOG_MPI_COMMANDS_H
#define DEVLOG_MPI_COMMANDS_H

#include "team.h"

int mpi_decode(team *r, int argc, char **argv);
int mpi_ops(team *r, int argc, char **argv);
int mpi_report(team *r, int argc, char **argv);

#endif
