/* The calls of MPI that libdevlog-pmpi.so follows (pmpi.c): all that send, receive, wait, or want several ranks, as MPI 3.1 has them. For
 * each its name, parameters, arguments, and the bytes that this rank hands over or waits for, as far as the call says it (0 otherwise).
 * Source: MPI: A Message-Passing Interface Standard, Version 3.1, annex A.2. Not files of MPI-IO, nor calls that work on one rank. */
#ifndef DEVLOG_PMPI_CALLS_H
#define DEVLOG_PMPI_CALLS_H

/* clang-format off */
#define CALLS(X) \
    X(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), of(n, t)) \
    X(Bsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), of(n, t)) \
    X(Ssend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), of(n, t)) \
    X(Rsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), of(n, t)) \
    X(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), of(n, t)) \
    X(Ibsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), of(n, t)) \
    X(Issend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), of(n, t)) \
    X(Irsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), of(n, t)) \
    X(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (b, n, t, from, tag, c, s), of(n, t)) \
    X(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r), of(n, t)) \
    X(Sendrecv, (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *s), \
      (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s), of(n, t)) \
    X(Sendrecv_replace, (void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, MPI_Status *s), (b, n, t, to, tag, from, rtag, c, s), of(n, t)) \
    X(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s), (from, tag, c, s), 0) \
    X(Iprobe, (int from, int tag, MPI_Comm c, int *done, MPI_Status *s), (from, tag, c, done, s), 0) \
    X(Mprobe, (int from, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s), (from, tag, c, m, s), 0) \
    X(Improbe, (int from, int tag, MPI_Comm c, int *done, MPI_Message *m, MPI_Status *s), (from, tag, c, done, m, s), 0) \
    X(Mrecv, (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), (b, n, t, m, s), of(n, t)) \
    X(Imrecv, (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Request *r), (b, n, t, m, r), of(n, t)) \
    X(Start, (MPI_Request *r), (r), 0) \
    X(Startall, (int n, MPI_Request *r), (n, r), 0) \
    X(Wait, (MPI_Request *r, MPI_Status *s), (r, s), 0) \
    X(Waitany, (int n, MPI_Request *r, int *i, MPI_Status *s), (n, r, i, s), 0) \
    X(Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s), 0) \
    X(Waitsome, (int n, MPI_Request *r, int *some, int *i, MPI_Status *s), (n, r, some, i, s), 0) \
    X(Test, (MPI_Request *r, int *done, MPI_Status *s), (r, done, s), 0) \
    X(Testany, (int n, MPI_Request *r, int *i, int *done, MPI_Status *s), (n, r, i, done, s), 0) \
    X(Testall, (int n, MPI_Request *r, int *done, MPI_Status *s), (n, r, done, s), 0) \
    X(Testsome, (int n, MPI_Request *r, int *some, int *i, MPI_Status *s), (n, r, some, i, s), 0) \
    X(Barrier, (MPI_Comm c), (c), 0) \
    X(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), of(n, t)) \
    X(Reduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c), (b, rb, n, t, op, root, c), of(n, t)) \
    X(Allreduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c), of(n, t)) \
    X(Gather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c), (b, n, t, rb, rn, rt, root, c), of_either(b, n, t, rn, rt)) \
    X(Gatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rns[], const int d[], MPI_Datatype rt, int root, MPI_Comm c), (b, n, t, rb, rns, d, rt, root, c), of_own(b, n, t)) \
    X(Allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), of_either(b, n, t, rn, rt)) \
    X(Allgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rns[], const int d[], MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rns, d, rt, c), of_own(b, n, t)) \
    X(Scatter, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c), (b, n, t, rb, rn, rt, root, c), of_either(rb, rn, rt, n, t)) \
    X(Scatterv, (const void *b, const int ns[], const int d[], MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c), (b, ns, d, t, rb, rn, rt, root, c), of_own(rb, rn, rt)) \
    X(Alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), ranks_of(c) * of_either(b, n, t, rn, rt)) \
    X(Alltoallv, (const void *b, const int ns[], const int d[], MPI_Datatype t, void *rb, const int rns[], const int rd[], MPI_Datatype rt, MPI_Comm c), \
      (b, ns, d, t, rb, rns, rd, rt, c), b == MPI_IN_PLACE ? of_all(rns, rt, c) : of_all(ns, t, c)) \
    X(Alltoallw, (const void *b, const int ns[], const int d[], const MPI_Datatype ts[], void *rb, const int rns[], const int rd[], const MPI_Datatype rts[], MPI_Comm c), \
      (b, ns, d, ts, rb, rns, rd, rts, c), b == MPI_IN_PLACE ? of_kinds(rns, rts, c) : of_kinds(ns, ts, c)) \
    X(Reduce_scatter, (const void *b, void *rb, const int rns[], MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, rns, t, op, c), of_all(rns, t, c)) \
    X(Reduce_scatter_block, (const void *b, void *rb, int rn, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, rn, t, op, c), ranks_of(c) * of(rn, t)) \
    X(Scan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c), of(n, t)) \
    X(Exscan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c), of(n, t)) \
    X(Ibarrier, (MPI_Comm c, MPI_Request *r), (c, r), 0) \
    X(Ibcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r), (b, n, t, root, c, r), of(n, t)) \
    X(Ireduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c, MPI_Request *r), (b, rb, n, t, op, root, c, r), of(n, t)) \
    X(Iallreduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, rb, n, t, op, c, r), of(n, t)) \
    X(Igather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c, MPI_Request *r), (b, n, t, rb, rn, rt, root, c, r), of_either(b, n, t, rn, rt)) \
    X(Igatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rns[], const int d[], MPI_Datatype rt, int root, MPI_Comm c, MPI_Request *r), \
      (b, n, t, rb, rns, d, rt, root, c, r), of_own(b, n, t)) \
    X(Iallgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c, MPI_Request *r), (b, n, t, rb, rn, rt, c, r), of_either(b, n, t, rn, rt)) \
    X(Iallgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rns[], const int d[], MPI_Datatype rt, MPI_Comm c, MPI_Request *r), (b, n, t, rb, rns, d, rt, c, r), of_own(b, n, t)) \
    X(Iscatter, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c, MPI_Request *r), (b, n, t, rb, rn, rt, root, c, r), of_either(rb, rn, rt, n, t)) \
    X(Iscatterv, (const void *b, const int ns[], const int d[], MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c, MPI_Request *r), \
      (b, ns, d, t, rb, rn, rt, root, c, r), of_own(rb, rn, rt)) \
    X(Ialltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c, MPI_Request *r), (b, n, t, rb, rn, rt, c, r), ranks_of(c) * of_either(b, n, t, rn, rt)) \
    X(Ialltoallv, (const void *b, const int ns[], const int d[], MPI_Datatype t, void *rb, const int rns[], const int rd[], MPI_Datatype rt, MPI_Comm c, MPI_Request *r), \
      (b, ns, d, t, rb, rns, rd, rt, c, r), b == MPI_IN_PLACE ? of_all(rns, rt, c) : of_all(ns, t, c)) \
    X(Ialltoallw, (const void *b, const int ns[], const int d[], const MPI_Datatype ts[], void *rb, const int rns[], const int rd[], const MPI_Datatype rts[], MPI_Comm c, MPI_Request *r), \
      (b, ns, d, ts, rb, rns, rd, rts, c, r), b == MPI_IN_PLACE ? of_kinds(rns, rts, c) : of_kinds(ns, ts, c)) \
    X(Ireduce_scatter, (const void *b, void *rb, const int rns[], MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, rb, rns, t, op, c, r), of_all(rns, t, c)) \
    X(Ireduce_scatter_block, (const void *b, void *rb, int rn, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, rb, rn, t, op, c, r), ranks_of(c) * of(rn, t)) \
    X(Iscan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, rb, n, t, op, c, r), of(n, t)) \
    X(Iexscan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, rb, n, t, op, c, r), of(n, t)) \
    X(Neighbor_allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), of_either(b, n, t, rn, rt)) \
    X(Neighbor_allgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int rns[], const int d[], MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rns, d, rt, c), of_own(b, n, t)) \
    X(Neighbor_alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), 0) \
    X(Neighbor_alltoallv, (const void *b, const int ns[], const int d[], MPI_Datatype t, void *rb, const int rns[], const int rd[], MPI_Datatype rt, MPI_Comm c), \
      (b, ns, d, t, rb, rns, rd, rt, c), 0) \
    X(Neighbor_alltoallw, (const void *b, const int ns[], const MPI_Aint d[], const MPI_Datatype ts[], void *rb, const int rns[], const MPI_Aint rd[], const MPI_Datatype rts[], MPI_Comm c), \
      (b, ns, d, ts, rb, rns, rd, rts, c), 0) \
    X(Put, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w), (b, n, t, to, at, tn, tt, w), of(n, t)) \
    X(Get, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w), (b, n, t, to, at, tn, tt, w), of(n, t)) \
    X(Accumulate, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w), (b, n, t, to, at, tn, tt, op, w), of(n, t)) \
    X(Get_accumulate, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w), \
      (b, n, t, rb, rn, rt, to, at, tn, tt, op, w), of(n, t)) \
    X(Fetch_and_op, (const void *b, void *rb, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w), (b, rb, t, to, at, op, w), of(1, t)) \
    X(Compare_and_swap, (const void *b, const void *cb, void *rb, MPI_Datatype t, int to, MPI_Aint at, MPI_Win w), (b, cb, rb, t, to, at, w), of(1, t)) \
    X(Rput, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w, MPI_Request *r), (b, n, t, to, at, tn, tt, w, r), of(n, t)) \
    X(Rget, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w, MPI_Request *r), (b, n, t, to, at, tn, tt, w, r), of(n, t)) \
    X(Raccumulate, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w, MPI_Request *r), (b, n, t, to, at, tn, tt, op, w, r), of(n, t)) \
    X(Rget_accumulate, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w, MPI_Request *r), \
      (b, n, t, rb, rn, rt, to, at, tn, tt, op, w, r), of(n, t)) \
    X(Win_fence, (int how, MPI_Win w), (how, w), 0) \
    X(Win_lock, (int kind, int rank, int how, MPI_Win w), (kind, rank, how, w), 0) \
    X(Win_unlock, (int rank, MPI_Win w), (rank, w), 0) \
    X(Win_lock_all, (int how, MPI_Win w), (how, w), 0) \
    X(Win_unlock_all, (MPI_Win w), (w), 0) \
    X(Win_flush, (int rank, MPI_Win w), (rank, w), 0) \
    X(Win_flush_all, (MPI_Win w), (w), 0) \
    X(Win_flush_local, (int rank, MPI_Win w), (rank, w), 0) \
    X(Win_flush_local_all, (MPI_Win w), (w), 0) \
    X(Win_start, (MPI_Group g, int how, MPI_Win w), (g, how, w), 0) \
    X(Win_complete, (MPI_Win w), (w), 0) \
    X(Win_post, (MPI_Group g, int how, MPI_Win w), (g, how, w), 0) \
    X(Win_wait, (MPI_Win w), (w), 0) \
    X(Win_sync, (MPI_Win w), (w), 0) \
    X(Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made), 0) \
    X(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made), 0) \
    X(Comm_split_type, (MPI_Comm c, int kind, int key, MPI_Info info, MPI_Comm *made), (c, kind, key, info, made), 0) \
    X(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made), 0) \
    X(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *made), (c, g, tag, made), 0) \
    X(Win_create, (void *b, MPI_Aint n, int unit, MPI_Info info, MPI_Comm c, MPI_Win *w), (b, n, unit, info, c, w), 0) \
    X(Win_allocate, (MPI_Aint n, int unit, MPI_Info info, MPI_Comm c, void *b, MPI_Win *w), (n, unit, info, c, b, w), 0) \
    X(Win_allocate_shared, (MPI_Aint n, int unit, MPI_Info info, MPI_Comm c, void *b, MPI_Win *w), (n, unit, info, c, b, w), 0) \
    X(Win_free, (MPI_Win *w), (w), 0)
/* clang-format on */

#endif
