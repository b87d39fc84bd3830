/* A rank that is killed as soon as it is one. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return raise(SIGKILL);
}
