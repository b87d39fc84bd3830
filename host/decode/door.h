/* The public door (devlog/decode.h) for those inside the library who have decoded something themselves. */
#ifndef DEVLOG_DECODE_DOOR_H
#define DEVLOG_DECODE_DOOR_H

#include "decode/decode.h"
#include "devlog/decode.h"

/* A log of which everything has been read and that has no batches left; the decoder, which has finished, is
 * the log's own from then on. */
devlog_status door_of_decoded(dl_decode *decode, devlog_log **out, devlog_error *err);
/* The same beside a decoder that stays the caller's and may still be at work: then numbers that runs name may be looked up, as
 * decode/run.h says, and the rest when it has finished. Close it before the decoder is freed. */
devlog_status door_beside(dl_decode *decode, devlog_log **out, devlog_error *err);

/* Which op asked for a launch: its number in devlog's log of ops, or, in logs that do not say it, the run host id, which
 * tt-metal counts together with ops; 0: none. */
uint64_t door_asked_by(const devlog_log *log, uint32_t launch);
/* Whether that is an op which the log says; otherwise it is the launch's own number. */
bool door_told_op(const devlog_log *log, uint32_t launch);

/* By launch: which start of its chip's counter it is of, from 0; freed by the caller. A launch of another run, or one with a higher number
 * that begins earlier than the one before, is of another program, or of a device that was opened again, as in op reports
 * (docs/op-reports.md, "Several programs, several opens"). NULL: no memory. In door_boots.c. */
uint32_t *door_boots(const devlog_log *log);

/* Cycles of a chip of it are instructions: it is a simulator without timing. */
bool door_counts_instructions(const devlog_log *log);
/* What chip `number` (as devlog_log_chip counts) said of its clock, kHz; 0: unknown. */
uint64_t door_aiclk_khz(const devlog_log *log, uint32_t number);

/* dl_losses_no_rows of what has been read to its end. */
devlog_status door_no_rows(const devlog_log *log, devlog_error *err);

#endif
