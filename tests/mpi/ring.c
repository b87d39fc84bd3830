/* An MPI program that knows nothing of devlog: messages around a ring, sums, and a rank that comes late to every barrier. */
#include <mpi.h>
#include <time.h>

enum { ROUNDS = 10, WORDS = 100 };

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < ROUNDS; i++) {
        int out[WORDS] = {rank}, in[WORDS] = {0}, sum = 0;
        MPI_Request r[2];
        MPI_Irecv(in, WORDS, MPI_INT, (rank + n - 1) % n, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, WORDS, MPI_INT, (rank + 1) % n, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != n * (n - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
        if (rank == n - 1) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
