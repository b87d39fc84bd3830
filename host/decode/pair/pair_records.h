/* Pairing straight from the words of records: what decode/capture/raw_rows.c hands to pairing instead of rows
 * when statistics are all that is wanted. The statistics are those of the rows. */
#ifndef DEVLOG_DECODE_PAIR_RECORDS_H
#define DEVLOG_DECODE_PAIR_RECORDS_H

#include "decode/capture/raw_sites.h"
#include "decode/pair/pair.h"

struct stream_state;

/* The records of one RISC and launch. */
typedef struct dl_pair_run {
    dl_row row;             /* what all its rows have in common: ids, stream, line */
    const raw_sites *sites; /* of the codes that are met */
    uint64_t add;           /* to the 52 bits of a stamp, which gives the time of its row */
    uint64_t last;          /* time of the row of the last record taken */
    struct stream_state *stream;
} dl_pair_run;

/* Whether there is nobody who wants to see each event, and nothing to leave out. */
bool dl_pair_takes_records(const dl_pair *p);
/* After the row with time `first`, for records and rows between it and `until`. False: they must be rows. */
bool dl_pair_records_begin(dl_pair *p, dl_pair_run *run, uint64_t first, uint64_t until);
/* Takes records from the front of words[0..n) up to the first whose shape is unknown or has no short way:
 * *taken words. The caller has checked that they are whole and in order. */
devlog_status dl_pair_records(dl_pair *p, dl_pair_run *run, const uint32_t *words, uint32_t n,
                              uint32_t *taken, devlog_error *err);

#endif
