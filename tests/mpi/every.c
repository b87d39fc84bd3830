/* Each call that libdevlog-pmpi.so follows, once a rank (those that poll until they are answered, maybe more often), with what it has to
 * come to: a call whose arguments are not handed on as they are ends it. Wants two ranks or more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 100, MOST = 8, TAG = 3 };

static int rank, n, to, from;
static int out[MOST * WORDS], in[MOST * WORDS], sum[MOST * WORDS];
static MPI_Request r[2];
static MPI_Status s[2];
static const MPI_Comm all = MPI_COMM_WORLD;

#define HOLDS(what)                                                                                          \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #what);                  \
            MPI_Abort(all, 1);                                                                               \
        }                                                                                                    \
    } while (0)

/* Every word says whose it is, and for whom. */
static void fill(void)
{
    for (int i = 0; i < MOST * WORDS; i++) {
        out[i] = 1000 * rank + i / WORDS;
        in[i] = sum[i] = -1;
    }
}

/* A block of `words` that came from a rank. */
static int is_of(const int *words, int sender, int block)
{
    return words[0] == 1000 * sender + block && words[WORDS - 1] == words[0];
}

static void messages(void)
{
    static char room[WORDS * sizeof(int) + MPI_BSEND_OVERHEAD];
    static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend,
                                                                                        MPI_Bsend, MPI_Rsend};
    static int (*const begun[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    for (int i = 0; i < 8; i++) {
        void *detached;
        int size;
        fill();
        if (i % 4 == 2) MPI_Buffer_attach(room, sizeof room);
        PMPI_Irecv(in, WORDS, MPI_INT, from, TAG, all, &r[0]);
        PMPI_Barrier(all); /* MPI_Rsend wants a receiver */
        if (i < 4)
            sends[i](out, WORDS, MPI_INT, to, TAG, all);
        else
            begun[i - 4](out, WORDS, MPI_INT, to, TAG, all, &r[1]);
        PMPI_Waitall(i < 4 ? 1 : 2, r, s);
        if (i % 4 == 2) MPI_Buffer_detach(&detached, &size);
        HOLDS(is_of(in, from, 0) && s[0].MPI_SOURCE == from && s[0].MPI_TAG == TAG);
    }
    fill();
    PMPI_Isend(out, WORDS, MPI_INT, to, TAG, all, &r[1]);
    MPI_Recv(in, WORDS, MPI_INT, from, TAG, all, &s[0]);
    MPI_Wait(&r[1], &s[1]);
    HOLDS(is_of(in, from, 0) && r[1] == MPI_REQUEST_NULL);
    fill();
    MPI_Sendrecv(out, WORDS, MPI_INT, to, TAG, in, WORDS, MPI_INT, from, TAG, all, &s[0]);
    HOLDS(is_of(in, from, 0));
    MPI_Sendrecv_replace(out, WORDS, MPI_INT, to, TAG, from, TAG, all, &s[0]);
    HOLDS(is_of(out, from, 0));
}

static void probes(void)
{
    MPI_Message m;
    int done, count;
    for (int i = 0; i < 3; i++) {
        fill();
        PMPI_Isend(out, WORDS, MPI_INT, to, TAG, all, &r[1]);
        done = 0;
        if (i == 0) {
            MPI_Probe(from, TAG, all, &s[0]);
            while (!done)
                MPI_Iprobe(from, TAG, all, &done, &s[1]);
            PMPI_Get_count(&s[1], MPI_INT, &count);
            HOLDS(count == WORDS && s[0].MPI_SOURCE == from);
            MPI_Irecv(in, WORDS, MPI_INT, from, TAG, all, &r[0]);
        } else if (i == 1) {
            MPI_Mprobe(from, TAG, all, &m, &s[0]);
            MPI_Mrecv(in, WORDS, MPI_INT, &m, &s[0]);
            r[0] = MPI_REQUEST_NULL;
        } else {
            while (!done)
                MPI_Improbe(from, TAG, all, &done, &m, &s[0]);
            MPI_Imrecv(in, WORDS, MPI_INT, &m, &r[0]);
        }
        PMPI_Waitall(2, r, s);
        HOLDS(is_of(in, from, 0));
    }
}

static void requests(void)
{
    int which[2], some, index, done, left;
    for (int i = 0; i < 7; i++) {
        fill();
        if (i) {
            PMPI_Irecv(in, WORDS, MPI_INT, from, TAG, all, &r[0]);
            PMPI_Isend(out, WORDS, MPI_INT, to, TAG, all, &r[1]);
        }
        done = 0;
        switch (i) {
        case 0: { /* one after the other, then both */
            MPI_Recv_init(in, WORDS, MPI_INT, from, TAG, all, &r[0]);
            MPI_Send_init(out, WORDS, MPI_INT, to, TAG, all, &r[1]);
            MPI_Start(&r[0]);
            PMPI_Start(&r[1]);
            PMPI_Waitall(2, r, s);
            HOLDS(is_of(in, from, 0));
            fill();
            MPI_Startall(2, r);
            MPI_Waitall(2, r, s);
            MPI_Request_free(&r[0]);
            MPI_Request_free(&r[1]);
            break;
        }
        case 1:
            MPI_Waitany(2, r, &index, &s[0]);
            HOLDS(index == 0 || index == 1);
            break;
        case 2:
            MPI_Waitsome(2, r, &some, which, s);
            HOLDS(some >= 1 && some <= 2 && which[0] <= 1);
            break;
        case 3:
            while (!done)
                MPI_Test(&r[0], &done, &s[0]);
            break;
        case 4:
            while (!done)
                MPI_Testany(2, r, &index, &done, &s[0]);
            HOLDS(index == 0 || index == 1);
            break;
        case 5:
            while (!done)
                MPI_Testall(2, r, &done, s);
            break;
        default:
            for (left = 2; left;) {
                MPI_Testsome(2, r, &some, which, s);
                left -= some;
            }
        }
        if (i) PMPI_Waitall(2, r, s);
        HOLDS(is_of(in, from, 0));
    }
}

/* What all ranks have in the same place, once as a call that waits, once as one that does not. */
static void collective(int begins)
{
    MPI_Request *q = &r[0];
    int counts[MOST], places[MOST];
    MPI_Datatype kinds[MOST];
    for (int i = 0; i < MOST; i++) {
        counts[i] = WORDS;
        places[i] = i * WORDS;
        kinds[i] = MPI_INT;
    }
#define DO(name, ...)                                                                                        \
    do {                                                                                                     \
        fill();                                                                                              \
        if (begins) {                                                                                        \
            MPI_I##name(__VA_ARGS__, q);                                                                     \
            PMPI_Wait(q, &s[0]);                                                                             \
        } else {                                                                                             \
            BLOCKING(name, __VA_ARGS__);                                                                     \
        }                                                                                                    \
    } while (0)
#define BLOCKING(name, ...)       CALL_##name(__VA_ARGS__)
#define CALL_barrier              MPI_Barrier
#define CALL_bcast                MPI_Bcast
#define CALL_reduce               MPI_Reduce
#define CALL_allreduce            MPI_Allreduce
#define CALL_gather               MPI_Gather
#define CALL_gatherv              MPI_Gatherv
#define CALL_allgather            MPI_Allgather
#define CALL_allgatherv           MPI_Allgatherv
#define CALL_scatter              MPI_Scatter
#define CALL_scatterv             MPI_Scatterv
#define CALL_alltoall             MPI_Alltoall
#define CALL_alltoallv            MPI_Alltoallv
#define CALL_alltoallw            MPI_Alltoallw
#define CALL_reduce_scatter       MPI_Reduce_scatter
#define CALL_reduce_scatter_block MPI_Reduce_scatter_block
#define CALL_scan                 MPI_Scan
#define CALL_exscan               MPI_Exscan
    const int total = 1000 * (n * (n - 1) / 2), last = n - 1;
    DO(barrier, all);
    DO(bcast, out, WORDS, MPI_INT, last, all);
    HOLDS(is_of(out, last, 0));
    DO(reduce, out, in, WORDS, MPI_INT, MPI_SUM, last, all);
    HOLDS(in[WORDS - 1] == (rank == last ? total : -1));
    DO(allreduce, out, in, WORDS, MPI_INT, MPI_SUM, all);
    HOLDS(in[0] == total && in[WORDS - 1] == total);
    DO(gather, out, WORDS, MPI_INT, in, WORDS, MPI_INT, last, all);
    HOLDS(rank != last || is_of(in + from * WORDS, from, 0));
    DO(gatherv, out, WORDS, MPI_INT, in, counts, places, MPI_INT, last, all);
    HOLDS(rank != last || is_of(in + from * WORDS, from, 0));
    DO(allgather, out, WORDS, MPI_INT, in, WORDS, MPI_INT, all);
    HOLDS(is_of(in + from * WORDS, from, 0));
    DO(allgatherv, out, WORDS, MPI_INT, in, counts, places, MPI_INT, all);
    HOLDS(is_of(in + to * WORDS, to, 0));
    DO(scatter, out, WORDS, MPI_INT, in, WORDS, MPI_INT, last, all);
    HOLDS(is_of(in, last, rank));
    DO(scatterv, out, counts, places, MPI_INT, in, WORDS, MPI_INT, last, all);
    HOLDS(is_of(in, last, rank));
    DO(alltoall, out, WORDS, MPI_INT, in, WORDS, MPI_INT, all);
    HOLDS(is_of(in + from * WORDS, from, rank));
    DO(alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT, all);
    HOLDS(is_of(in + from * WORDS, from, rank));
    for (int i = 0; i < MOST; i++)
        places[i] *= (int)sizeof(int);
    DO(alltoallw, out, counts, places, kinds, in, counts, places, kinds, all);
    HOLDS(is_of(in + from * WORDS, from, rank));
    DO(reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, all);
    HOLDS(in[0] == total + n * rank);
    DO(reduce_scatter_block, out, in, WORDS, MPI_INT, MPI_SUM, all);
    HOLDS(in[WORDS - 1] == total + n * rank);
    DO(scan, out, in, WORDS, MPI_INT, MPI_SUM, all);
    HOLDS(in[0] == 1000 * (rank * (rank + 1) / 2));
    DO(exscan, out, in, WORDS, MPI_INT, MPI_SUM, all);
    HOLDS(!rank || in[0] == 1000 * (rank * (rank - 1) / 2));
}

/* Ranks of a ring, each with two neighbours. */
static void neighbours(void)
{
    MPI_Comm ring;
    int counts[2] = {WORDS, WORDS}, places[2] = {0, WORDS};
    MPI_Aint bytes[2] = {0, WORDS * sizeof(int)};
    MPI_Datatype kinds[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(all, 1, &n, (int[]){1}, 0, &ring);
    for (int i = 0; i < 5; i++) {
        fill();
        if (i == 0) MPI_Neighbor_allgather(out, WORDS, MPI_INT, in, WORDS, MPI_INT, ring);
        if (i == 1) MPI_Neighbor_allgatherv(out, WORDS, MPI_INT, in, counts, places, MPI_INT, ring);
        if (i == 2) MPI_Neighbor_alltoall(out, WORDS, MPI_INT, in, WORDS, MPI_INT, ring);
        if (i == 3) MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring);
        if (i == 4) MPI_Neighbor_alltoallw(out, counts, bytes, kinds, in, counts, bytes, kinds, ring);
        HOLDS(in[0] / 1000 == from && in[2 * WORDS - 1] / 1000 == to);
    }
    MPI_Comm_free(&ring);
}

static void windows(void)
{
    MPI_Comm made, machine, pair;
    MPI_Group group, others;
    MPI_Win w, shared;
    int *memory, one = 1, got = -1, was = -1;
    MPI_Comm_dup(all, &made);
    MPI_Comm_split(all, rank % 2, -rank, &pair);
    MPI_Comm_free(&pair);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_group(all, &group);
    MPI_Comm_create(all, group, &pair);
    MPI_Comm_free(&pair);
    MPI_Comm_create_group(all, group, TAG, &pair);
    MPI_Comm_free(&pair);
    fill();
    MPI_Win_create(in, sizeof in, sizeof(int), MPI_INFO_NULL, made, &w);
    PMPI_Win_fence(0, w);
    MPI_Put(out, WORDS, MPI_INT, to, 0, WORDS, MPI_INT, w);
    MPI_Accumulate(out, WORDS, MPI_INT, to, WORDS, WORDS, MPI_INT, MPI_REPLACE, w);
    MPI_Win_fence(0, w);
    HOLDS(is_of(in, from, 0) && is_of(in + WORDS, from, 0));
    MPI_Get(sum, WORDS, MPI_INT, to, WORDS, WORDS, MPI_INT, w);
    PMPI_Win_fence(0, w);
    HOLDS(is_of(sum, rank, 0));
    /* Of one other rank. */
    PMPI_Group_incl(group, 1, &from, &others);
    MPI_Win_post(others, 0, w);
    PMPI_Group_free(&others);
    PMPI_Group_incl(group, 1, &to, &others);
    MPI_Win_start(others, 0, w);
    PMPI_Put(out + WORDS, WORDS, MPI_INT, to, 0, WORDS, MPI_INT, w);
    MPI_Win_complete(w);
    MPI_Win_wait(w);
    HOLDS(is_of(in, from, 1));
    PMPI_Group_free(&others);
    MPI_Win_free(&w);
    MPI_Win_allocate(2 * WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, made, &memory, &w);
    memory[0] = 0;
    memory[1] = rank;
    for (int i = 2; i < 2 * WORDS; i++)
        memory[i] = rank;
    PMPI_Barrier(all);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w);
    MPI_Fetch_and_op(&one, &was, MPI_INT, to, 0, MPI_SUM, w);
    MPI_Win_flush(to, w);
    HOLDS(was == 0);
    MPI_Compare_and_swap(&one, &to, &was, MPI_INT, to, 1, w);
    MPI_Win_flush_local(to, w);
    MPI_Win_unlock(to, w);
    HOLDS(was == to);
    PMPI_Barrier(all);
    MPI_Win_lock_all(0, w);
    MPI_Win_sync(w);
    HOLDS(memory[0] == 1 && memory[1] == 1);
    PMPI_Barrier(all); /* what comes now is of others, too */
    MPI_Get_accumulate(out, WORDS - 2, MPI_INT, sum, WORDS - 2, MPI_INT, to, 2, WORDS - 2, MPI_INT, MPI_SUM,
                       w);
    MPI_Win_flush_all(w);
    HOLDS(sum[0] == to);
    MPI_Rput(out, WORDS, MPI_INT, to, WORDS, WORDS, MPI_INT, w, &r[0]);
    PMPI_Wait(&r[0], &s[0]);
    MPI_Win_flush_local_all(w);
    MPI_Raccumulate(&one, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, w, &r[0]);
    PMPI_Wait(&r[0], &s[0]);
    PMPI_Win_flush_all(w);
    MPI_Rget(&got, 1, MPI_INT, to, 0, 1, MPI_INT, w, &r[0]);
    PMPI_Wait(&r[0], &s[0]);
    HOLDS(got == 2);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &got, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, w, &r[0]);
    PMPI_Wait(&r[0], &s[0]);
    HOLDS(got == 2);
    MPI_Win_unlock_all(w);
    PMPI_Barrier(all);
    HOLDS(memory[0] == 3 && memory[2] == rank + 1000 * from && memory[WORDS] == 1000 * from);
    PMPI_Win_free(&w);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, machine, &memory, &shared);
    *memory = rank;
    PMPI_Win_free(&shared);
    PMPI_Group_free(&group);
    MPI_Comm_free(&machine);
    MPI_Comm_free(&made);
}

/* A rank's own part may stand in the place of the result; then the other arguments of it say nothing. */
static void in_place(void)
{
    fill();
    out[rank * WORDS] = 7;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, WORDS, MPI_INT, all);
    HOLDS(out[from * WORDS] == 7);
    fill();
    MPI_Alltoall(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, out, WORDS, MPI_INT, all);
    HOLDS(is_of(out + from * WORDS, from, rank));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &n);
    to = (rank + 1) % n;
    from = (rank + n - 1) % n;
    if (n < 2 || n > MOST) MPI_Abort(all, 2);
    messages();
    probes();
    requests();
    collective(0);
    collective(1);
    neighbours();
    windows();
    if (argc > 1) in_place();
    MPI_Finalize();
    return 0;
}
