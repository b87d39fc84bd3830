/* Which board, reached how: options of the caller, variables of the environment, what the board files say. */
#ifndef DEVLOG_DEVICE_CHOOSE_H
#define DEVLOG_DEVICE_CHOOSE_H

#include "device/board.h"
#include "transport/transport.h"

typedef struct device_choice {
    board board;
    const dl_transport_ops *ops;
    char path[4096];   /* what the transport opens; empty: nothing was said */
    char origin[4096]; /* by which board_load finds the board again */
} device_choice;

/* The first that is not empty: an option, a setting, a default. */
const char *device_option(const char *option, dl_setting setting, const char *missing);

/* The transport: an option, ttsim when $TT_METAL_SIMULATOR is set, $DEVLOG_TRANSPORT, else the first of the
 * board; each may be "NAME:PATH". The board: an option, $DEVLOG_BOARD, else wormhole_b0 when it can be
 * reached by that transport, else the first board file whose first transport it is. */
devlog_status device_choose(const devlog_device_options *options, device_choice *out, devlog_error *err);

#endif
