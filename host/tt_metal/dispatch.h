/* What dispatch cores did for each program: TT_METAL_DEVICE_PROFILER_DISPATCH=1 has them mark their commands, with meta
 * data that name the command and the program. As tt-metal's process_device_log.py reads them (get_dispatch_core_ops at
 * 00761ba): commands are BRISC's and NCRISC's, one by one in the order of time, and the n-th program of the one belongs
 * to the n-th of the other. */
#ifndef DEVLOG_TT_METAL_DISPATCH_H
#define DEVLOG_TT_METAL_DISPATCH_H

#include "base/big.h"
#include "tt_metal/log_rows.h"

#define TT_NO_SPAN UINT64_MAX

typedef struct tt_dispatched {
    uint64_t id, start; /* start: of its first row */
    uint32_t device;
    uint64_t commands; /* cycles from the first to the last; TT_NO_SPAN: none */
    uint64_t go;       /* cycles around sending go */
    bool used;
} tt_dispatched;

typedef struct tt_mark {
    uint64_t time;
    uint32_t core, program, order;
    uint8_t risc, flags;
} tt_mark;

typedef struct tt_dispatch {
    tt_mark *marks;
    size_t n_marks;
    dl_big big_marks;
    uint64_t *cores; /* device << 32 | x << 16 | y */
    size_t n_cores, cap_cores;
    uint64_t left_out;    /* rows of more cores than any machine has */
    tt_dispatched *items; /* by device and id, after tt_dispatch_end */
    size_t n, cap;
} tt_dispatch;

void tt_dispatch_begin(tt_dispatch *d, const char *scratch);
/* A row, which may be none of a dispatch core; false: no memory. */
bool tt_dispatch_take(tt_dispatch *d, const tt_log_row *row);
bool tt_dispatch_end(tt_dispatch *d);
void tt_dispatch_free(tt_dispatch *d);
/* NULL: none. */
tt_dispatched *tt_dispatch_of(const tt_dispatch *d, uint32_t device, uint64_t id);

#endif
