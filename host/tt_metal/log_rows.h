/* Rows of a device log of which the decoder keeps too little for an op report: records of hardware counters, what
 * dispatch cores did, and rows whose meta data name a sub-device. The log is read a second time for them; pieces of it
 * that have none are passed over at the speed of a search. */
#ifndef DEVLOG_TT_METAL_LOG_ROWS_H
#define DEVLOG_TT_METAL_LOG_ROWS_H

#include "tt_metal/lines.h"

#define TT_NONE UINT32_MAX

/* What the chip line above the rows says. */
typedef struct tt_log_head {
    bool blackhole, wormhole;
    uint32_t max_cores; /* 0: it does not say */
} tt_log_head;

typedef struct tt_log_row {
    uint64_t timer, time, program, data;
    uint32_t device, trace, session; /* trace, session: TT_NONE: none */
    uint16_t x, y;
    bool has_data;
    tt_cell risc, zone, type, meta;
    const tt_log_head *head;
} tt_log_row;

typedef struct tt_log_taker {
    void *ctx;
    bool (*take)(void *ctx, const tt_log_row *row); /* false: no memory */
    uint64_t try_bytes; /* when so much of the log has no such row, the rest is left unread; 0: all is read */
    bool first;         /* behind the first of them nothing more is wanted */
    const bool *stop;   /* once it is set, nothing more is wanted; may be NULL */
} tt_log_taker;

devlog_status tt_log_rows_read(const tt_log_taker *t, dl_input *input, const tt_progress *progress,
                               devlog_error *err);

/* A member of meta data, whose commas are semicolons: {"counter type":17;"value":5}. False: there is none. */
bool tt_meta_member(tt_cell meta, const char *key, tt_cell *out);

#endif
