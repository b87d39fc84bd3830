/* Order: the marks of one RISC by time. Logs of 2024 and 2025 give a RISC's firmware and kernel markers first,
 * from fixed slots of its buffer, and what happened between them afterwards; others are in any order. Pairing
 * wants them as they happened. Only marks that are neighbours in the log are put in order: a run, which is
 * what one RISC wrote under one set of launch ids between one firmware start and the next. Not for marks of
 * one launch with those of others between them (decode_disorder.c). */
#ifndef DEVLOG_DECODE_ORDER_H
#define DEVLOG_DECODE_ORDER_H

#include "decode/mark.h"

enum {
    DL_MAX_RUN = 16 * 1024,    /* marks of a run that is in order: what is longer is handed on in pieces */
    DL_MAX_HELD = 1024 * 1024, /* marks of a run in disorder that are held until it is whole */
    DL_MOST_FRONT = 16,        /* marks at the front of a run that dl_order_merge takes */
};

/* A torn stamp is 2^32 off; marks that are nearer than half of that to each other have none. */
#define DL_HALF_TORN (UINT64_C(1) << 31)

/* What is known of a run while its marks are looked at; zero: none yet. */
typedef struct dl_order_run {
    uint64_t last;         /* stamp of the last mark */
    uint64_t most, second; /* the latest stamp of all, and the one before it in time */
    uint64_t fw_most;      /* the latest of firmware's starts, and of ends that had one */
    uint64_t early_end;    /* an end of firmware whose start has not been seen */
    uint32_t n;
    uint32_t front;   /* the place of the last mark that is earlier than the one before it; 0: in order */
    uint32_t fw_open; /* starts of firmware without an end yet */
    bool has_fw, has_fw_most, has_early_end;
} dl_order_run;

/* Whether stamp a is later than b, also when the clock of 44 bits went through 0 between them. */
static inline bool dl_order_is_later(uint64_t a, uint64_t b)
{
    return (int64_t)((a - b) << 20) > 0;
}

/* Adds a mark of firmware's zone. */
static inline void dl_order_add_fw(dl_order_run *r, uint64_t time, bool starts)
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

/* Adds a mark. */
static inline void dl_order_add(dl_order_run *r, const dl_mark *mark)
{
    const uint64_t time = mark->time;
    if (mark->code & (DL_MARK_FW_START | DL_MARK_FW_END))
        dl_order_add_fw(r, time, mark->code & DL_MARK_FW_START);
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
 * marks of its launch came before it. One mark alone that is much later rather has a torn stamp. */
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

/* Whether the run that ends with mark `before` does not go on with mark `after`, which may be of another
 * batch. */
bool dl_order_boundary(const dl_order_run *run, const dl_marks *m, uint32_t before, const dl_marks *next,
                       uint32_t after);

/* A mark that is being put in order. */
typedef struct dl_placed {
    dl_mark mark;
    uint32_t place; /* where it was */
    bool torn;      /* its stamp was 2^32 off and has been repaired */
} dl_placed;

/* Marks in their order with their places, from 0; places[i] with DL_TORN when its stamp has been repaired. */
#define DL_TORN (UINT32_C(1) << 31)

/* A run that is in order but for `n_front` marks at its front, at most DL_MOST_FRONT: sorts those few and merges
 * them with the others. False when their stamps are so far apart that it may be something else than disorder.
 */
bool dl_order_merge(const dl_kind *kinds, const dl_mark *marks, uint32_t n_front, uint32_t n, dl_mark *to,
                    uint32_t *places);
/* Any run, whose marks are `marks`, in their order in the log. `whole`: it has not been cut. */
void dl_order_marks(const dl_kind *kinds, dl_placed *marks, uint32_t n, bool whole);

/* Whether a is before b: by time; with the same stamp starts from the outside in, then what was inside, then
 * ends from the inside out; otherwise as they are in the log. */
bool dl_order_before(const dl_kind *kinds, const dl_placed *a, const dl_placed *b);
/* Sorts by dl_order_before, stamps behind a wrap of the 44-bit clock last. */
void dl_order_sort(const dl_kind *kinds, dl_placed *marks, size_t n);

/* order_torn.c: repairs a torn stamp of a whole run whose marks are in order: when they contradict each other
 * (zones that do not nest, or lie outside of their firmware's), and one stamp alone, moved by 2^32, explains
 * all of it. */
void dl_order_repair(const dl_kind *kinds, dl_placed *marks, size_t n);

#endif
