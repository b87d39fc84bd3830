/* libdevlog-pmpi.so: what a program spends in MPI, without a change to it (MPI's profiling interface, PMPI):
 *
 *     mpirun -n 4 env LD_PRELOAD=libdevlog-pmpi.so ./program
 *
 * Every call of pmpi_calls.h is a zone of host code (devlog/host.h) with its bytes as a value, in <log folder>/rank<N>/host_<pid>.devlog, or in the
 * file that the program records already (DEVLOG_HOST=1). DEVLOG_MPI_REPORT=1: rank 0 prints what all ranks spent in which call;
 * =ops: and what devlog ranks says of all ranks' logs (pmpi_ranks.h). Ranks see one another's clocks, too (pmpi_clocks.h).
 * Not a tracer of messages: who sent what to whom is not recorded. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devlog/host.h"
#include "pmpi_calls.h"
#include "pmpi_clocks.h"
#include "pmpi_ranks.h"

#define NUMBER(name, parameters, arguments, bytes) CALL_##name,
enum { CALLS(NUMBER) N_CALLS };
#define NAME(name, parameters, arguments, bytes) "MPI_" #name,
static const char *const names[] = {CALLS(NAME)};

/* What this rank spent in each; threads add at once. */
typedef struct spent {
    uint64_t calls, ns, bytes;
} spent;
static spent sums[N_CALLS];

static bool followed; /* the program's MPI is that of this library */

static uint64_t of(int n, MPI_Datatype t)
{
    int size = 0;
    if (n <= 0 || !followed || !t || t == MPI_DATATYPE_NULL || PMPI_Type_size(t, &size) != MPI_SUCCESS ||
        size < 0)
        return 0;
    return (uint64_t)n * (uint64_t)size;
}

/* Where a rank's own part is in the place of the result, what is said of the part is nothing. */
static uint64_t of_own(const void *part, int n, MPI_Datatype t)
{
    return part == MPI_IN_PLACE ? 0 : of(n, t);
}

static uint64_t of_either(const void *part, int n, MPI_Datatype t, int other_n, MPI_Datatype other_t)
{
    return part == MPI_IN_PLACE ? of(other_n, other_t) : of(n, t);
}

/* Those that a rank of this communicator sends to. */
static uint64_t ranks_of(MPI_Comm c)
{
    int between = 0, n = 0;
    if (!followed || c == MPI_COMM_NULL) return 0;
    PMPI_Comm_test_inter(c, &between);
    if (between)
        PMPI_Comm_remote_size(c, &n);
    else
        PMPI_Comm_size(c, &n);
    return n > 0 ? (uint64_t)n : 0;
}

static uint64_t of_all(const int *counts, MPI_Datatype t, MPI_Comm c)
{
    uint64_t sum = 0;
    for (uint64_t i = 0, n = ranks_of(c); i < n && counts; i++)
        sum += of(counts[i], t);
    return sum;
}

