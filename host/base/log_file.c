/* The descriptor of a log. See log_file.h. */
#include "base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/absolute.h"

static bool is_log(const dl_log_file *f, int fd, struct stat *st)
{
    return fd >= 0 && fstat(fd, st) == 0 && st->st_dev == f->device && st->st_ino == f->inode;
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
    f->fd = open(path, flags | O_CLOEXEC, 0666);
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
    struct stat st;
    if (!f->path) return EBADF;
    if (is_log(f, f->fd, &st)) return st.st_nlink ? 0 : ENOENT;
    const int fd = open(f->path, f->flags | O_CLOEXEC);
    if (fd < 0) return errno;
    if (!is_log(f, fd, &st)) {
        close(fd);
        return ESTALE;
    }
    f->fd = fd;
    flock(fd, LOCK_SH | LOCK_NB); /* as those who write have it (base/file.h, dl_file_alone) */
    return 0;
}

int dl_log_file_close(dl_log_file *f)
{
    struct stat st;
    const int errnum = is_log(f, f->fd, &st) && close(f->fd) != 0 ? errno : 0;
    free(f->path);
    *f = DL_LOG_FILE_NONE;
    return errnum;
}
