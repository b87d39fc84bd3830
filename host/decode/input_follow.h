/* Inputs that grow: at the end of a file, waiting for more of it. Notices that the file is truncated, written anew or
 * replaced by another one, which ends it. Not for packing such logs (pack/follow.h), which keeps its own place in them. */
#ifndef DEVLOG_DECODE_INPUT_FOLLOW_H
#define DEVLOG_DECODE_INPUT_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct dl_follow {
    bool (*stop)(void *ctx); /* asked at the file's end: whether it ends there; may be NULL */
    void *ctx;
    uint64_t idle_ms; /* end when nothing has come for so long; 0: never */
    unsigned poll_ms; /* between two looks; 0: 50 */
} dl_follow;

typedef struct dl_follower dl_follower;

/* For a regular file of which `taken` bytes have been read. `path` and `options` are borrowed. NULL: no memory, or it
 * cannot be read. */
dl_follower *dl_follower_new(const dl_follow *options, const char *path, int fd, uint64_t taken);
void dl_follower_free(dl_follower *f);
/* As read(): 0 is the end, for good; -1 with errno, or, when that is 0, with dl_follower_changed. */
ssize_t dl_follower_read(dl_follower *f, void *bytes, size_t cap);
/* What has happened to the file; NULL: nothing. */
const char *dl_follower_changed(const dl_follower *f);

#endif
