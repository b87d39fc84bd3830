/* Kept: what parts of logs have come to, in a folder (devlog-mpi decode --resume), so that a job that is started again decodes only
 * what is missing. Each part is a file of its own, which appears whole or not at all. */
#ifndef DEVLOG_MPI_KEPT_H
#define DEVLOG_MPI_KEPT_H

#include "decode/parts/parts.h"

/* Zero-initialised: nothing is kept. */
typedef struct kept_parts {
    const char *folder;               /* borrowed */
    dl_str key;                       /* what all files in it are of: program, analyses, inputs */
    uint64_t known, damaged, strange; /* parts that were there; files that are not whole; of something else */
    bool full;                        /* one could not be written: others are not tried */
} kept_parts;

/* Rank 0: makes the folder, and finds out what the inputs are. `analyses` tells which are computed. */
devlog_status kept_begin(kept_parts *k, const char *folder, char *const *paths, uint32_t n, uint64_t analyses,
                         devlog_error *err);
/* Rank 0: where the inputs were cut before, if they are the same and so were `wanted` and `least`; 0 parts are wanted: any
 * number. False: they must be cut, and *why says why a plan that is there is none, or is NULL. */
bool kept_plan(const kept_parts *k, dl_parts *parts, char *const *paths, uint32_t n, uint32_t wanted,
               uint64_t least, const char **why);
devlog_status kept_plan_write(const kept_parts *k, dl_parts *parts, uint32_t wanted, uint64_t least,
                              devlog_error *err);

/* Part i, into a new decoder; false: it is not there as it should be, which is counted, and the decoder is only to be freed. */
bool kept_read(kept_parts *k, const dl_parts *parts, uint32_t i, dl_decode *d);
/* Keeps it. */
devlog_status kept_write(kept_parts *k, const dl_parts *parts, uint32_t i, dl_decode *d, devlog_error *err);

#endif
