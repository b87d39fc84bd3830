/* The device-log writer: rows into profile_log_device.csv, as the reference tools write it and read it. The
 * driver calls it after each launch: a launch's rows are gathered and written with one system call, so that a
 * reader sees whole launches, and taken back when the disk is full. It does not pull, pair or judge.
 *
 *     dl_device_log_open(&log, "generated/profiler/logs", &options, err);
 *     dl_device_log_rows(log, tables, rows, n, err);      any number of times, then once per launch
 *     dl_device_log_commit(log, err);
 *     dl_device_log_close(log);
 */
#ifndef DEVLOG_DECODE_LOG_WRITE_H
#define DEVLOG_DECODE_LOG_WRITE_H

#include "decode/row.h"
#include "decode/tables.h"

#define DL_DEVICE_LOG_NAME "profile_log_device.csv"

typedef enum dl_log_style {
    DL_LOG_L0, /* the reference document's: six columns, no header */
    DL_LOG_L2, /* six columns below two header lines */
    DL_LOG_L9, /* everything: launch and trace ids, zone names, types, source lines, meta data */
} dl_log_style;

typedef struct dl_device_log_options {
    dl_log_style style;
    bool append;        /* keep what the file holds; otherwise begin anew */
    const char *name;   /* NULL: DL_DEVICE_LOG_NAME */
    const char *arch;   /* "wormhole_b0"; for the chip line */
    uint64_t freq_khz;  /* 0: written as 0, unknown */
    uint32_t max_cores; /* L9 only */
    uint64_t run;       /* L9 only: id of the run that writes; 0: none. Other tools ignore it */
    uint64_t
        aiclk_khz; /* L9 only: what the chip itself says of its clock; 0: it does not. Other tools ignore it */
    bool instructions; /* L9 only: cycles are instructions. Other tools ignore it */
} dl_device_log_options;

typedef struct dl_device_log dl_device_log;

/* Makes the folder when it is missing, opens the file, and writes the header lines unless the file is being
 * continued under the same ones. Fails with IO when that cannot be done. */
devlog_status dl_device_log_open(dl_device_log **log, const char *folder,
                                 const dl_device_log_options *options, devlog_error *err);
/* The whole path; owned by the log. */
const char *dl_device_log_path(const dl_device_log *log);

/* Adds rows to the launch in hand. In the six-column styles the default zones get the ids 1 to 4, and other
 * rows their timer_id, which must be 5 or more there: those that have a smaller one are left out and counted.
 */
devlog_status dl_device_log_rows(dl_device_log *log, const dl_tables *tables, const dl_row *rows, size_t n,
                                 devlog_error *err);
/* The same for marks [from, to) of a batch. */
devlog_status dl_device_log_marks(dl_device_log *log, const dl_tables *tables, const dl_marks *marks,
                                  uint32_t from, uint32_t to, devlog_error *err);
/* A mark as a row. */
dl_row dl_device_log_row(const dl_tables *tables, const dl_marks *marks, uint32_t at);
/* Says what a RISC lost in the launch in hand: a row of its own that dl_decode understands (dl_loss_zone).
 * `like` is where and when. In the six-column styles it is a timer id of its own (DL_LOSS_TIMER). */
devlog_status dl_device_log_loss(dl_device_log *log, const dl_tables *tables, const dl_row *like,
                                 dl_loss_zone zone, uint64_t amount, devlog_error *err);
/* The same of an expectation that was not met: its text, where it stands, how often in this launch and by how much. */
typedef struct dl_log_violation {
    const char *text, *file;
    uint32_t line;
    uint64_t times, worst;
} dl_log_violation;
devlog_status dl_device_log_violation(dl_device_log *log, const dl_tables *tables, const dl_row *like,
                                      const dl_log_violation *v, devlog_error *err);
/* Writes the launch in hand. On failure none of it is in the file, and it is still in hand. */
devlog_status dl_device_log_commit(dl_device_log *log, devlog_error *err);
/* Rows that the style could not express. */
uint64_t dl_device_log_left_out(const dl_device_log *log);
/* Meta data of the row with which a run closes its log: how much was found about its clock. */
#define DL_END_CLOCK "clock"
/* How many findings about its clock the run closes with: said in the last row of L9 (`clock` in its meta data), as a
 * device log has no samples of clocks itself. NULL is allowed. */
void dl_device_log_clock(dl_device_log *log, uint64_t findings);
/* Closes; rows that were not committed are forgotten. In L9 a last row says that the log is whole, when it
 * has rows and none were forgotten: a run that was killed has not said so. The log is freed in any case;
 * fails when rows were forgotten or that row could not be written. NULL is allowed. */
devlog_status dl_device_log_close(dl_device_log *log, devlog_error *err);

#endif
