/* Work on blocks by several threads, in order: one thread, the caller's, fills jobs and takes what has become
 * of them; the others do the work. Knows nothing of what a job is. */
#ifndef DEVLOG_PACK_RING_H
#define DEVLOG_PACK_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PK_MAX_THREADS = 16, PK_MAX_JOBS = PK_MAX_THREADS + 2 };

typedef struct pk_stages {
    void *ctx;
    /* Puts the next block into a job; *done: there was none. */
    devlog_status (*fill)(void *ctx, void *job, bool *done, devlog_error *err);
    /* On any thread; `worker` counts them from 0. What fails is left in the job. */
    void (*work)(void *ctx, void *job, unsigned worker);
    /* Takes a job that has been worked on, in the order in which they were filled. */
    devlog_status (*drain)(void *ctx, void *job, devlog_error *err);
} pk_stages;

/* The number of jobs that so many threads need; 1 thread: all in the caller's. */
static inline unsigned pk_ring_jobs(unsigned threads)
{
    return threads > 1 ? threads + 2 : 1;
}

/* Runs until there are no more blocks or one of the stages fails. `jobs` is an array of pk_ring_jobs(threads). */
devlog_status pk_ring_run(const pk_stages *stages, void *jobs, size_t job_size, unsigned threads,
                          devlog_error *err);

#endif
