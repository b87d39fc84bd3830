/* Loaded before others: rank 1 is killed RANK_1_DIES seconds after it began, if it is still in MPI; when it is about to end
 * MPI, a second after it has done its part, where that is 0. A program is not killed behind that: mpirun then cuts what others print. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int MPI_Finalize(void);
extern int PMPI_Finalize(void)
    __attribute__((weak)); /* not every program that is started on the way has an MPI */

static double seconds(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *dies = getenv("RANK_1_DIES");
    return rank && dies && strcmp(rank, "1") == 0 ? strtod(dies, NULL) : -1;
}

static void set_timer(double in)
{
    const struct itimerval timer = {.it_value = {(time_t)in, (suseconds_t)(1e6 * (in - (double)(time_t)in))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void die(int sig)
{
    (void)sig;
    raise(SIGKILL);
}

__attribute__((constructor)) static void begin(void)
{
    if (seconds() <= 0) return;
    signal(SIGALRM, die);
    set_timer(seconds());
}

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    set_timer(0);
    if (seconds() == 0) {
        sleep(1);
        raise(SIGKILL);
    }
    return PMPI_Finalize();
}
