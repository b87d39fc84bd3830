/* Relative paths that outlive the folder they were given in. Not for where the kit's own things are (base/paths.h). */
#ifndef DEVLOG_BASE_ABSOLUTE_H
#define DEVLOG_BASE_ABSOLUTE_H

#include <stddef.h>

#include "base/error.h"

/* `path` as it is meant now: a relative one is below the current folder. For a path that is used later, when
 * the program may have another current folder. It stays as it is where there is no current folder (it has been
 * removed), or that makes it too long: using it may fail then, as it would have. DEVLOG_ERR_ARGUMENT when it does
 * not fit by itself. */
devlog_status dl_absolute(char *absolute, size_t size, const char *path, devlog_error *err);

#endif
