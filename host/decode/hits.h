/* Hits: rows in sixteen bytes, for when statistics are all that is wanted of them. What neighbouring rows
 * have in common (launch ids and what else is rare) is kept once, in a frame. A hit and its frame make the
 * row again, but for what only consumers of events look at: timer id, meta data, and the data of zones. */
#ifndef DEVLOG_DECODE_HITS_H
#define DEVLOG_DECODE_HITS_H

#include <stdbool.h>

#include "decode/order.h"
#include "decode/row.h"
#include "decode/tables.h"

/* The code of a hit, from its lowest bit: stream 16, site 16, type 3, role 2, then whether it is a firmware
 * start, whether its frame says what is rare (an op, or data), and from bit 40 on the number of its frame. */
enum {
    DL_HIT_SITE_SHIFT = 16,
    DL_HIT_TYPE_SHIFT = 32,
    DL_HIT_ROLE_SHIFT = 35,
    DL_HIT_FW_START_SHIFT = 37,
    DL_HIT_RARE_SHIFT = 38,
    DL_HIT_FRAME_SHIFT = 40,
    DL_MAX_HIT_FRAMES = 1 << 24,
};

#define DL_HIT_STREAM   UINT64_C(0xFFFF)
#define DL_HIT_TYPE     (UINT64_C(7) << DL_HIT_TYPE_SHIFT)
#define DL_HIT_ROLE     (UINT64_C(3) << DL_HIT_ROLE_SHIFT)
#define DL_HIT_FW_START (UINT64_C(1) << DL_HIT_FW_START_SHIFT)
#define DL_HIT_RARE     (UINT64_C(1) << DL_HIT_RARE_SHIFT)
#define DL_HIT_FRAME    (~UINT64_C(0) << DL_HIT_FRAME_SHIFT)

_Static_assert(DL_MAX_STREAMS <= 1 << 16 && DL_MAX_SITES <= 1 << 16 && DL_ROW_TYPES <= 8, "they fit a code");

typedef struct dl_hit {
    uint64_t time, code;
} dl_hit;

/* Zero-initialised is empty. Frames are rows with what is common; `line` is that of a hit less the hit's
 * place in the batch. The last frame is that of the next hit. */
typedef struct dl_hits {
    dl_hit *items;
    uint32_t n, cap;
    dl_row *frames;
    uint32_t n_frames, cap_frames;
} dl_hits;

void dl_hits_free(dl_hits *h);
void dl_hits_clear(dl_hits *h);
/* Room for at least n hits more; false when out of memory. */
bool dl_hits_room(dl_hits *h, uint32_t n);
/* The frame for a hit to be put at place `at`, with what is common in `row` and with this line: its part of
 * the code; 0: out of memory (frames count from 1). */
uint64_t dl_hits_frame(dl_hits *h, const dl_row *row, uint32_t at, uint32_t line);
/* Adds a row. */
bool dl_hits_add_row(dl_hits *h, const dl_tables *tables, const dl_row *row);
/* Adds hits of another batch. */
bool dl_hits_add(dl_hits *h, const dl_hits *from, uint32_t at, uint32_t n);
/* Forgets the first n hits. */
void dl_hits_drop(dl_hits *h, uint32_t n);
/* Makes rows of n hits. */
void dl_hits_rows(const dl_hits *h, uint32_t at, uint32_t n, dl_row *rows);
/* Whether the run (order.h) that ends with hit `before` does not go on with hit `after`, which may be of
 * another batch. */
bool dl_hits_boundary(const dl_order_run *run, const dl_hits *h, uint32_t before, const dl_hits *next,
                      uint32_t after);

/* The code of every row of a site and type, but for stream and frame. */
static inline uint64_t dl_hit_code(uint32_t site, unsigned type, dl_role role)
{
    bool starts = type == DL_ROW_ZONE_START && role == DL_ROLE_FW;
    return (uint64_t)site << DL_HIT_SITE_SHIFT | (uint64_t)type << DL_HIT_TYPE_SHIFT |
           (uint64_t)role << DL_HIT_ROLE_SHIFT | (uint64_t)starts << DL_HIT_FW_START_SHIFT;
}

static inline uint32_t dl_hit_stream(uint64_t code)
{
    return (uint32_t)(code & DL_HIT_STREAM);
}

static inline uint32_t dl_hit_site(uint64_t code)
{
    return (uint32_t)(code >> DL_HIT_SITE_SHIFT) & 0xFFFF;
}

/* Adds a hit to what is known of its run. */
static inline void dl_hit_add(dl_order_run *run, const dl_hit *hit)
{
    uint64_t type = hit->code & DL_HIT_TYPE;
    if ((hit->code & DL_HIT_ROLE) == (uint64_t)DL_ROLE_FW << DL_HIT_ROLE_SHIFT &&
        type <= (uint64_t)DL_ROW_ZONE_END << DL_HIT_TYPE_SHIFT)
        dl_order_run_add_fw(run, hit->time, type == (uint64_t)DL_ROW_ZONE_START << DL_HIT_TYPE_SHIFT);
    dl_order_run_add(run, hit->time);
}

static inline const dl_row *dl_hit_frame(const dl_hits *h, uint64_t code)
{
    return &h->frames[(code >> DL_HIT_FRAME_SHIFT) - 1];
}

#endif
