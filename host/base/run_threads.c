/* What threads of a run have open; see run_threads.h. A thread's places are near one another, so that asking costs the same however
 * many threads there are. */
#include "base/run_threads.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/pids.h"

enum { NEAR = 8, PID_BITS = 22, SPACE_AT = 54, MOST_ABOVE = 32 };

/* Of two containers, processes that started at a time may have one number: the first bits are of the container. */
static uint64_t process_of(uint64_t pid)
{
    struct stat st;
    const uint64_t space = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    return (dl_process_started(pid) << PID_BITS | pid) ^ space << SPACE_AT;
}

/* Processes of other containers cannot be looked for. */
static bool is_gone(uint64_t process)
{
    const uint64_t now = process_of(process & ((UINT64_C(1) << PID_BITS) - 1));
    return now != process && (now ^ process) >> SPACE_AT == 0;
}

uint64_t dl_run_process(void)
{
    return process_of((uint64_t)getpid());
}

static dl_run_thread *place(dl_run_file_shared *shared, uint32_t tid, uint32_t i)
{
    return &shared->threads[(tid * UINT32_C(2654435761) / 64 + i) % DL_RUN_THREADS];
}

static dl_run_thread *claim(dl_run_thread *t, unsigned long long from, uint64_t process, uint32_t tid)
{
    if (!atomic_compare_exchange_strong(&t->process, &from, process)) return NULL;
    atomic_store(&t->open, 0);
    atomic_store(&t->number, 0);
    atomic_store(&t->tid, tid);
    return t;
}

dl_run_thread *dl_run_thread_take(dl_run_file_shared *shared, uint64_t process, uint32_t tid)
{
    dl_run_thread *got = NULL;
    for (uint32_t i = 0; i < NEAR && !got; i++)
        got = claim(place(shared, tid, i), 0, process, tid);
    /* Those of processes that were killed are nobody's any more. */
    for (uint32_t i = 0; i < NEAR && !got; i++) {
        dl_run_thread *t = place(shared, tid, i);
        const unsigned long long other = atomic_load(&t->process);
        if (other != process && is_gone(other)) got = claim(t, other, process, tid);
    }
    return got;
}

void dl_run_thread_leave(dl_run_thread *t)
{
    if (!t) return;
    atomic_store(&t->tid, 0);
    atomic_store(&t->open, 0);
    atomic_store(&t->process, 0);
}

void dl_run_thread_has(dl_run_thread *t, dl_open_op op)
{
    if (t) atomic_store_explicit(&t->open, (uint64_t)op.id << 32 | op.depth, memory_order_release);
}

static dl_open_op open_op(unsigned long long both)
{
    return (dl_open_op){(uint32_t)(both >> 32), (uint32_t)both};
}

bool dl_run_thread_number(dl_run_file_shared *shared, const dl_run_thread *thread, uint32_t *number)
{
    const uint32_t tid = atomic_load(&thread->tid);
    for (uint32_t i = 0; i < NEAR; i++) {
        const dl_run_thread *t = place(shared, tid, i);
        if (t == thread || atomic_load(&t->tid) != tid) continue;
        if (atomic_load(&t->process) != atomic_load(&thread->process) || !atomic_load(&t->number)) continue;
        *number = atomic_load(&t->number) - 1;
        return true;
    }
    return false;
}

dl_open_op dl_run_thread_innermost(dl_run_file_shared *shared, uint64_t process, uint32_t tid)
{
    unsigned long long last = 0; /* ids grow with time */
    for (uint32_t i = 0; i < NEAR; i++) {
        dl_run_thread *t = place(shared, tid, i);
        if (atomic_load_explicit(&t->tid, memory_order_relaxed) != tid) continue;
        const unsigned long long open = atomic_load_explicit(&t->open, memory_order_acquire);
        if (open > last && atomic_load_explicit(&t->process, memory_order_relaxed) == process) last = open;
    }
    return open_op(last);
}

/* Of a process: the op that its only thread with an open one has open. */
static dl_open_op only_open(dl_run_file_shared *shared, uint64_t process, bool *any)
{
    unsigned long long last = 0;
    uint32_t tid = 0;
    for (int i = 0; i < DL_RUN_THREADS; i++) {
        dl_run_thread *t = &shared->threads[i];
        const unsigned long long open = atomic_load(&t->open);
        if (!open || atomic_load(&t->process) != process) continue;
        const uint32_t other = atomic_load(&t->tid);
        if (*any && other != tid) return (dl_open_op){0, 0};
        *any = true;
        tid = other;
        if (open > last) last = open;
    }
    return open_op(last);
}

dl_open_op dl_run_op_above(dl_run_file_shared *shared)
{
    bool any = false;
    for (int i = 0; i < DL_RUN_THREADS; i++)
        any |= atomic_load(&shared->threads[i].open) != 0;
    if (!any) return (dl_open_op){0, 0};
    uint64_t pid = (uint64_t)getppid();
    for (int i = 0; i < MOST_ABOVE && pid > 1; i++, pid = dl_process_parent(pid)) {
        bool has = false;
        const dl_open_op op = only_open(shared, process_of(pid), &has);
        if (has) return op;
    }
    return (dl_open_op){0, 0};
}
