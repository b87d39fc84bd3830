/* Where things are: the kit's own data, and the cache of compiled programs. */
#include "base/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"

#ifndef DEVLOG_DATA_FOLDER
#error "the build defines DEVLOG_DATA_FOLDER"
#endif

/* PREFIX/share/devlog of the running PREFIX/bin/devlog, or of the library's PREFIX/lib, PREFIX/lib/TRIPLET or
 * PREFIX/lib/python3.11/site-packages/devlog.
 * A path does not change while a program runs: it is found once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char installed[PATH_MAX];

/* Looks for share/devlog beside the folder of `file`, and beside so many folders around that. */
static bool find_beside(const char *file, int around)
{
    char path[PATH_MAX];
    if (!realpath(file, path)) return false;
    for (int up = 0; up < around + 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) break;
        *slash = '\0';
        if (up == 0) continue;
        int length = snprintf(installed, sizeof installed, "%s/share/devlog", path);
        if (length > 0 && (size_t)length < sizeof installed && access(installed, R_OK | X_OK) == 0)
            return true;
    }
    installed[0] = '\0';
    return false;
}

static void find_installed(void)
{
    Dl_info here;
    if (find_beside("/proc/self/exe", 1)) return;
    if (dladdr(installed, &here) && here.dli_fname) find_beside(here.dli_fname, 3);
}

const char *dl_home(void)
{
    const char *home = dl_setting_text(DL_SET_HOME);
    if (home) return home;
    pthread_once(&once, find_installed);
    return *installed ? installed : DEVLOG_DATA_FOLDER;
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
    const char *own = dl_setting_text(DL_SET_CACHE);
    if (own) return dl_join(path, size, own, "", err);
    const char *xdg = dl_setting_text(DL_SET_XDG_CACHE_HOME);
    if (xdg) return dl_join(path, size, xdg, "devlog", err);
    const char *home = dl_setting_text(DL_SET_USER_HOME);
    if (home) return dl_join(path, size, home, ".cache/devlog", err);
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "no folder for compiled programs: set DEVLOG_CACHE, XDG_CACHE_HOME or HOME");
}
