/* Where things are: the kit's own data, the cache, and folders that are made when missing. */
#ifndef DEVLOG_BASE_PATHS_H
#define DEVLOG_BASE_PATHS_H

#include <stddef.h>

#include "base/error.h"

/* The folder that holds boards/, firmware/, linker/ and include/: $DEVLOG_HOME, else where devlog was
 * installed or built. */
const char *dl_home(void);

/* Cache of compiled programs: $DEVLOG_CACHE, else $XDG_CACHE_HOME/devlog, else ~/.cache/devlog. */
devlog_status dl_cache_folder(char *path, size_t size, devlog_error *err);

/* Joins with one slash between. DEVLOG_ERR_ARGUMENT when the result does not fit. */
devlog_status dl_join(char *path, size_t size, const char *folder, const char *name, devlog_error *err);

/* Makes a folder and its parents; it may exist. */
devlog_status dl_make_folder(const char *path, devlog_error *err);

/* Reads a whole file into *text (zero-terminated, freed by the caller) of *size bytes. */
devlog_status dl_read_file(const char *path, char **text, size_t *size, devlog_error *err);

/* Writes a file such that readers see the old or the new content, never a part: a temporary file in the
 * same folder, then rename. */
devlog_status dl_write_file(const char *path, const void *data, size_t size, devlog_error *err);

#endif
