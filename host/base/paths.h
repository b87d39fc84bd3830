/* Where things are: the kit's own data, and the cache of compiled programs. */
#ifndef DEVLOG_BASE_PATHS_H
#define DEVLOG_BASE_PATHS_H

#include <stddef.h>

#include "base/error.h"

/* The folder that holds boards/, firmware/, linker/ and include/: $DEVLOG_HOME, else share/devlog beside the
 * bin/ that the program runs from, else the source tree that it was built from. */
const char *dl_home(void);

/* Cache of compiled programs: $DEVLOG_CACHE, else $XDG_CACHE_HOME/devlog, else ~/.cache/devlog. */
devlog_status dl_cache_folder(char *path, size_t size, devlog_error *err);

/* Joins with one slash between. DEVLOG_ERR_ARGUMENT when the result does not fit. */
devlog_status dl_join(char *path, size_t size, const char *folder, const char *name, devlog_error *err);

#endif
