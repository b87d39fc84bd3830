/* A tar of files that are on disk already: the same bytes for the same files, whoever makes it and when. */
#ifndef DEVLOG_REPORT_BUNDLE_H
#define DEVLOG_REPORT_BUNDLE_H

#include "base/file.h"

/* Packs paths[0 .. n) under these names, which may have slashes, into out, in the given order; times are 0,
 * owner and group are root. */
devlog_status dl_bundle_as(const char *const *paths, const char *const *names, size_t n, dl_file_writer *out,
                           devlog_error *err);

#endif
