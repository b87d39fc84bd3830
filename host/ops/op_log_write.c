/* The log of ops: its file, and the threads that write to it. Not for what is written (op_log_api.c,
 * profiler/ops_device.c). */
#include "ops/op_log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/host_clock.h"
#include "base/options.h"
#include "base/settings.h"
#include "base/term.h"
#include "ops/op_log.h"

static void free_thread(ops_thread *t)
{
    dl_run_thread_leave(t->seen);
    free(t->frames);
    dl_str_free(&t->line);
    dl_str_free(&t->stack);
    free(t);
}

/* A thread ends: what it has open stays open in the log. */
static void thread_gone(void *context)
{
    ops_thread *t = context;
    pthread_mutex_lock(&t->ops->lock);
    ops_thread **at = &t->ops->threads;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&t->ops->lock);
    free_thread(t);
}

static void lose(devlog_ops *ops, int errnum)
{
    int none = 0;
    atomic_compare_exchange_strong(&ops->errnum, &none, errnum);
    atomic_fetch_add(&ops->lost, 1);
    none = 0;
    atomic_compare_exchange_strong(&ops->run.shared->errnum, &none, errnum);
    atomic_fetch_add(&ops->run.shared->lost, 1);
}

static void enlist(ops_thread *t)
{
    dl_run_file_shared *shared = t->ops->run.shared;
    t->tid = (uint32_t)gettid();
    t->seen = dl_run_thread_take(shared, t->ops->process, t->tid);
    if (!t->seen || !dl_run_thread_number(shared, t->seen, &t->number))
        t->number = atomic_fetch_add(&shared->next_thread, 1);
    if (t->seen) atomic_store(&t->seen->number, t->number + 1);
    pthread_mutex_lock(&t->ops->lock);
    t->next = t->ops->threads;
    t->ops->threads = t;
    pthread_mutex_unlock(&t->ops->lock);
}

static bool in_same_process(const devlog_ops *ops)
{
    if (ops->same_process) return atomic_load_explicit(ops->same_process, memory_order_relaxed);
    return ops->pid == (uint64_t)getpid();
}

/* In a forked child only the calling thread has come along, under a number of its own from now on. What it
 * has open is its parent's to end; the memory of the other threads is left, as they may have been at work on
 * it. */
static void after_fork(devlog_ops *ops, ops_thread *t)
{
    ops->pid = (uint64_t)getpid();
    ops->process = dl_run_process();
    if (ops->same_process) atomic_store(ops->same_process, 1);
    ops->forked = true;
    ops->threads = NULL;
    pthread_mutex_init(&ops->lock, NULL);
    atomic_store(&ops->n_elsewhere, 0);
    atomic_store(&ops->n_ops, 0);
    atomic_store(&ops->compile_ns, 0);
    atomic_store(&ops->lost, 0);
    atomic_store(&ops->errnum, 0);
    if (!t || !t->depth) ops->above = dl_run_op_above(ops->run.shared);
    if (!t) return;
    enlist(t);
    t->inherited = t->depth;
    for (uint32_t i = 0; i < t->depth; i++)
        t->frames[i] = (ops_frame){.id = t->frames[i].id, .depth = t->frames[i].depth};
    ops_seen(t);
}

void ops_seen(ops_thread *t)
{
    const ops_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
    dl_run_thread_has(t->seen, top ? (dl_open_op){top->id, top->depth} : (dl_open_op){0, 0});
}

dl_open_op ops_innermost(const ops_thread *t)
{
    const ops_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;
    const dl_open_op own = top ? (dl_open_op){top->id, top->depth} : (dl_open_op){0, 0};
    if (!t->seen) return own.id ? own : t->ops->above;
    const dl_open_op last = dl_run_thread_innermost(t->ops->run.shared, t->ops->process, t->tid);
    if (last.id > own.id) return last;
    return own.id ? own : t->ops->above;
}

ops_thread *ops_thread_of(devlog_ops *ops)
{
    ops_thread *t = pthread_getspecific(ops->key);
    if (!in_same_process(ops)) after_fork(ops, t);
    if (t) return t;
    t = calloc(1, sizeof *t);
    if (!t || pthread_setspecific(ops->key, t) != 0) {
        free(t);
        lose(ops, ENOMEM);
        return NULL;
    }
    t->ops = ops;
    enlist(t);
    return t;
}

void ops_line(ops_thread *t, const char *event)
{
    dl_str_clear(&t->line);
    if (atomic_exchange(&t->ops->torn, 0)) dl_str_char(&t->line, '\n');
    dl_str_add(&t->line, "{\"e\":\"");
    dl_str_add(&t->line, event);
    dl_str_char(&t->line, '"');
}

