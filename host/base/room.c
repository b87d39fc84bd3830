/* Room on a disk. See room.h. */
#include "base/room.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/file.h"

enum { ROOM_TEXT = 32 };

static const char *bytes_text(char out[ROOM_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1000;
    snprintf(out, ROOM_TEXT, "%.*f %s", unit && value < 100 ? 1 : 0, value, units[unit]);
    return out;
}

/* Pipes and devices have room for everything. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

devlog_status dl_room_check(const char *path, uint64_t all, uint64_t largest, devlog_error *err)
{
    char need[ROOM_TEXT], have[ROOM_TEXT];
    struct statvfs disk;
    struct rlimit limit;
    if (strcmp(path, "-") == 0 || is_special(path)) return DEVLOG_OK;
    const size_t there = dl_folder_there(path);
    char *folder = there ? strndup(path, there) : strdup(".");
    if (!folder) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const bool known = statvfs(folder, &disk) == 0;
    free(folder);
    const uint64_t room = known ? (uint64_t)disk.f_bavail * disk.f_frsize : UINT64_MAX;
    if (all > room)
        return dl_fail(err, DEVLOG_ERR_IO, "cannot write %s: it takes %s, and there is room for %s", path,
                       bytes_text(need, all), bytes_text(have, room));
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && largest > limit.rlim_cur)
        return dl_fail(
            err, DEVLOG_ERR_IO,
            "cannot write %s: a file of it takes %s, and no file may take more than %s (ulimit -f)", path,
            bytes_text(need, largest), bytes_text(have, limit.rlim_cur));
    return DEVLOG_OK;
}
