/* devlog pack and devlog unpack of whole folders: a folder like it, in which logs are packed and all other files as they
 * are, and back. */
#ifndef DEVLOG_CLI_PACK_FOLDER_H
#define DEVLOG_CLI_PACK_FOLDER_H

#include <stdint.h>

#include "base/error.h"

/* What is done with one file; `from` is its path, `to` where it goes. */
typedef struct pack_folder_way {
    devlog_status (*file)(void *ctx, const char *from, const char *to,
                          devlog_error *err); /* packs or unpacks */
    void *ctx;
    bool unpack;
} pack_folder_way;

typedef struct pack_folder_counts {
    uint64_t files, copied, left_out; /* left_out: neither files nor folders */
} pack_folder_counts;

/* Makes the folder `to`, which must not be there, like `from`; all of it, or nothing. */
devlog_status pack_folder(const char *from, const char *to, const pack_folder_way *way,
                          pack_folder_counts *counts, devlog_error *err);

#endif
