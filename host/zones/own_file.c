/* Which file a process records into: host_<pid>.devlog, or another where that has records of somebody else that would be lost. Not what
 * is written to it (drain.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pids.h"
#include "zones/zones_internal.h"

/* How often this process has the file open. */
static int times_open(const struct stat *file)
{
    int times = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
            st.st_ino == file->st_ino)
            times++;
    }
    if (dir) closedir(dir);
    return times;
}

static int64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When this process started, in ns of the clock of files; INT64_MAX: nobody knows. */
static int64_t started(void)
{
    const int64_t ticks = (int64_t)dl_process_started((uint64_t)getpid()), hz = sysconf(_SC_CLK_TCK);
    if (!ticks || hz <= 0) return INT64_MAX;
    return ns_of(CLOCK_REALTIME) - ns_of(CLOCK_BOOTTIME) + ticks * (1000000000 / hz);
}

/* Whether this process has written the file as another program, which has called exec() since. */
static bool is_of_before(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size &&
           (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec > started() && times_open(&st) == 0;
}

/* Whether a file that could not be had alone is another process's: not where there are no locks, and not where this process has it
 * open twice (by a second copy of the library, in an extension of Python). */
static bool is_of_another(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool is = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
                    fstat(fd, &st) == 0 && times_open(&st) == 2; /* here, and in zones.capture */
    if (fd >= 0) close(fd);
    return is;
}

devlog_status zones_open_named(const char *folder, bool again, devlog_error *err)
{
    enum { APART = 10 * 1000 * 1000, MOST = 64 };
    if (!again) zones.number = (uint32_t)zones.pid;
    for (int i = 0;; i++, zones.number += APART) {
        const bool any = again || i == MOST;
        char name[64];
        snprintf(name, sizeof name, "host_%" PRIu32 ".devlog", zones.number);
        char *path = dl_path_join(folder, name);
        if (!path) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the file of host zones");
        if (any || !is_of_before(path)) {
            const devlog_status status = dl_capture_open(&zones.capture, folder, name, again, err);
            if (status || any || !dl_capture_shared(zones.capture) || !is_of_another(path)) {
                free(path);
                return status;
            }
            dl_capture_close(zones.capture);
        }
        free(path);
    }
}