static void key_of(dl_str *s, const char *key)
{
    dl_str_add(s, ",\"");
    dl_str_add(s, key);
    dl_str_add(s, "\":");
}

void ops_number(ops_thread *t, const char *key, uint64_t value)
{
    key_of(&t->line, key);
    dl_str_u64(&t->line, value);
}

void ops_text_if(ops_thread *t, const char *key, const char *text)
{
    if (!text || !*text) return;
    key_of(&t->line, key);
    dl_str_json(&t->line, text, strlen(text));
}

/* What to write to. To look at the file takes as long as half a line, so it is done for one of 16 lines and when `now` says so. */
static int descriptor(devlog_ops *ops, bool now, int *errnum)
{
    enum { LINES = 16 };
    pthread_mutex_lock(&ops->lock);
    if (now || ops->looked++ % LINES == 0) *errnum = dl_log_file_hold(&ops->file);
    const int fd = ops->file.fd;
    pthread_mutex_unlock(&ops->lock);
    return fd;
}

void ops_write(ops_thread *t)
{
    devlog_ops *ops = t->ops;
    bool mends = t->line.len && t->line.text[0] == '\n'; /* it ends the line that was cut before */
    dl_str_add(&t->line, "}\n");
    if (t->line.failed || t->line.len > OP_MAX_LINE) {
        if (mends) atomic_store(&ops->torn, 1);
        lose(ops, t->line.failed ? ENOMEM : EMSGSIZE);
        t->line.failed = false;
        return;
    }
    /* One write for each line, so that lines of several threads do not mix and a crash leaves whole lines. */
    int errnum = 0;
    ssize_t n = -1;
    int fd = descriptor(ops, false, &errnum);
    while (!errnum && (n = write(fd, t->line.text, t->line.len)) < 0)
        if (errno == EBADF)
            fd = descriptor(ops, true, &errnum);
        else if (errno != EINTR)
            errnum = errno;
    if (n == (ssize_t)t->line.len) return;
    lose(ops, errnum ? errnum : ENOSPC);
    if (n > 0 || mends) atomic_store(&ops->torn, 1);
}

/* ---- Open and close --- */

static void write_head(devlog_ops *ops)
{
    ops_thread *t = ops_thread_of(ops);
    if (!t) return;
    dl_clock_reading now;
    dl_clock_read(&now);
    ops_line(t, "run");
    ops_number(t, "t", now.before);
    ops_number(t, "version", 1);
    dl_str_fmt(&t->line, ",\"run\":\"%016llx\"", (unsigned long long)ops->run.shared->run);
    ops_number(t, "pid", ops->pid);
    ops_number(t, "wall_ns", now.real);
    if (now.most != DL_CLOCK_UNKNOWN) ops_number(t, "wall_error_ns", now.most);
    ops_text_if(t, "program", program_invocation_name);
    uint32_t rank;
    const char *by;
    char host[256] = "";
    if (dl_setting_rank(&rank, &by)) {
        ops_number(t, "rank", rank);
        ops_text_if(t, "rank_by", by);
    }
    if (gethostname(host, sizeof host - 1) == 0) ops_text_if(t, "host", host);
    ops_write(t);
}

static devlog_status is_wanted(const devlog_ops_options *o, bool *wanted, uint64_t *stacks, devlog_error *err)
{
    devlog_status status = dl_settings_check(err);
    if (status == DEVLOG_OK) status = dl_setting_number(DL_SET_OP_STACKS, 0, stacks, err);
    if (status == DEVLOG_OK) status = dl_setting_flag(DL_SET_DEVICE_PROFILER, false, wanted, err);
    if (status == DEVLOG_OK) status = dl_setting_flag(DL_SET_OPS, *wanted, wanted, err);
    if (o->profile != DEVLOG_AUTO) *wanted = o->profile == DEVLOG_ON;
    return status;
}

/* An earlier run that was killed while it wrote leaves half a line. */
static bool ends_whole(int fd)
{
    struct stat st;
    char last = '\n';
    if (fstat(fd, &st) == 0 && st.st_size > 0) (void)!pread(fd, &last, 1, st.st_size - 1);
    return last == '\n';
}

