/* Relative paths that outlive the folder they were given in. */
#include "base/absolute.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/paths.h"

devlog_status dl_absolute(char *absolute, size_t size, const char *path, devlog_error *err)
{
    char here[PATH_MAX];
    if (*path != '/' && getcwd(here, sizeof here) && dl_join(absolute, size, here, path, NULL) == DEVLOG_OK)
        return DEVLOG_OK;
    int written = snprintf(absolute, size, "%s", path);
    if (written < 0 || (size_t)written >= size)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "path too long: %.200s", path);
    return DEVLOG_OK;
}
