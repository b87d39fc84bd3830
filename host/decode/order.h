/* Order: the rows of one RISC by time. Logs of 2024 and 2025 give a RISC's firmware and kernel markers first,
 * from fixed slots of its buffer, and what happened between them afterwards; others are in any order. Pairing
 * wants them as they happened. Only rows that are neighbours in the log are put in order: a run, which is
 * what one RISC wrote under one set of launch ids between one firmware start and the next. Not for rows of
 * one launch with those of others between them (decode_disorder.c). */
#ifndef DEVLOG_DECODE_ORDER_H
#define DEVLOG_DECODE_ORDER_H

#include <stdbool.h>

#include "decode/row.h"
#include "decode/tables.h"

enum {
    DL_MAX_RUN = 16 * 1024,    /* rows of a run that is in order: what is longer is handed on in pieces */
    DL_MAX_HELD = 1024 * 1024, /* rows of a run in disorder that are held until it is whole */
};

/* A torn stamp is 2^32 off; rows that are nearer than half of that to each other have none. */
#define DL_HALF_TORN (UINT64_C(1) << 31)

/* What is known of a run while its rows are looked at; zero: none yet. */
typedef struct dl_order_run {
    uint64_t last;         /* stamp of the last row */
    uint64_t most, second; /* the latest stamp of all, and the one before it in time */
    uint64_t fw_most;      /* the latest of firmware's starts, and of ends that had one */
    uint64_t early_end;    /* an end of firmware whose start has not been seen */
    uint32_t n;
    uint32_t front;   /* the place of the last row that is earlier than the one before it; 0: in order */
    uint32_t fw_open; /* starts of firmware without an end yet */
    bool has_fw, has_fw_most, has_early_end;
} dl_order_run;

/* Whether stamp a is later than b, also when the clock of 44 bits went through 0 between them. */
static inline bool dl_order_is_later(uint64_t a, uint64_t b)
{
    return (int64_t)((a - b) << 20) > 0;
}

/* Adds a row of firmware's zone. */
static inline void dl_order_run_add_fw(dl_order_run *r, uint64_t time, bool starts)
{
    r->has_fw = true;
    if (!starts && !r->fw_open) {
        r->early_end = time;
        r->has_early_end = true;
        return;
    }
    if (starts && r->has_early_end) {
        if (dl_order_is_later(r->early_end, time)) time = r->early_end;
        r->has_early_end = false;
    } else {
        r->fw_open += starts ? 1 : -1u;
    }
    if (!r->has_fw_most || dl_order_is_later(time, r->fw_most)) r->fw_most = time;
    r->has_fw_most = true;
}

static inline void dl_order_run_add(dl_order_run *r, uint64_t time)
{
    if (r->n == 0) {
        r->most = r->second = time;
    } else if (dl_order_is_later(time, r->most)) {
        r->second = r->most;
        r->most = time;
    } else if (r->n == 1 || dl_order_is_later(time, r->second)) {
        r->second = time;
    }
    if (r->n && dl_order_is_later(r->last, time)) r->front = r->n;
    r->last = time;
    r->n++;
}

/* Whether a firmware start with the run's ids begins another run. It does not when it is late in its own, and
 * rows of its launch came before it. One row alone that is much later rather has a torn stamp. */
static inline bool dl_order_run_starts(const dl_order_run *r, uint64_t time)
{
    if (!dl_order_is_later(r->most, time)) return true;
    if (r->has_fw_most && dl_order_is_later(r->fw_most, time)) return true;
    if (r->has_early_end) return dl_order_is_later(time, r->early_end);
    return r->has_fw && !dl_order_is_later(r->second, time) && r->most - time >= DL_HALF_TORN;
}

/* Whether a run is cut here although it may go on. */
static inline bool dl_order_run_is_full(const dl_order_run *r)
{
    return r->n >= DL_MAX_HELD || (r->n == DL_MAX_RUN && !r->front);
}

/* Puts rows[0..n) in order, run by run. The last run may go on in rows that are not here yet: unless `all`,
 * it is left alone, and the number of rows before it is returned. rows[0] must begin a run. */
size_t dl_order_rows(const dl_tables *tables, dl_row *rows, size_t n, bool all);

/* Whether the run that ends with `before` does not go on with `after`. */
bool dl_order_boundary(const dl_tables *tables, const dl_order_run *run, const dl_row *before,
                       const dl_row *after);
/* Adds a row. */
void dl_order_add(const dl_tables *tables, dl_order_run *run, const dl_row *row);

/* Whether a is before b: by time; with the same stamp starts from the outside in, then what was inside, then
 * ends from the inside out; otherwise as they are in the log. */
bool dl_order_before(const dl_tables *tables, const dl_row *a, const dl_row *b);
/* Sorts rows by dl_order_before, stamps behind a wrap of the 44-bit clock last. */
void dl_order_sort(const dl_tables *tables, dl_row *rows, size_t n);

/* order_torn.c: repairs a torn stamp of a whole run whose rows are in order: when they contradict each other
 * (zones that do not nest, or lie outside of their firmware's), and one stamp alone, moved by 2^32, explains
 * all of it. */
void dl_order_repair(const dl_tables *tables, dl_row *rows, size_t n);

#endif
