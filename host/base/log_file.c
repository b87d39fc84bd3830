/* The descriptor of a log. See log_file.h. */
#include "base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/absolute.h"

enum { MANY = 4096 };

static bool is_log(const dl_log_file *f, int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode;
}

/* open(), and a number that files of the program do not get: they get the least one that is free. */
static int open_high(const char *path, int flags)
{
    struct rlimit most;
    const int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &most) != 0) return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, most.rlim_cur < MANY ? (int)most.rlim_cur / 4 * 3 : MANY);
    if (high < 0) return fd; /* as many are open as may be */
    close(fd);
    return high;
}

int dl_log_file_open(dl_log_file *f, const char *path, int flags)
{
    char absolute[PATH_MAX];
    struct stat st;
    *f = DL_LOG_FILE_NONE;
    if (dl_absolute(absolute, sizeof absolute, path, NULL) != DEVLOG_OK) return ENAMETOOLONG;
    f->flags = flags & ~(O_CREAT | O_TRUNC);
    f->path = strdup(absolute);
    if (!f->path) return ENOMEM;
    f->fd = open_high(path, flags);
    if (f->fd >= 0 && fstat(f->fd, &st) == 0) {
        f->device = st.st_dev;
        f->inode = st.st_ino;
        return 0;
    }
    const int errnum = errno;
    if (f->fd >= 0) close(f->fd);
    free(f->path);
    *f = DL_LOG_FILE_NONE;
    return errnum;
}

int dl_log_file_hold(dl_log_file *f)
{
    if (!f->path) return EBADF;
    if (is_log(f, f->fd)) return 0;
    const int fd = open_high(f->path, f->flags);
    if (fd < 0) return errno;
    if (!is_log(f, fd)) {
        close(fd);
        return ESTALE;
    }
    f->fd = fd;
    flock(fd, LOCK_SH | LOCK_NB); /* as those who write have it (base/file.h, dl_file_alone) */
    return 0;
}

int dl_log_file_close(dl_log_file *f)
{
    const int errnum = is_log(f, f->fd) && close(f->fd) != 0 ? errno : 0;
    free(f->path);
    *f = DL_LOG_FILE_NONE;
    return errnum;
}
