/* The commands of devlog-mpi. Each is called on every rank, and returns the exit status of its rank: all but rank 0's are 0. */
#ifndef DEVLOG_MPI_COMMANDS_H
#define DEVLOG_MPI_COMMANDS_H

#include "ranks.h"

int mpi_decode(ranks *r, int argc, char **argv);

#endif
