/* Where devlog pack and devlog unpack write to: a file that has its name once it is whole, or standard output.
 */
#ifndef DEVLOG_CLI_PACK_OUTPUT_H
#define DEVLOG_CLI_PACK_OUTPUT_H

#include "base/file.h"

#define PACK_SUFFIX ".pack"

typedef struct pack_output {
    dl_file_writer file;
    bool open;
} pack_output;

devlog_status pack_output_open(pack_output *out, const char *path, devlog_error *err);
/* A pk_sink. */
devlog_status pack_output_write(void *out, const void *bytes, size_t n, devlog_error *err);
/* Commits when `status` is OK; otherwise throws away what was written. Returns the status of all. */
devlog_status pack_output_close(pack_output *out, devlog_status status, devlog_error *err);

/* LOG and a suffix behind it; the caller frees. NULL: no memory. */
char *pack_output_beside(const char *path, const char *suffix);
/* Fails when there is such a file: for names that nobody has told. */
devlog_status pack_output_is_new(const char *path, devlog_error *err);

#endif
