/* Room on a disk, asked before much is written: who knows what it will write says so at once, not when the disk is full. Not for
 * keeping room free: another program may take it. */
#ifndef DEVLOG_BASE_ROOM_H
#define DEVLOG_BASE_ROOM_H

#include <stdint.h>

#include "base/error.h"

/* Whether `all` bytes have room where `path` (a file or folder, which need not be there) is, of them `largest` in one file.
 * DEVLOG_ERR_IO with a text that says what, where, and how much there is; DEVLOG_OK where that cannot be known. */
devlog_status dl_room_check(const char *path, uint64_t all, uint64_t largest, devlog_error *err);

#endif
