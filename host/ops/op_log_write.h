/* Writing the log of ops, from inside the host library: its file and the threads that write to it. What a
 * device adds is in profiler/ops_device.c; op_log.h reads it. The lines: docs/op-reports.md, "The op log". */
#ifndef DEVLOG_OPS_OP_LOG_WRITE_H
#define DEVLOG_OPS_OP_LOG_WRITE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/log_file.h"
#include "base/run_threads.h"
#include "base/str.h"
#include "devlog/devlog.h"

/* An op that is open on a thread. */
typedef struct ops_frame {
    uint32_t id, depth;
    uint64_t own_ns; /* that this log itself took inside the op */
    devlog_api_stats api[DEVLOG_API_COUNT];
    uint64_t read_bytes, written_bytes; /* by ReadFromDevice, WriteToDevice */
} ops_frame;

typedef struct ops_thread {
    devlog_ops *ops;
    uint32_t number; /* 0, 1, ... in order of first use, over all processes of the run */
    uint32_t depth, capacity;
    uint32_t inherited;  /* of its frames: those that the parent of a forked child has open */
    ops_frame *frames;   /* outermost first */
    dl_str line;         /* in the making */
    dl_str stack;        /* of the op that begins */
    uint32_t tid;        /* the system's number */
    dl_run_thread *seen; /* by other logs of this thread, and by what it starts; NULL: it is not */
    struct ops_thread *next;
} ops_thread;

enum { OPS_ELSEWHERE = 64 };

struct devlog_ops {
    char *path;
    dl_run_file run;           /* shared with everybody who writes to the folder */
    pthread_key_t key;         /* of the calling thread's ops_thread */
    atomic_uint *same_process; /* 1; the system makes it 0 in a forked child. NULL: it cannot */
    unsigned stacks;           /* frames of Python's call stack with each op */
    uint64_t pid, process;
    dl_open_op above;         /* that the process above had open when this one began, or its log */
    atomic_uint torn;         /* the last write was cut: the next line begins with a line end */
    atomic_uint n_ops;        /* that this process has started */
    atomic_ullong compile_ns; /* inside CompileProgram, in ops and outside of them */
    atomic_ullong lost;
    atomic_int errnum; /* of the first event that was lost */
    bool forked;       /* a child that goes on with its parent's log */
    /* Ops that another thread has ended, for the thread that has them open. */
    atomic_uint n_elsewhere;
    pthread_mutex_t lock; /* of what follows */
    dl_log_file file;
    uint32_t looked; /* lines, for which the file was or might have been looked at */
    uint32_t elsewhere[OPS_ELSEWHERE];
    ops_thread *threads;
};

/* A device log begins in the folder, and no log of ops: that of a run before, which has ended, is emptied, as it would be taken for this
 * one's. A log whose run goes on stays, and so does one that no program of devlog has begun. */
devlog_status ops_forget(const char *folder, devlog_error *err);
/* The calling thread; NULL when there is no memory for it, which counts as a lost event. */
ops_thread *ops_thread_of(devlog_ops *ops);
/* The op that the calling thread has open innermost, by this log or another, or that its process was started in. */
dl_open_op ops_innermost(const ops_thread *t);
/* Its id, for what happens in it; 0: none. */
uint32_t ops_current(devlog_ops *ops);
/* Others are told what the thread has open. */
void ops_seen(ops_thread *t);
/* Begins a line {"e":"<event>" in t->line. */
void ops_line(ops_thread *t, const char *event);
/* Each appends ,"key":value to it; texts that are NULL or empty and numbers that are 0 are left out by the
 * functions that say so. */
void ops_number(ops_thread *t, const char *key, uint64_t value);
void ops_text_if(ops_thread *t, const char *key, const char *text);
/* Ends the line and writes it at once. */
void ops_write(ops_thread *t);

/* Counts a call of the API for the innermost op of the calling thread, and of the run; `bytes`: what a read or a write moved.
 * `ops` may be NULL. */
void ops_count(devlog_ops *ops, devlog_api api, uint64_t ns, uint64_t bytes);

#endif
