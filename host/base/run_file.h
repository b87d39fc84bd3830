/* The run that the logs of a folder belong to, shared by everybody who writes there: a small file beside the
 * logs, mapped by each of them. It hands out numbers that no two of them may have alike (ops, threads,
 * programs, launches), keeps the id of the run, and counts what could not be written where a full disk cannot
 * keep it from being written. Not the logs themselves (ops/op_log_write.c), and of no use once they have been
 * moved.
 *
 * Whoever opens a log in a folder joins the run that is there, when
 *   - somebody still has its log open,
 *   - DEVLOG_RUN names it (`devlog run` sets it, for all programs that its command starts),
 *   - the process that began it is still alive (it opened the log before, or started us), or
 *   - the caller asks for it.
 * Otherwise a new run begins, and the folder's op log is emptied. */
#ifndef DEVLOG_BASE_RUN_FILE_H
#define DEVLOG_BASE_RUN_FILE_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/log_file.h"

#define DL_RUN_FILE_NAME "profile_log_ops.run"
#define DL_RUN_VARIABLE  "DEVLOG_RUN"
#define DL_RUN_MAGIC     UINT64_C(0x31304e55524c4456) /* "VDLRUN01" */

enum { DL_RUN_CHIPS = 64, DL_RUN_FOLDERS = 64, DL_RUN_THREADS = 128, DL_RUN_BYTES = 4096 };

/* What a thread has open in one log: run_threads.h. */
typedef struct dl_run_thread {
    atomic_ullong process; /* 0: nobody's */
    atomic_ullong open;    /* id << 32 | depth of the op that is innermost; 0: none */
    atomic_uint tid;       /* the system's number */
    atomic_uint number;    /* the run's + 1 */
} dl_run_thread;

/* What is in the file. */
typedef struct dl_run_file_shared {
    uint64_t magic, run;
    uint64_t pid, pid_start; /* the process that began the run, and when that started */
    atomic_uint next_op, next_thread, next_program;
    atomic_uint next_boot;               /* of devices that were opened */
    atomic_uint opens, closes;           /* of its op log */
    atomic_int errnum;                   /* of the first event that was lost */
    atomic_ullong lost;                  /* events that could not be written */
    atomic_uint launches[DL_RUN_CHIPS];  /* number of the last launch, by slot (modulo) */
    atomic_ullong begun[DL_RUN_FOLDERS]; /* folders whose device logs this run has begun */
    dl_run_thread threads[DL_RUN_THREADS];
} dl_run_file_shared;

typedef struct dl_run_file {
    dl_log_file file;
    dl_run_file_shared *shared; /* NULL: not open */
    bool joined;                /* what is in the folder's log stays */
} dl_run_file;

/* Opens it in a folder that exists. `log` is the name of the log that is emptied when a new run begins; NULL:
 * only join a run that DEVLOG_RUN names, and NOT_FOUND when that is not there. ARGUMENT when DEVLOG_RUN is no
 * id. */
devlog_status dl_run_file_open(dl_run_file *run, const char *folder, const char *log, bool join,
                               devlog_error *err);
void dl_run_file_close(dl_run_file *run);
/* Begins a run with this id in a folder, for programs that DEVLOG_RUN will tell of it. */
devlog_status dl_run_file_begin(const char *folder, uint64_t id, devlog_error *err);
/* A new id, never 0. */
uint64_t dl_run_file_new_id(void);

/* Whether the run has begun the device logs in a folder, which exists; from now on it has. */
bool dl_run_file_began(dl_run_file *run, const char *folder);

/* What the file says, for readers; false when there is none, or when it is of another run. */
typedef struct dl_run_file_state {
    uint64_t lost;
    uint32_t opens, closes;
    int errnum;
} dl_run_file_state;
bool dl_run_file_look(const char *folder, uint64_t id, dl_run_file_state *out);

#endif