static uint64_t of_kinds(const int *counts, const MPI_Datatype *types, MPI_Comm c)
{
    uint64_t sum = 0;
    for (uint64_t i = 0, n = ranks_of(c); i < n && counts && types; i++)
        sum += of(counts[i], types[i]);
    return sum;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void count(int call, uint64_t ns, uint64_t bytes)
{
    __atomic_fetch_add(&sums[call].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums[call].ns, ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums[call].bytes, bytes, __ATOMIC_RELAXED);
}

#define WRAP(name, parameters, arguments, bytes_)                                                            \
    __attribute__((visibility("default"))) int MPI_##name parameters                                         \
    {                                                                                                        \
        static devlog_host_site site = {"MPI_" #name, "MPI_" #name, "mpi.h", 0, 0},                          \
                                size = {"MPI_" #name " bytes", "MPI_" #name, "mpi.h", 0, 0};                 \
        const uint64_t bytes = (bytes_), start = now();                                                      \
        const int on = __atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED);                                   \
        devlog_host_zone zone = {0};                                                                         \
        if (on) devlog_host_begin(&zone, &site);                                                             \
        if (on && bytes) devlog_host_value(&size, bytes);                                                    \
        const int status = PMPI_##name arguments;                                                            \
        devlog_host_end(&zone);                                                                              \
        count(CALL_##name, now() - start, bytes);                                                            \
        return status;                                                                                       \
    }
CALLS(WRAP)

/* Whether the program's MPI is that which this library was built with: handles of others are not the same. All have this call, and
 * none of its arguments is a handle; 8,192 bytes are the most that any of them writes (MPICH). */
static bool is_own_mpi(char *version)
{
    char own[32];
    int n = 0;
    version[0] = '\0';
    snprintf(own, sizeof own, "Open MPI v%d.", OMPI_MAJOR_VERSION);
    return PMPI_Get_library_version(version, &n) == 0 && strncmp(version, own, strlen(own)) == 0;
}

static char folder[4096]; /* "": the program's own */

/* In a zone of its own, because it is no part of the program. */
static void clocks(void (*exchange)(const char *folder, bool told))
{
    static devlog_host_site site = {"clocks (devlog)", "", "", 0, 0};
    const int on = __atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED);
    devlog_host_zone zone = {0};
    if (on) devlog_host_begin(&zone, &site);
    exchange(*folder ? folder : NULL, on);
    devlog_host_end(&zone);
}

/* A setting that cannot be read is said once, and is as if it were not set. */
static void check_setting(int rank, const char *name, const char *const *values)
{
    const char *said = getenv(name);
    for (int i = 0; said && *said && values[i]; i++)
        if (strcmp(said, values[i]) == 0) return;
    if (!said || !*said || rank) return;
    fprintf(stderr, "libdevlog-pmpi: %s=%s: it is", name, said);
    for (int i = 0; values[i]; i++)
        fprintf(stderr, "%s %s", i ? " or" : "", values[i]);
    fprintf(stderr, "; that is not obeyed\n");
}

/* Zones begin when the rank is known, in a folder of its name, unless the program records already. */
static void begin(void)
{
    int rank = 0;
    static char version[8192];
    const char *root = getenv("DEVLOG_LOG_FOLDER");
    devlog_error err;
    followed = is_own_mpi(version);
    if (!followed) {
        fprintf(stderr, "libdevlog-pmpi: the program's MPI is %.*s, not Open MPI %d: it is not followed\n",
                (int)strcspn(version, "\n"), version, OMPI_MAJOR_VERSION);
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_setting(rank, "DEVLOG_MPI_REPORT", (const char *const[]){"0", "1", "ops", NULL});
    check_setting(rank, "DEVLOG_MPI_CLOCKS", (const char *const[]){"0", "1", NULL});
    const int n =
        snprintf(folder, sizeof folder, "%s/rank%d", root && *root ? root : "generated/profiler/logs", rank);
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = folder);
    if (devlog_host_on)
        folder[0] = '\0'; /* the program's own */
    else if (n >= (int)sizeof folder)
        fprintf(stderr, "libdevlog-pmpi: DEVLOG_LOG_FOLDER is too long: zones of MPI are not recorded\n");
    else if (devlog_host_start(&options, &err))
        fprintf(stderr, "libdevlog-pmpi: %s: zones of MPI are not recorded\n", err.text);
    clocks(pmpi_clocks_begin);
}

__attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv)
{
    const int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS) begin();
    return status;
}

__attribute__((visibility("default"))) int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    const int status = PMPI_Init_thread(argc, argv, wanted, given);
    if (status == MPI_SUCCESS) begin();
    return status;
}

/* What a rank sends for it is 24 bytes a call that there is, however often it was made. */
static void report(void)
{
    spent all[N_CALLS];
    struct {
        double ns;
        int rank;
    } own[N_CALLS], most[N_CALLS];
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(all, 0, sizeof all);
    for (int i = 0; i < N_CALLS; i++) {
        own[i].ns = (double)sums[i].ns;
        own[i].rank = rank;
    }
    PMPI_Reduce(sums, all, 3 * N_CALLS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(own, most, N_CALLS, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    if (rank) return;
    printf("MPI of %d ranks\n%-26s %10s %14s %14s %6s %14s\n", ranks, "call", "calls", "mean ms", "most ms",
           "rank", "bytes");
    for (int i = 0; i < N_CALLS; i++)
        if (all[i].calls)
            printf("%-26s %10llu %14.3f %14.3f %6d %14llu\n", names[i], (unsigned long long)all[i].calls,
                   (double)all[i].ns / 1e6 / ranks, most[i].ns / 1e6, most[i].rank,
                   (unsigned long long)all[i].bytes);
    fflush(stdout);
}

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    const char *wanted = getenv("DEVLOG_MPI_REPORT");
    devlog_error err;
    const bool ops = wanted && strcmp(wanted, "ops") == 0;
    if (!followed) return PMPI_Finalize();
    clocks(pmpi_clocks_end);
    if (ops || (wanted && strcmp(wanted, "1") == 0)) {
        report();
        pmpi_clocks_report();
    }
    if (devlog_host_stop(&err)) fprintf(stderr, "libdevlog-pmpi: %s\n", err.text);
    if (ops) pmpi_ranks_report();
    return PMPI_Finalize();
}