/* A page that a forked child finds cleared; NULL where the system cannot do that. */
static atomic_uint *fork_mark(void)
{
    void *page = mmap(NULL, sizeof(atomic_uint), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return NULL;
    if (madvise(page, sizeof(atomic_uint), MADV_WIPEONFORK) != 0) {
        munmap(page, sizeof(atomic_uint));
        return NULL;
    }
    atomic_init((atomic_uint *)page, 1);
    return page;
}

static void free_log(devlog_ops *ops)
{
    dl_run_file_close(&ops->run);
    dl_log_file_close(&ops->file);
    if (ops->same_process) munmap(ops->same_process, sizeof(atomic_uint));
    free(ops->path);
    free(ops);
}

devlog_status devlog_ops_open(const devlog_ops_options *options, devlog_ops **out, devlog_error *err)
{
    devlog_ops_options taken;
    const devlog_ops_options *o = &taken;
    *out = NULL;
    bool wanted = false;
    uint64_t stacks;
    devlog_status status = dl_options_take(&taken, sizeof taken, options, "devlog_ops_options", err);
    if (status == DEVLOG_OK) status = is_wanted(o, &wanted, &stacks, err);
    if (status != DEVLOG_OK || !wanted) return status;
    const char *folder = o->log_folder ? o->log_folder : dl_setting_text(DL_SET_LOG_FOLDER);
    if (!folder || !*folder) folder = "generated/profiler/logs";
    status = dl_folder_make(folder, err);
    if (status != DEVLOG_OK) return status;
    devlog_ops *ops = calloc(1, sizeof *ops);
    if (!ops) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the log of ops");
    ops->file = ops->run.file = DL_LOG_FILE_NONE;
    ops->path = dl_path_join(folder, OP_LOG_NAME);
    if (!ops->path) {
        free_log(ops);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the log of ops");
    }
    status = dl_run_file_open(&ops->run, folder, OP_LOG_NAME, o->append, err);
    if (status == DEVLOG_OK) {
        int errnum = dl_log_file_open(&ops->file, ops->path, O_RDWR | O_CREAT | O_APPEND);
        if (!errnum) errnum = pthread_key_create(&ops->key, thread_gone);
        if (errnum) status = dl_fail_errno(err, errnum, "cannot write the log of ops %s", ops->path);
    }
    if (status != DEVLOG_OK) {
        free_log(ops);
        return status;
    }
    pthread_mutex_init(&ops->lock, NULL);
    ops->stacks = (unsigned)stacks;
    ops->pid = (uint64_t)getpid();
    ops->process = dl_run_process();
    ops->above = dl_run_op_above(ops->run.shared);
    ops->same_process = fork_mark();
    atomic_store(&ops->torn, !ends_whole(ops->file.fd));
    atomic_fetch_add(&ops->run.shared->opens, 1);
    write_head(ops);
    *out = ops;
    return DEVLOG_OK;
}

static bool is_in(const char *folder, const char *name)
{
    char *path = dl_path_join(folder, name);
    const bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

devlog_status ops_forget(const char *folder, devlog_error *err)
{
    dl_run_file run;
    if (!is_in(folder, OP_LOG_NAME) || !is_in(folder, DL_RUN_FILE_NAME)) return DEVLOG_OK;
    const devlog_status status = dl_run_file_open(&run, folder, OP_LOG_NAME, false, err);
    if (!status) dl_run_file_close(&run);
    return status;
}

devlog_status devlog_ops_close(devlog_ops *ops, devlog_error *err)
{
    if (!ops) return DEVLOG_OK;
    ops_thread *t = ops_thread_of(ops);
    if (t) {
        ops_line(t, "close");
        ops_number(t, "t", dl_now_ns());
        ops_number(t, "ops", atomic_load(&ops->n_ops));
        ops_number(t, "lost", atomic_load(&ops->lost));
        ops_number(t, "compile_ns", atomic_load(&ops->compile_ns));
        if (ops->forked) ops_number(t, "forked", 1);
        ops->looked = 0; /* whether the log is there is said in any case */
        ops_write(t);
    }
    if (!ops->forked) atomic_fetch_add(&ops->run.shared->closes, 1);
    pthread_key_delete(ops->key);
    uint64_t lost = atomic_load(&ops->lost);
    devlog_status status = DEVLOG_OK;
    if (lost) {
        status = dl_fail(err, DEVLOG_ERR_PARTIAL, "%s: %llu events of ops could not be written: %s",
                         ops->path, (unsigned long long)lost, strerror(atomic_load(&ops->errnum)));
    }
    while (ops->threads) {
        ops_thread *next = ops->threads->next;
        free_thread(ops->threads);
        ops->threads = next;
    }
    pthread_mutex_destroy(&ops->lock);
    free_log(ops);
    return status;
}

const char *devlog_ops_log(const devlog_ops *ops)
{
    return ops ? ops->path : "";
}

uint64_t devlog_ops_run(const devlog_ops *ops)
{
    return ops ? ops->run.shared->run : 0;
}
