/* The report of all ranks that rank 0 prints at the end: what devlog ranks says of the folders in which they log. Not for MPI's own
 * times (pmpi.c). */
#ifndef DEVLOG_MPI_PMPI_RANKS_H
#define DEVLOG_MPI_PMPI_RANKS_H

/* On all ranks, behind the last thing that each of them logs, before PMPI_Finalize. */
void pmpi_ranks_report(void);

#endif
