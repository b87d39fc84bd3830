/* The example nn as a rank of an MPI program: each computes, then all meet. */
#include <mpi.h>

int nn_main(int argc, char **argv);

int main(int argc, char **argv)
{
    int word = 1, sum = 0;
    MPI_Init(&argc, &argv);
    const int status = nn_main(argc, argv);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
