/* Wire: what a part of a log has come to as bytes, for another process. One function per thing both writes and reads it, so
 * that the two cannot disagree. What is read is data from outside: every number is checked, after the first fault
 * everything is 0, and `bad` stays. Not a format of files: both ends are the same version of devlog. */
#ifndef DEVLOG_DECODE_WIRE_H
#define DEVLOG_DECODE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "decode/samples.h"
#include "decode/tables.h"

enum {
    DL_WIRE_ALL,
    DL_WIRE_LAUNCHES, /* only those of zones whose launches are known are written: what tables by launch are made of */
    DL_WIRE_KEPT, /* none are, but of launches it is said which of the part they are: their samples can be asked for (far.h) */
    DL_WIRE_TOTALS, /* none are */
};

typedef struct dl_wire {
    dl_str *out; /* written to; NULL: it is read from: */
    const uint8_t *at, *end;
    bool bad;          /* of what is read: it is no such thing, or there is no memory */
    dl_tables *tables; /* whose texts are meant */
    uint8_t leaves;    /* what is written leaves samples out: DL_WIRE_* */
    uint32_t part;     /* DL_WIRE_KEPT: by which the part is asked */
} dl_wire;

static inline bool dl_wire_reads(const dl_wire *w)
{
    return !w->out;
}

void dl_wire_u64(dl_wire *w, uint64_t *value);
void dl_wire_u128(dl_wire *w, dl_u128 *value);
void dl_wire_u32(dl_wire *w, uint32_t *value);
void dl_wire_flag(dl_wire *w, bool *value);
/* Numbers that are less than `end`. */
void dl_wire_below(dl_wire *w, uint32_t *value, uint32_t end);
/* The same, or DL_NONE. */
void dl_wire_index(dl_wire *w, uint32_t *value, uint32_t end);
/* A number by what it is more than another, or less. */
void dl_wire_more(dl_wire *w, uint64_t *value, uint64_t than);
/* How many follow, each of which takes `bytes` at least. */
void dl_wire_count(dl_wire *w, uint32_t *n, uint32_t most, size_t bytes);
/* n bytes; read ones stay where they are. Texts have no NUL in them, and none behind them when they are read. */
void dl_wire_bytes(dl_wire *w, const char **text, size_t *n);
/* A text of the tables, by its number; 0: none. */
void dl_wire_text(dl_wire *w, uint32_t *id);
/* All of a set of samples, in their order; into an empty one. */
void dl_wire_samples(dl_wire *w, dl_samples *s);

#endif
