/* Which ids a block holds: a few ranges, as the least and the greatest say nothing when a trace is replayed between other
 * launches. Not for choosing blocks (decode/log/window.h). */
#ifndef DEVLOG_PACK_IDS_H
#define DEVLOG_PACK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PK_ID_CELL = 1,    /* behind the stamp: where logs have the run host id .. */
    PK_TRACE_CELL = 2, /* .. and that of a trace, .. */
    PK_COUNT_CELL = 3, /* .. and the how manieth replay of it */
    PK_ID_RANGES = 8,
    PK_IDS_BYTES = 16 * PK_ID_RANGES,
};

typedef struct pk_ids {
    size_t n; /* 0: not known */
    uint64_t low[PK_ID_RANGES + 1],
        high[PK_ID_RANGES + 1]; /* both included; in order, none touches another */
} pk_ids;

/* Of rows without a trace, and of those of one: an index of before does not tell them apart, and both are of all rows. And
 * of which replays rows are. */
typedef struct pk_row_ids {
    pk_ids plain, traced, counts;
} pk_row_ids;

/* When there are too many ranges, the two that are nearest become one. */
void pk_ids_add(pk_ids *ids, uint64_t id);
/* Whether one of low to high may be among them. */
bool pk_ids_meet(const pk_ids *ids, uint64_t low, uint64_t high);

/* As u64 low, u64 high of each range; those that there are not have the low above the high. */
void pk_ids_put(uint8_t out[PK_IDS_BYTES], const pk_ids *ids);
void pk_ids_get(const uint8_t bytes[PK_IDS_BYTES], pk_ids *ids);

#endif
