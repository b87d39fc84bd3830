/* Stamps of default markers: for each RISC those of its firmware's and kernel's starts and ends, in order, in some four bytes each;
 * of a log in parts, too (parts.h). What the rearranged table is made of (report/rearranged.c).
 *
 *     dl_stamps_new(&stamps, decode, folder, err);
 *     dl_decode_run_sink(decode, dl_stamps_sink(stamps), err);
 *     ... dl_decode_file ..., dl_decode_finish */
#ifndef DEVLOG_DECODE_STAMPS_H
#define DEVLOG_DECODE_STAMPS_H

#include "decode/pair/pair_absorb.h"
#include "decode/run.h"
#include "decode/wire.h"

struct dl_decode;

enum { DL_STAMP_FW_START, DL_STAMP_KERNEL_START, DL_STAMP_KERNEL_END, DL_STAMP_FW_END, DL_STAMP_COLUMNS };

/* Stamps that another process has, among those that are here. */
typedef struct dl_far_stamps {
    uint64_t after; /* stamps here that come before them */
    uint64_t bytes; /* of their digits, and one more for each */
    uint32_t part;  /* what they are known by there: the first part that they are of */
} dl_far_stamps;

typedef struct dl_stamp_column {
    dl_samples steps; /* what each is more than the one before it; not the first: */
    uint64_t first, last;
    dl_far_stamps *far;
    uint32_t n_far;
    bool any; /* are here */
} dl_stamp_column;

/* Stamps of one RISC. */
typedef struct dl_stamp_row {
    dl_stamp_column columns[DL_STAMP_COLUMNS];
} dl_stamp_row;

typedef struct dl_stamps dl_stamps;

/* What a long log has waits in `folder`, if there is room; NULL: in memory. The decoder is borrowed, and so is the folder. */
devlog_status dl_stamps_new(dl_stamps **out, struct dl_decode *decode, const char *folder, devlog_error *err);
void dl_stamps_free(dl_stamps *s);
dl_run_sink dl_stamps_sink(dl_stamps *s);

/* NULL: a stream has none. Numbers of streams are below dl_stamps_n. */
const dl_stamp_row *dl_stamps_row(const dl_stamps *s, uint32_t stream);
uint32_t dl_stamps_n(const dl_stamps *s);
/* What all of them take as text, more or less; also while they come. */
uint64_t dl_stamps_bytes(const dl_stamps *s);
/* Bytes that they take on the disk. */
uint64_t dl_stamps_filed(const dl_stamps *s);

/* Puts those of the next part behind; `part` is only to be freed then. False: out of memory. */
bool dl_stamps_absorb(dl_stamps *s, dl_stamps *part, const dl_absorb_map *map);
/* As bytes, or from them, into new ones. Where samples are left out, so are these, and known by the part that has been told. */
void dl_stamps_wire(dl_stamps *s, dl_wire *w);
void dl_stamps_part(dl_stamps *s, uint32_t part);

/* Walks through the stamps of a column that are here. */
typedef struct dl_stamp_walk {
    dl_sample_walk steps;
    uint64_t time;
    bool begins, any;
} dl_stamp_walk;

void dl_stamp_walk_start(dl_stamp_walk *w, const dl_stamp_column *c);
static inline bool dl_stamp_walk_next(dl_stamp_walk *w, uint64_t *time)
{
    uint64_t step = 0;
    if (w->begins)
        w->begins = false;
    else if (!w->any || !dl_sample_walk_next(&w->steps, &step))
        return false;
    *time = w->time += step;
    return true;
}

#endif
