/* What each core did in each launch, where a log does not tell it in one piece: rows in the order of time, or several
 * dumps of one launch. Not for logs as tt-metal writes them, core by core: those need no memory for it (exec_log.c). */
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
    uint32_t launch;
} tt_place;

typedef struct tt_places {
    tt_place *items;
    size_t n;
    dl_big big_items;
    uint32_t *slots; /* number + 1 */
    size_t n_slots;
} tt_places;

/* The core in the launch, made when there is none. NULL: no memory. */
tt_place *tt_places_at(tt_places *p, uint64_t core, uint32_t launch);
/* Core by core, and in each by launch: what was taken from tt_places_at is not valid any more. */
void tt_places_sort(tt_places *p);
void tt_places_free(tt_places *p);

#endif
