/* The file that those who write logs to one folder share. See run_file.h. */
#include "base/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pids.h"
#include "base/settings.h"

_Static_assert(sizeof(dl_run_file_shared) <= DL_RUN_BYTES, "the file has one size");

uint64_t dl_run_file_new_id(void)
{
    uint64_t id = 0;
    struct timespec now;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) != sizeof id) {
        clock_gettime(CLOCK_REALTIME, &now);
        id = ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 44;
    }
    return id ? id : 1;
}

/* DEVLOG_RUN; *id is 0 when it is not set. */
static devlog_status wanted(uint64_t *id, devlog_error *err)
{
    const char *text = dl_setting_text(DL_SET_RUN);
    *id = 0;
    if (!text) return DEVLOG_OK;
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (!text[digits] && digits <= 16) *id = strtoull(text, NULL, 16);
    if (*id) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                   DL_RUN_VARIABLE "='%s' is no id of a run: up to 16 hexadecimal digits, not all 0", text);
}

/* Whether a log that another writer has begun says that it is of this run. */
static bool log_is_of(int log, uint64_t id)
{
    static const char member[] = "\"run\":";
    char head[4096];
    ssize_t n = pread(log, head, sizeof head - 1, 0);
    head[n > 0 ? n : 0] = 0;
    for (const char *at = head; (at = strstr(at, member)) != NULL;) {
        at += sizeof member - 1;
        at += strspn(at, " \"");
        if (strtoull(at, NULL, 16) == id) return true;
    }
    return false;
}

/* The file as a new run has it. It is written, not made longer by ftruncate, so that there is room for it. */
static int write_new(int fd, uint64_t id)
{
    union {
        dl_run_file_shared shared;
        char bytes[DL_RUN_BYTES];
    } page;
    memset(&page, 0, sizeof page);
    page.shared.magic = DL_RUN_MAGIC;
    page.shared.run = id;
    page.shared.pid = (uint64_t)getpid();
    page.shared.pid_start = dl_process_started(page.shared.pid);
    atomic_init(&page.shared.next_op, 1);
    atomic_init(&page.shared.next_program, 1);
    ssize_t n = pwrite(fd, page.bytes, sizeof page.bytes, 0);
    return n == (ssize_t)sizeof page.bytes ? 0 : n < 0 ? errno : ENOSPC;
}

static bool read_head(int fd, dl_run_file_shared *head)
{
    memset(head, 0, sizeof *head);
    return pread(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head && head->magic == DL_RUN_MAGIC &&
           head->run;
}

/* Whether what is in the folder belongs to us. */
static bool is_ours(const dl_run_file_shared *head, uint64_t want, bool join)
{
    if (want) return head->run == want;
    return join || (head->pid_start && dl_process_started(head->pid) == head->pid_start);
}

/* Decides which run it is, alone with the file or beside others who have it open; 0 or an errno. */
static int settle(dl_run_file *r, int log, uint64_t want, bool alone, bool join)
{
    dl_run_file_shared head;
    bool valid = read_head(r->file.fd, &head);
    r->joined = valid && (!alone || is_ours(&head, want, join));
    if (r->joined) return 0;
    bool keep = log >= 0 && want && log_is_of(log, want);
    int errnum = write_new(r->file.fd, want ? want : dl_run_file_new_id());
    if (!errnum && !keep && log >= 0 && ftruncate(log, 0) != 0 && errno != EINVAL) errnum = errno;
    r->joined = keep;
    return errnum;
}

static int map(dl_run_file *r)
{
    void *at = mmap(NULL, DL_RUN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r->file.fd, 0);
    if (at == MAP_FAILED) return errno;
    r->shared = at;
    return 0;
}

devlog_status dl_run_file_open(dl_run_file *r, const char *folder, const char *log, bool join,
                               devlog_error *err)
{
    *r = (dl_run_file){.file = DL_LOG_FILE_NONE};
    uint64_t want;
    devlog_status status = wanted(&want, err);
    if (status) return status;
    char *path = dl_path_join(folder, DL_RUN_FILE_NAME), *log_path = log ? dl_path_join(folder, log) : NULL;
    int log_fd = -1, errnum = 0;
    if (!path || (log && !log_path)) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        goto done;
    }
    errnum = dl_log_file_open(&r->file, path, O_RDWR | (log ? O_CREAT : 0));
    if (!errnum && log) log_fd = open(log_path, O_RDWR | O_CLOEXEC);
    if (!errnum && log) {
        /* Whoever finds the file locked waits until the other has decided. Where there are no locks,
         * everybody is alone. */
        bool alone = flock(r->file.fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (!alone) flock(r->file.fd, LOCK_SH);
        errnum = settle(r, log_fd, want, alone, join);
    } else if (!errnum) {
        dl_run_file_shared head;
        r->joined = want && read_head(r->file.fd, &head) && head.run == want;
        if (!r->joined) errnum = ENOENT;
    }
    if (!errnum) flock(r->file.fd, LOCK_SH);
    if (!errnum) errnum = map(r);
    if (errnum == ENOENT) {
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s is of no run that " DL_RUN_VARIABLE " names", folder);
    } else if (errnum) {
        status = dl_fail_errno(err, errnum, "cannot write %s", path);
    }
done:
    if (log_fd >= 0) close(log_fd);
    free(path);
    free(log_path);
    if (status) dl_run_file_close(r);
    return status;
}

void dl_run_file_close(dl_run_file *r)
{
    if (r->shared) munmap(r->shared, DL_RUN_BYTES);
    dl_log_file_close(&r->file);
    *r = (dl_run_file){.file = DL_LOG_FILE_NONE};
}

devlog_status dl_run_file_begin(const char *folder, uint64_t id, devlog_error *err)
{
    char *path = dl_path_join(folder, DL_RUN_FILE_NAME);
    if (!path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666); /* not cut: others may have it mapped */
    int errnum = fd < 0 ? errno : write_new(fd, id);
    if (fd >= 0) close(fd);
    devlog_status status = errnum ? dl_fail_errno(err, errnum, "cannot write %s", path) : DEVLOG_OK;
    free(path);
    return status;
}

bool dl_run_file_began(dl_run_file *r, const char *folder)
{
    struct stat st;
    if (!r->shared || stat(folder, &st) != 0) return false;
    unsigned long long key = (unsigned long long)st.st_dev << 40 ^ (unsigned long long)st.st_ino, none;
    if (key == 0) key = 1;
    for (int i = 0; i < DL_RUN_FOLDERS; i++) {
        none = 0;
        if (atomic_compare_exchange_strong(&r->shared->begun[i], &none, key)) return false;
        if (none == key) return true;
    }
    return true; /* more folders than there is room for: nothing is erased */
}

bool dl_run_file_look(const char *folder, uint64_t id, dl_run_file_state *out)
{
    dl_run_file_shared head;
    char *path = dl_path_join(folder, DL_RUN_FILE_NAME);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool good = fd >= 0 && read_head(fd, &head) && head.run == id;
    if (good)
        *out = (dl_run_file_state){.lost = atomic_load(&head.lost),
                                   .opens = atomic_load(&head.opens),
                                   .closes = atomic_load(&head.closes),
                                   .errnum = atomic_load(&head.errnum)};
    if (fd >= 0) close(fd);
    free(path);
    return good;
}
