/* A tar (ustar) that is written beside the files that it holds, or of files that are on disk already: the
 * same bytes for the same files, whoever makes it and when. Times are 0, owner and group are root.
 *
 *     dl_bundle b = {.out = tar};                               dl_file_create has opened it
 *     dl_bundle_begin(&b, name, err);
 *     w.copy = tar; ... w is written and ended ...
 *     dl_bundle_end(&b);
 *     dl_bundle_file(&b, path, name, err);
 *     dl_bundle_close(&b);
 *
 * A tar that cannot be written says so when it is committed. */
#ifndef DEVLOG_REPORT_BUNDLE_H
#define DEVLOG_REPORT_BUNDLE_H

#include "base/file.h"

/* An open tar; `out` is borrowed. */
typedef struct dl_bundle {
    dl_file_writer *out;
    const char *name; /* of the file in hand */
    uint64_t begin;   /* of its header */
} dl_bundle;

/* A file begins: what is written to b->out until dl_bundle_end is its content. The name may have slashes; it
 * is borrowed until then. */
devlog_status dl_bundle_begin(dl_bundle *b, const char *name, devlog_error *err);
void dl_bundle_end(dl_bundle *b);
/* A file from the disk. */
devlog_status dl_bundle_file(dl_bundle *b, const char *path, const char *name, devlog_error *err);
/* No more files. */
void dl_bundle_close(dl_bundle *b);

#endif
