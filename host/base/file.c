/* Files: reading a whole file, writing one so that a reader never sees half of it, making folders. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 * 1024 };

devlog_status dl_file_read(const char *path, size_t max, dl_str *out, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    size_t start = out->len;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (errno == ENOENT) status = DEVLOG_ERR_NOT_FOUND;
        if (err) err->status = status;
        return status;
    }
    for (;;) {
        if (!dl_str_reserve(out, 64 * 1024)) {
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while reading %s", path);
            break;
        }
        ssize_t n = read(fd, out->text + out->len, 64 * 1024);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (n <= 0) break;
        out->len += (size_t)n;
        if (out->len - start > max) {
            status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s holds more than %zu bytes", path, max);
            break;
        }
    }
    close(fd);
    if (out->text) out->text[out->len] = 0;
    return status;
}

devlog_status dl_folder_make(const char *path, devlog_error *err)
{
    if (!path[0]) return DEVLOG_OK;
    char *copy = strdup(path);
    if (!copy) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = DEVLOG_OK;
    for (char *p = copy + 1;; p++) {
        if (*p && *p != '/') continue;
        char end = *p;
        *p = 0;
        struct stat st;
        if (mkdir(copy, 0777) != 0) {
            int errnum = errno;
            bool is_folder = stat(copy, &st) == 0 && S_ISDIR(st.st_mode);
            if (!is_folder) {
                const bool ours = errnum != EACCES && errnum != EPERM && errnum != EROFS;
                status = dl_fail_errno(
                    err, errnum == EEXIST ? ENOTDIR : errnum, "cannot make folder %s%s", copy,
                    ours ? "" : ", choose one that you may write to (DEVLOG_LOG_FOLDER, --output)");
                break;
            }
        }
        if (!end) break;
        *p = end;
    }
    free(copy);
    return status;
}

const char *dl_file_system_slow(unsigned long type)
{
    /* statfs(2); WSL mounts the disks of Windows as 9p. */
    static const struct {
        unsigned long type;
        const char *name;
    } slow[] = {{0x01021997, "9p, as WSL has the disks of Windows"},
                {0x6969, "NFS"},
                {0xFF534D42, "CIFS"},
                {0xFE534D42, "SMB"},
                {0x517B, "SMB"},
                {0x786F4256, "a folder of VirtualBox's host"}};
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (slow[i].type == (type & 0xFFFFFFFF)) return slow[i].name;
    return NULL;
}

const char *dl_folder_slow(const char *path)
{
    struct statfs st;
    return statfs(path, &st) == 0 ? dl_file_system_slow((unsigned long)st.f_type) : NULL;
}

size_t dl_folder_there(const char *path)
{
    size_t n = strlen(path);
    char *copy = strdup(path);
    for (struct stat st; copy && n && (copy[n] = 0, stat(copy, &st) != 0);) {
        while (n && copy[n - 1] == '/') /* "a//b" */
            n--;
        while (n && copy[n - 1] != '/')
            n--;
    }
    free(copy);
    return n;
}

void dl_folder_unmake(const char *path, size_t there)
{
    char *copy = strdup(path);
    for (size_t n = copy ? strlen(copy) : 0; n > there; n--) {
        if (copy[n] && copy[n] != '/') continue;
        copy[n] = 0;
        if (n && copy[n - 1] != '/' && rmdir(copy) != 0) break;
    }
    free(copy);
}

void dl_folder_remove(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(path);
}

bool dl_file_alone(int fd)
{
    bool alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    flock(fd, LOCK_SH | LOCK_NB);
    return alone;
}

int dl_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t written = write(fd, p, n);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        p += written;
        n -= (size_t)written;
    }
    return 0;
}

char *dl_path_join(const char *folder, const char *name)
{
    if (!folder || !folder[0] || name[0] == '/') return strdup(name);
    size_t n = strlen(folder);
    const char *slash = folder[n - 1] == '/' ? "" : "/";
    dl_str s = {0};
    dl_str_fmt(&s, "%s%s%s", folder, slash, name);
    if (s.failed) dl_str_free(&s);
    return s.text;
}

