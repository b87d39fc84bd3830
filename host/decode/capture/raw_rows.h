/* What one RISC recorded in one launch, as device rows: default markers, zones, values, text, losses.
 * The same rows come out of a log that is written from them (decode/log/log_write.h). */
#ifndef DEVLOG_DECODE_RAW_ROWS_H
#define DEVLOG_DECODE_RAW_ROWS_H

#include "decode/capture/raw_sites.h"
#include "decode/pair/pair_records.h"
#include "decode/row.h"
#include "decode/tables.h"

typedef struct raw_risc {
    uint32_t chip;           /* number of the device in logs */
    uint16_t core_x, core_y; /* logical coordinates */
    const char *risc;        /* its name */
    const devlog_control *control;
    const record_span *spans; /* in the order in which they were written */
    uint32_t n_spans;
    const dl_elf *elf;      /* of the kernel; may be NULL */
    raw_sites *sites;       /* of that ELF file, or of none; may be NULL, which is slower */
    uint32_t index;         /* of the RISC on its board, as its events carry it */
    const uint32_t *events; /* event stream of the tile, or NULL */
    uint32_t n_events;      /* words */
    uint64_t events_from;   /* cycles; no event is older: FW start of the manager */
    dl_pair *pair;          /* takes ordinary records instead of rows; NULL: nobody does */
    uint64_t ahead;         /* for it: what the sink subtracts from the times of rows .. */
    uint32_t line;          /* .. and the line that it gives them */
    bool tell_dropped;      /* rows of DL_DROPPED_ZONE, where the dropping began */
} raw_risc;

/* A value by tt-metal's old name (include/devlog/tt_metal/tools/profiler/kernel_profiler.hpp) is an event
 * whose id is the value. */
#define RAW_MARK_TIME "mark_time"

/* Zone names of what the firmware itself records. */
#define RAW_STALL_ZONE "DEVLOG-STALL" /* a flush to DRAM held the RISC up */

/* Hands the rows of one RISC and launch to the sink, ordered by time. */
devlog_status raw_rows(dl_tables *tables, const raw_risc *in, const dl_row_sink *sink, record_losses *losses,
                       devlog_error *err);

/* What the RISC lost in the launch, by zone of dl_loss_zone: every output says this, the rows of
 * raw_risc.tell_dropped, and nothing else. Zero for DL_LOSS_DROPPED: those rows say it, as dropped markers
 * have a place in time. */
void raw_lost(const devlog_control *control, const record_losses *found, uint64_t lost[DL_LOSS_ZONES]);

/* raw_check.c: whether records_decode would find every record whole and plausible, and all rows made of them
 * between `from` and `until` and in order as they come. Looks up shapes of codes in `sites`. */
bool raw_check(const record_input *in, const dl_tables *tables, raw_sites *sites, uint64_t from,
               uint64_t until, uint32_t *unnamed);

#endif
