/* See pmpi_ranks.h. Rank 0 starts the program devlog, which needs no MPI: a report is made of files, and what it takes of memory and
 * time is no part of the program that is measured. */
#include "pmpi_ranks.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* The environment without what would load this library again. */
static char **without_preload(void)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0) all[kept++] = environ[i];
    return all;
}

static void run(char **argv)
{
    char **without = without_preload();
    pid_t pid;
    int ended = 0;
    fflush(NULL);
    const int errnum = without ? posix_spawnp(&pid, argv[0], NULL, NULL, argv, without) : ENOMEM;
    free(without);
    if (errnum) {
        fprintf(
            stderr,
            "libdevlog-pmpi: cannot run devlog: %s; put it into PATH, or run devlog ranks of the folders of "
            "logs afterwards\n",
            strerror(errnum));
        return;
    }
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
}

void pmpi_ranks_report(void)
{
    char own[PATH_MAX] = "", *all = NULL, **argv = NULL;
    const char *root = getenv("DEVLOG_LOG_FOLDER");
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!realpath(root && *root ? root : "generated/profiler/logs", own)) own[0] = '\0';
    if (!rank) {
        all = malloc((size_t)ranks * sizeof own);
        argv = calloc((size_t)ranks + 3, sizeof *argv);
    }
    int good = rank || (all && argv);
    PMPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    /* Rank 0 has it when all have come here, and with that have logged what they log. */
    if (good) PMPI_Gather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (!rank && good) {
        int n = 0, with = 0;
        argv[n++] = (char *)"devlog";
        argv[n++] = (char *)(ranks > 1 ? "ranks" : "report");
        for (int i = 0; i < ranks; i++) {
            char *path = all + (size_t)i * sizeof own;
            if (*path) with++;
            if (*path) argv[n++] = path;
        }
        if (with)
            run(argv);
        else
            fprintf(stderr, "libdevlog-pmpi: no rank has a folder of logs (DEVLOG_LOG_FOLDER): there is "
                            "nothing to report\n");
    } else if (!rank) {
        fprintf(stderr, "libdevlog-pmpi: out of memory: no report of all ranks\n");
    }
    free(all);
    free(argv);
}
