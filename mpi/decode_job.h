/* A job of devlog-mpi decode: what its files share. Not how it is done (decode.c), nor where logs are cut (decode_plan.c). */
#ifndef DEVLOG_MPI_DECODE_JOB_H
#define DEVLOG_MPI_DECODE_JOB_H

#include "cli/cmd_mpi.h"
#include "cli/options.h"
#include "decode/parts/parts.h"
#include "far.h"
#include "kept.h"
#include "team.h"

/* Parts that have become one; without a decoder and its bytes: to be decoded again. */
typedef struct decode_piece {
    dl_decode *decode;
    dl_str bytes; /* or what it is as bytes, which nobody has read yet */
    uint32_t first, n;
} decode_piece;

typedef struct decode_job {
    team *r;
    cli_mpi_decode a;
    cli_args rest; /* rank 0 */
    char **paths;
    uint32_t n_paths;
    char *names; /* what they point into, where they came from rank 0 */
    dl_parts parts;
    dl_decode_options how;
    dl_str own;            /* the text of --analyses */
    bool defaults;         /* the default analyses, too */
    bool stamps;           /* of default markers, for the rearranged table */
    dl_analysis_list list; /* all of them; empty where nobody sees any */
    uint8_t leaves;        /* DL_WIRE_* */
    decode_piece *pieces;
    uint32_t n;
    decode_piece *kept; /* with the durations of this rank, which stay here */
    uint32_t n_kept;
    uint32_t again;
    const char *why;
    far_samples far;
    kept_parts kept_files;  /* --resume */
    uint64_t bytes_kept;    /* of the inputs, that were not decoded for that */
    double waited, took;    /* s: for files, of all that decoding took */
    uint64_t bytes_written; /* of files, by this rank, where ranks write them together */
} decode_job;

/* decode_plan.c: rank 0 reads the command line, whose mistakes are told once, and finds out what is to be done; false: nothing is. */
bool decode_begin(decode_job *j, int argc, char **argv, int *exit_status);
/* decode_plan.c: rank 0 tells the others; `goes`: there is something to do. They listen. */
devlog_status decode_tell(decode_job *j, bool goes, dl_str *said, devlog_error *err);
devlog_status decode_listen(decode_job *j, const dl_str *said, bool *goes, devlog_error *err);
devlog_status decode_no_memory(devlog_error *err);
/* decode.c: the first part of a rank, of which it decodes those below the next one's. */
uint32_t decode_first_part(const decode_job *j, int rank);
/* decode_files.c: rank 0, when it has all and before it prints: the files, if any are wanted. *set, which is the caller's in any case, says which; *written is
 * how that went, after which there are still tables to print. */
devlog_status decode_files(decode_job *j, dl_decode *d, dl_analyzer *analyzer, dl_artifacts **set,
                           devlog_status *written, devlog_error *err);
/* decode_files.c: other ranks hear (far_tell) what of the files they have, and write it. */
void decode_hear_files(void *job, const char *bytes, size_t n);

#endif
