/* What each core did in each launch, where a log does not tell it in one piece: rows in the order of time, or several
 * dumps of one launch. A launch of which nothing has come for long is complete and handed on, so that only those that may
 * go on are kept. Not for logs as tt-metal writes them, core by core: those need no memory for it (exec_log.c). */
#ifndef DEVLOG_TT_METAL_PLACES_H
#define DEVLOG_TT_METAL_PLACES_H

#include "base/big.h"
#include "decode/event.h"

typedef struct tt_place {
    uint64_t core;       /* device << 32 | x << 16 | y */
    uint64_t begin;      /* of its first zone */
    uint64_t fw_start;   /* BRISC's firmware; UINT64_MAX: none */
    uint64_t mover;      /* first kernel start on BRISC or NCRISC; UINT64_MAX: none */
    uint64_t start, end; /* of its kernels; start UINT64_MAX: none */
    uint32_t launch;     /* UINT32_MAX: this room is free */
    uint32_t next;       /* of the launch, or free: number + 1 */
} tt_place;

/* Launches that are open, by number: those that were met last are newest. */
typedef struct tt_open {
    uint32_t first;        /* place, number + 1; 0: was not met; UINT32_MAX: is complete */
    uint32_t older, newer; /* launches, number + 1 */
} tt_open;

/* Who is handed a place that is complete; false: no memory. */
typedef bool (*tt_place_taker)(void *ctx, const tt_place *place);

/* Zero-initialise it, but for what the caller sets. */
typedef struct tt_places {
    dl_big big_items; /* the caller sets its folder */
    size_t most; /* set by the caller: places that are kept, but for one launch that has more; 0: all are */
    tt_place_taker take;
    void *ctx;
    tt_place *items;
    size_t n, n_open;
    uint32_t free; /* number + 1 */
    uint32_t *slots;
    size_t n_slots;
    tt_open *launches;
    size_t n_launches;
    uint32_t oldest, newest;
    bool late; /* a launch was met again that was taken to be complete: what was handed on is wrong */
} tt_places;

/* The core in the launch, made when there is none; there until the next call. NULL: no memory, or the launch is `late`. */
tt_place *tt_places_at(tt_places *p, uint64_t core, uint32_t launch);
/* Hands on what is left: core by core, and in each by launch. False: no memory. */
bool tt_places_end(tt_places *p);
/* Empty again; what the caller set stays. */
void tt_places_free(tt_places *p);

#endif
