/* What the ranks of an MPI program see of one another's clocks, by themselves: each exchanges something with rank 0 when the program
 * begins and before it ends (devlog_clock_exchange). Not for calls of MPI (pmpi.c). */
#ifndef DEVLOG_MPI_PMPI_CLOCKS_H
#define DEVLOG_MPI_PMPI_CLOCKS_H

#include <stdbool.h>

/* On all ranks, behind PMPI_Init. `folder`: of logs of this rank. `told`: errors are said. */
void pmpi_clocks_begin(const char *folder, bool told);
/* On all ranks, before recording ends. */
void pmpi_clocks_end(const char *folder, bool told);
/* Rank 0 prints what both took; on all ranks, between the two and PMPI_Finalize. */
void pmpi_clocks_report(void);

#endif
