/* Which ops the threads of a run have open, for others than the log that began them: another log of the same thread (that of the
 * package for Python, say, around that of a C library which Python calls), and processes that a thread has started. A table in the
 * file that they share (run_file.h). Not the ops themselves, which are in the log. */
#ifndef DEVLOG_BASE_RUN_THREADS_H
#define DEVLOG_BASE_RUN_THREADS_H

#include "base/run_file.h"

/* An op that is open; id 0: none. */
typedef struct dl_open_op {
    uint32_t id, depth; /* depth: 1 is outermost */
} dl_open_op;

/* The calling process, as told apart from all that have its number before and after. */
uint64_t dl_run_process(void);

/* A place for a thread of a log; NULL: all are taken, and what it has open is its log's own. */
dl_run_thread *dl_run_thread_take(dl_run_file_shared *shared, uint64_t process, uint32_t tid);
void dl_run_thread_leave(dl_run_thread *thread);
/* What it has open innermost, by its log. */
void dl_run_thread_has(dl_run_thread *thread, dl_open_op op);

/* The thread's number in the run, when another log of it has one. */
bool dl_run_thread_number(dl_run_file_shared *shared, const dl_run_thread *thread, uint32_t *number);
/* The op that the thread began last, by whatever log, and that is open. */
dl_open_op dl_run_thread_innermost(dl_run_file_shared *shared, uint64_t process, uint32_t tid);
/* The op that the process above, or one above that, has open as we begin; none when several of its threads have. */
dl_open_op dl_run_op_above(dl_run_file_shared *shared);

#endif
