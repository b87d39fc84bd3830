/* Whether a board can be as its file says: names, bits and regions. For board.c, which reads the file. */
#ifndef DEVLOG_DEVICE_BOARD_CHECK_H
#define DEVLOG_DEVICE_BOARD_CHECK_H

#include "base/error.h"
#include "device/board.h"

/* FORMAT for the first thing that cannot be; `origin` is named. */
devlog_status board_check(const board *b, const char *origin, devlog_error *err);

#endif