/* Whether something is there that must not be replaced: a device, a pipe, or what has no name of its own (/dev/stdout). */
static bool is_no_file(const char *path, char **target)
{
    struct stat st, link;
    *target = NULL;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode)) return false;
    if (!S_ISREG(st.st_mode)) return true;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) return false;
    *target = realpath(path, NULL);
    return *target == NULL;
}

static devlog_status open_as_it_is(dl_file_writer *w, const char *path, devlog_error *err)
{
    w->path = strdup(path);
    if (!w->path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    w->fd = open(path, O_WRONLY | O_CLOEXEC);
    w->opened = w->fd >= 0;
    w->terminal = w->opened && isatty(w->fd);
    if (w->opened) return DEVLOG_OK;
    const devlog_status status = dl_fail_errno(err, errno, "cannot write %s", path);
    dl_file_abandon(w);
    return status;
}

devlog_status dl_file_create(dl_file_writer *w, const char *path, devlog_error *err)
{
    *w = (dl_file_writer){.fd = -1};
    dl_str temporary = {0};
    char *target;
    if (is_no_file(path, &target)) return open_as_it_is(w, path, err);
    w->path = target ? target : strdup(path);
    dl_str_fmt(&temporary, "%s.XXXXXX", w->path ? w->path : path);
    w->temporary = temporary.text;
    if (!w->path || temporary.failed) {
        dl_file_abandon(w);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    w->fd = mkostemp(w->temporary, O_CLOEXEC);
    if (w->fd < 0) {
        devlog_status status = dl_fail_errno(err, errno, "cannot write %s", path);
        w->temporary[0] = 0;
        dl_file_abandon(w);
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(w->fd, 0666 & ~mask);
    return DEVLOG_OK;
}

devlog_status dl_file_stream(dl_file_writer *w, int fd, const char *name, devlog_error *err)
{
    *w = (dl_file_writer){.fd = fd, .terminal = isatty(fd), .path = strdup(name)};
    return w->path ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static void fail(dl_file_writer *w, int errnum)
{
    if (w->status || !errnum) return;
    w->errnum = errnum;
    w->status = DEVLOG_ERR_IO;
}

/* A terminal gets whole lines, without what a name from a log could do to it; `end`: and the rest. */
static void show(dl_file_writer *w, const void *bytes, size_t n, bool end)
{
    dl_str_add_n(&w->line, bytes, n);
    if (w->line.failed) w->status = DEVLOG_ERR_MEMORY;
    size_t whole = w->status ? 0 : w->line.len;
    while (!end && whole && w->line.text[whole - 1] != '\n')
        whole--;
    if (!whole) return;
    dl_shown_on_terminal(w->line.text, whole);
    fail(w, dl_write_all(w->fd, w->line.text, whole));
    w->line.len -= whole;
    memmove(w->line.text, w->line.text + whole, w->line.len + 1);
}

/* Bytes that stand behind those in the buffer, which is empty. */
static void write_now(dl_file_writer *w, const void *bytes, size_t n)
{
    if (w->terminal && !w->status) show(w, bytes, n, false);
    if (!w->terminal && !w->status) fail(w, dl_write_all(w->fd, bytes, n));
    if (w->copy) dl_file_put(w->copy, bytes, n);
    w->written += n;
}

static void write_out(dl_file_writer *w)
{
    if (!w->status && w->buffer.failed) w->status = DEVLOG_ERR_MEMORY;
    write_now(w, w->buffer.text, w->buffer.len);
    dl_str_clear(&w->buffer);
}

void dl_file_flush(dl_file_writer *w)
{
    if (w->buffer.len >= FLUSH_BYTES) write_out(w);
}

void dl_file_put(dl_file_writer *w, const void *bytes, size_t n)
{
    if (n < FLUSH_BYTES) {
        dl_str_add_n(&w->buffer, bytes, n);
        dl_file_flush(w);
        return;
    }
    write_out(w);
    write_now(w, bytes, n);
}

void dl_file_patch(dl_file_writer *w, uint64_t at, const void *bytes, size_t n)
{
    write_out(w);
    if (!w->status && pwrite(w->fd, bytes, n, (off_t)at) != (ssize_t)n) fail(w, errno ? errno : EIO);
}

void dl_file_skip(dl_file_writer *w, uint64_t n)
{
    write_out(w);
    if (!w->status && lseek(w->fd, (off_t)n, SEEK_CUR) < 0) fail(w, errno);
    if (w->copy) dl_file_skip(w->copy, n);
    w->written += n;
}

/* The rest of it written, still under the temporary name. Only closing tells on some file systems that there
 * is no room. */
static void settle(dl_file_writer *w)
{
    write_out(w);
    if (w->terminal) show(w, "", 0, true);
    if ((!w->temporary && !w->opened) || w->fd < 0) return;
    if (!w->status && w->sync && fsync(w->fd) != 0 && errno != EINVAL && errno != EROFS) fail(w, errno);
    if (close(w->fd) != 0) fail(w, errno);
    w->fd = -1;
}

static void give_name(dl_file_writer *w)
{
    if (!w->temporary) return;
    if (!w->status && rename(w->temporary, w->path) != 0) fail(w, errno);
    if (!w->status) w->temporary[0] = 0;
}

devlog_status dl_file_unwritten(const char *path, int errnum, devlog_error *err)
{
    const char *const cure = errnum == ENOSPC || errnum == EDQUOT ? "make room there, or write elsewhere"
                             : errnum == EFBIG ? "allow larger files (ulimit -f), or write elsewhere"
                                               : NULL;
    const devlog_status status = dl_fail_errno(err, errnum, "cannot write %s", path);
    const size_t n = err ? strlen(err->text) : 0;
    if (cure && err) snprintf(err->text + n, sizeof err->text - n, ": %s", cure);
    return status;
}

/* Tells how it went. */
static devlog_status outcome(const dl_file_writer *w, devlog_error *err)
{
    if (w->status == DEVLOG_ERR_IO && w->temporary) dl_file_unwritten(w->path, w->errnum, err);
    if (w->status == DEVLOG_ERR_IO && !w->temporary)
        dl_fail_errno(err, w->errnum, "cannot write %s", w->path);
    if (w->status == DEVLOG_ERR_MEMORY) dl_fail(err, w->status, "out of memory while writing %s", w->path);
    return w->status;
}

devlog_status dl_file_commit(dl_file_writer *w, devlog_error *err)
{
    settle(w);
    give_name(w);
    devlog_status status = outcome(w, err);
    dl_file_abandon(w);
    return status;
}

devlog_status dl_file_set_take(dl_file_set *set, dl_file_writer *w, devlog_error *err)
{
    if (set->n == set->cap) {
        size_t cap = set->cap ? set->cap * 2 : 4;
        dl_file_writer *files = realloc(set->files, cap * sizeof *files);
        if (!files) {
            dl_file_abandon(w);
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        }
        set->files = files;
        set->cap = cap;
    }
    settle(w);
    devlog_status status = outcome(w, err);
    if (status) {
        dl_file_abandon(w);
        return status;
    }
    dl_str_free(&w->buffer);
    set->files[set->n++] = *w;
    *w = (dl_file_writer){.fd = -1};
    return DEVLOG_OK;
}

devlog_status dl_file_set_commit(dl_file_set *set, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < set->n && !status; i++) {
        give_name(&set->files[i]);
        status = outcome(&set->files[i], err);
    }
    dl_file_set_abandon(set);
    return status;
}

void dl_file_set_abandon(dl_file_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        dl_file_abandon(&set->files[i]);
    free(set->files);
    *set = (dl_file_set){0};
}

void dl_file_abandon(dl_file_writer *w)
{
    if (w->fd >= 0 && (w->temporary || w->opened)) close(w->fd);
    if (w->temporary && w->temporary[0]) unlink(w->temporary);
    free(w->path);
    free(w->temporary);
    dl_str_free(&w->buffer);
    dl_str_free(&w->line);
    *w = (dl_file_writer){.fd = -1};
}

devlog_status dl_print(const dl_str *text, devlog_error *err)
{
    devlog_status status = dl_str_status(text, err);
    fflush(stdout); /* what was printed before stands before it; who ends the program tells of failures */
    dl_file_writer w;
    if (!status) status = dl_file_stream(&w, STDOUT_FILENO, "to standard output", err);
    if (status) return status;
    dl_file_put(&w, text->text, text->len);
    return dl_file_commit(&w, err);
}
