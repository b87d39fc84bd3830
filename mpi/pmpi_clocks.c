/* See pmpi_clocks.h. Nothing waits for ever: ranks that do not come (they are not followed by this library, or late) are given up after some
 * seconds, and all exchanges together may take two. */
#include "pmpi_clocks.h"

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devlog/devlog.h"

#define SECOND UINT64_C(1000000000)

enum {
    TAG = 1,
    ROUNDS = 10,
    MOST_MS = 100, /* of a rank */
    ALL_S = 2,     /* of all ranks */
    COME_S = 10,   /* until all ranks have come to MPI_Init */
    END_S = 60,    /* and to MPI_Finalize */
    SPIN_NS = 100 * 1000 * 1000,
    NAP_NS = 1000 * 1000
};

typedef struct part {
    uint64_t ns;  /* that it took on this rank, with what it waited for others */
    uint64_t way; /* the shortest, there and back; 0: none */
} part;

static MPI_Comm between = MPI_COMM_NULL; /* nothing of the program is sent there */
static part parts[2];

/* Until it is done, or the time is over. */
static bool wait_for(MPI_Request *r, uint64_t most_ns)
{
    const uint64_t from = devlog_clock_now();
    for (int done = 0;;) {
        if (PMPI_Test(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (done) return true;
        const uint64_t waited = devlog_clock_now() - from;
        if (waited > most_ns) return false;
        if (waited > SPIN_NS)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        else
            sched_yield();
    }
}

/* Whether all ranks are here. The request of one that are not stays open. */
static bool all_come(MPI_Comm comm, uint64_t most_ns)
{
    MPI_Request r;
    return PMPI_Ibarrier(comm, &r) == MPI_SUCCESS && wait_for(&r, most_ns);
}

typedef struct other {
    int rank;
} other;

static int to_other(void *context, const void *bytes, size_t n)
{
    return PMPI_Send(bytes, (int)n, MPI_BYTE, ((other *)context)->rank, TAG, between);
}

/* One that has given up does not hold this rank up. */
static bool receive(void *bytes, int n, int from, uint64_t most_ns)
{
    MPI_Request r;
    if (PMPI_Irecv(bytes, n, MPI_BYTE, from, TAG, between, &r) != MPI_SUCCESS) return false;
    if (wait_for(&r, most_ns)) return true;
    PMPI_Cancel(&r);
    PMPI_Wait(&r, MPI_STATUS_IGNORE);
    return false;
}

static int from_other(void *context, void *bytes, size_t n)
{
    return receive(bytes, (int)n, ((other *)context)->rank, COME_S * SECOND) ? 0 : -1;
}

/* The number that devlog knows a rank by: its launcher's. */
static uint32_t number_of(int rank)
{
    const char *said = getenv("TT_RUN_RANK");
    char *end;
    if (!said || !*said) return (uint32_t)rank;
    const unsigned long n = strtoul(said, &end, 10);
    return *end ? (uint32_t)rank : (uint32_t)n;
}

/* What goes before an exchange, both ways. */
typedef struct hello {
    uint32_t go, number;
} hello;

static void say(bool told, const devlog_error *err)
{
    if (told) fprintf(stderr, "libdevlog-pmpi: %s\n", err->text);
}

static void ask(int rank, const char *folder, bool told, part *p)
{
    const hello mine = {1, number_of(rank)};
    hello theirs;
    other o = {0};
    devlog_error err = {0};
    devlog_clock_stamps best;
    if (!receive(&theirs, sizeof theirs, 0, (ALL_S + COME_S) * SECOND) || !theirs.go) return;
    if (to_other(&o, &mine, sizeof mine)) return;
    const devlog_clock_options options =
        DEVLOG_CLOCK_OPTIONS(.peer = theirs.number, .send = to_other, .receive = from_other, .context = &o,
                             .rounds = ROUNDS, .most_ms = MOST_MS, .log_folder = folder);
    if (devlog_clock_exchange(&options, &best, &err)) say(told, &err);
    p->way = best.arrived - best.sent - (best.answered - best.received);
}

static void answer(int rank, int ranks, bool told)
{
    const uint64_t from = devlog_clock_now();
    for (int k = 1; k < ranks; k++) {
        const hello mine = {devlog_clock_now() - from < ALL_S * SECOND, number_of(rank)};
        hello theirs;
        other o = {k};
        devlog_error err = {0};
        if (to_other(&o, &mine, sizeof mine) || !mine.go) continue;
        if (!receive(&theirs, sizeof theirs, k, COME_S * SECOND)) continue;
        const devlog_clock_options options =
            DEVLOG_CLOCK_OPTIONS(.peer = theirs.number, .answer = true, .send = to_other,
                                 .receive = from_other, .context = &o);
        if (devlog_clock_exchange(&options, NULL, &err)) say(told, &err);
    }
}

static void exchange(const char *folder, bool told, part *p, uint64_t from)
{
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(between, &rank);
    PMPI_Comm_size(between, &ranks);
    if (rank)
        ask(rank, folder, told, p);
    else
        answer(rank, ranks, told);
    p->ns = devlog_clock_now() - from;
}

static bool wanted(void)
{
    const char *said = getenv("DEVLOG_MPI_CLOCKS");
    return !said || strcmp(said, "0") != 0;
}

void pmpi_clocks_begin(const char *folder, bool told)
{
    const uint64_t from = devlog_clock_now();
    int ranks = 1, rank = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ranks < 2 || !wanted()) return;
    if (!all_come(MPI_COMM_WORLD, COME_S * SECOND)) {
        fprintf(
            stderr,
            "libdevlog-pmpi: rank %d has waited %d s for the others at MPI_Init: clocks are not exchanged. Load the library "
            "in all ranks, or set DEVLOG_MPI_CLOCKS=0\n",
            rank, COME_S);
        return;
    }
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &between) == MPI_SUCCESS) exchange(folder, told, &parts[0], from);
}

void pmpi_clocks_end(const char *folder, bool told)
{
    const uint64_t from = devlog_clock_now();
    if (between == MPI_COMM_NULL) return;
    if (all_come(between, END_S * SECOND))
        exchange(folder, told, &parts[1], devlog_clock_now());
    else
        fprintf(
            stderr,
            "libdevlog-pmpi: not all ranks came to MPI_Finalize within %llu s: clocks are exchanged at MPI_Init alone\n",
            (unsigned long long)((devlog_clock_now() - from) / SECOND));
}

void pmpi_clocks_report(void)
{
    uint64_t mine[2], least[2] = {0}, most[2] = {0};
    int rank = 0;
    if (between == MPI_COMM_NULL) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        mine[i] = parts[i].way ? parts[i].way : UINT64_MAX;
    PMPI_Reduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        mine[i] = parts[i].way;
    PMPI_Reduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank) return;
    for (int i = 0; i < 2; i++)
        if (most[i])
            printf("clocks at %s: %.3f ms; the shortest ways of ranks, there and back: %.3f to %.3f us\n",
                   i ? "MPI_Finalize" : "MPI_Init", (double)parts[i].ns / 1e6, (double)least[i] / 1e3,
                   (double)most[i] / 1e3);
    fflush(stdout);
}
