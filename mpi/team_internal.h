/* What the files of the team share: how its calls of MPI are counted. */
#ifndef DEVLOG_MPI_TEAM_INTERNAL_H
#define DEVLOG_MPI_TEAM_INTERNAL_H

#include <time.h>

#include "team.h"

/* Of the whole process: MPI waits by asking again and again, which is no work of ours. */
static inline uint64_t team_processor_time(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A call of MPI, whose processor time is counted. */
#define IN_MPI(r, ...)                                                                                       \
    do {                                                                                                     \
        const uint64_t before_mpi = team_processor_time();                                                   \
        __VA_ARGS__;                                                                                         \
        (r)->in_mpi += team_processor_time() - before_mpi;                                                   \
    } while (0)

#endif
