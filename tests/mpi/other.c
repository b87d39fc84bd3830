/* As much of another MPI as a program needs that is linked with it: handles are numbers, and whoever comes with another one's is not
 * served. As a library it is that MPI; with OTHER_PROGRAM the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

enum { WORLD = 0x44000000 };
int MPI_Init(int *argc, char ***argv);
int PMPI_Init(int *argc, char ***argv);
int MPI_Barrier(int comm);
int PMPI_Barrier(int comm);
int PMPI_Comm_rank(int comm, int *rank);
int PMPI_Comm_size(int comm, int *size);
int PMPI_Get_library_version(char *version, int *n);
int MPI_Finalize(void);
int PMPI_Finalize(void);

#ifdef OTHER_PROGRAM
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(WORLD);
    MPI_Finalize();
    puts("done");
    return 0;
}
#else
static void check(int comm, const char *call)
{
    if (comm == WORLD) return;
    fprintf(stderr, "%s: this handle is none\n", call);
    abort();
}

#define CALL(name, parameters, arguments, ...)                                                               \
    int PMPI_##name parameters __VA_ARGS__ __attribute__((weak)) int MPI_##name parameters                   \
    {                                                                                                        \
        return PMPI_##name arguments;                                                                        \
    }

CALL(Init, (int *argc, char ***argv), (argc, argv), {
    (void)argc;
    (void)argv;
    return 0;
})
CALL(Barrier, (int comm), (comm), {
    check(comm, "MPI_Barrier");
    return 0;
})
CALL(Finalize, (void), (), { return 0; })

int PMPI_Comm_rank(int comm, int *rank)
{
    check(comm, "MPI_Comm_rank");
    *rank = 0;
    return 0;
}

int PMPI_Comm_size(int comm, int *size)
{
    check(comm, "MPI_Comm_size");
    *size = 2;
    return 0;
}

int PMPI_Get_library_version(char *version, int *n)
{
    strcpy(version, "MPICH Version:      4.0.2\nMPICH Device: none");
    *n = (int)strlen(version);
    return 0;
}
#endif
