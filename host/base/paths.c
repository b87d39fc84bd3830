/* Where things are: the kit's own data, the cache, and folders that are made when missing. */
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef DEVLOG_DATA_FOLDER
#error "the build defines DEVLOG_DATA_FOLDER"
#endif

const char *dl_home(void)
{
    const char *home = getenv("DEVLOG_HOME");
    return home && *home ? home : DEVLOG_DATA_FOLDER;
}

devlog_status dl_join(char *path, size_t size, const char *folder, const char *name, devlog_error *err)
{
    size_t n = strlen(folder);
    const char *slash = n && folder[n - 1] == '/' ? "" : "/";
    int written = snprintf(path, size, "%s%s%s", folder, slash, name);
    if (written < 0 || (size_t)written >= size)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "path too long: %.200s/%.200s", folder, name);
    return DEVLOG_OK;
}

devlog_status dl_cache_folder(char *path, size_t size, devlog_error *err)
{
    const char *own = getenv("DEVLOG_CACHE");
    if (own && *own) return dl_join(path, size, own, "", err);
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && *xdg) return dl_join(path, size, xdg, "devlog", err);
    const char *home = getenv("HOME");
    if (home && *home) return dl_join(path, size, home, ".cache/devlog", err);
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "no folder for compiled programs: set DEVLOG_CACHE, XDG_CACHE_HOME or HOME");
}

devlog_status dl_make_folder(const char *path, devlog_error *err)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof part) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "path too long: %.200s...", path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0) continue;
        char kept = part[i];
        part[i] = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return dl_fail_errno(err, errno, "cannot make folder %s", part);
        part[i] = kept;
    }
    struct stat st;
    if (stat(path, &st) != 0) return dl_fail_errno(err, errno, "cannot use folder %s", path);
    if (!S_ISDIR(st.st_mode)) return dl_fail(err, DEVLOG_ERR_IO, "%s is not a folder", path);
    return DEVLOG_OK;
}

devlog_status dl_read_file(const char *path, char **text, size_t *size, devlog_error *err)
{
    FILE *f = fopen(path, "rb");
    if (!f) return dl_fail_errno(err, errno, "cannot open %s", path);
    devlog_status status = DEVLOG_OK;
    char *buffer = NULL;
    size_t used = 0, capacity = 0;
    for (;;) {
        if (used + 1 >= capacity) {
            capacity = capacity ? capacity * 2 : 16384;
            char *bigger = realloc(buffer, capacity);
            if (!bigger) {
                status = dl_fail(err, DEVLOG_ERR_MEMORY, "%s does not fit in memory", path);
                goto out;
            }
            buffer = bigger;
        }
        size_t got = fread(buffer + used, 1, capacity - used - 1, f);
        used += got;
        if (got == 0) break;
    }
    if (ferror(f)) {
        status = dl_fail_errno(err, errno ? errno : EIO, "cannot read %s", path);
        goto out;
    }
    buffer[used] = 0;
    *text = buffer;
    buffer = NULL;
    if (size) *size = used;
out:
    free(buffer);
    fclose(f);
    return status;
}

devlog_status dl_write_file(const char *path, const void *data, size_t size, devlog_error *err)
{
    char part[4096];
    int n = snprintf(part, sizeof part, "%s.%ld.tmp", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof part)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "path too long: %.200s...", path);
    FILE *f = fopen(part, "wb");
    if (!f) return dl_fail_errno(err, errno, "cannot write %s", path);
    size_t written = fwrite(data, 1, size, f);
    int closed = fclose(f);
    if (written != size || closed != 0 || rename(part, path) != 0) {
        int why = errno;
        unlink(part);
        return dl_fail_errno(err, why, "cannot write %s", path);
    }
    return DEVLOG_OK;
}
