/* The team: all ranks of devlog-mpi; who I am, bytes from one to another, and how all of them end. Nothing else of devlog-mpi calls MPI,
 * but for files (team_file.c). */
#ifndef DEVLOG_MPI_TEAM_H
#define DEVLOG_MPI_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct team {
    int rank, n;
    const char *what;        /* "devlog-mpi decode", for messages */
    uint64_t sent, received; /* bytes */
    uint64_t in_mpi;         /* ns of processor time: starting it, waiting in it, copying */
} team;

/* FAILED in words when this MPI is not the one that was compiled for, or not the launcher's. */
devlog_status team_begin(team *r, int *argc, char ***argv, devlog_error *err);
void team_end(void);
/* One line that names the rank and its host, and the whole job ends. Does not return. */
void team_die(const team *r, const char *text) __attribute__((noreturn));

/* Any number of bytes; what is received replaces what was in *bytes. */
void team_send(team *r, int to, const void *bytes, size_t n);
void team_receive(team *r, int from, dl_str *bytes);
/* From rank 0 to all. */
void team_tell(team *r, dl_str *bytes);
/* From each to rank 0, which gets those of rank i in all[i]; others give NULL. */
void team_collect(team *r, const dl_str *bytes, dl_str *all);
/* Sums of the numbers of all, on rank 0. */
void team_sum(team *r, uint64_t *numbers, int n);
/* The greatest of all. */
int team_worst(team *r, int value);

/* What went wrong on any rank, known to all: the status of the first rank that failed, and in *err which it is, and what it said. */
devlog_status team_outcome(team *r, devlog_status status, devlog_error *err);
/* The same, told once, by rank 0. */
devlog_status team_agree(team *r, devlog_status status, const devlog_error *err);

#endif
