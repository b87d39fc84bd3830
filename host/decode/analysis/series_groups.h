/* Series put together by name for reports, and messages in the order of their time. */
#ifndef DEVLOG_DECODE_SERIES_GROUPS_H
#define DEVLOG_DECODE_SERIES_GROUPS_H

#include "decode/decode.h"

/* What has one name and kind, on one kind of RISC: over all cores of a chip, or on one core. */
typedef struct dl_series_group {
    uint32_t chip;    /* index into chips */
    uint32_t cores;   /* how many took part */
    dl_series series; /* stream and site are those of one of them */
} dl_series_group;

typedef struct dl_series_groups {
    dl_series_group *items;
    size_t n;
    uint64_t
        wait_records; /* records of waits (docs/causes.md), in no group: what they hold are addresses and page numbers,
                            * whose sums mean nothing */
} dl_series_groups;

/* By chip, then (by_core) core, then kind, RISC and name. */
devlog_status dl_series_groups_of(dl_decode *d, bool by_core, dl_series_groups *out, devlog_error *err);
void dl_series_groups_free(dl_series_groups *g);

/* The messages by chip and time, of which there are *n, and how many more there were. Freed by the caller;
 * NULL: out of memory, or there are none. */
dl_message *dl_messages_of(dl_decode *d, size_t *n, uint64_t *more);

/* "event", "value", "counter", "sum", "text". */
const char *dl_series_kind_text(const dl_series *s);
/* Of values; of sums by pass where passes are known, otherwise by launch. */
double dl_series_average(const dl_series *s);

#endif
