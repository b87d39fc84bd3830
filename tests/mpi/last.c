/* Loaded before others: rank 1 is killed when it ends MPI, a second after it has done its part. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int MPI_Finalize(void);
extern int PMPI_Finalize(void)
    __attribute__((weak)); /* not every program that is started on the way has an MPI */

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && strcmp(rank, "1") == 0) {
        sleep(1);
        raise(SIGKILL);
    }
    return PMPI_Finalize();
}
