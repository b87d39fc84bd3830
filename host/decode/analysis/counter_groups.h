/* Hardware counters by zone put together for reports: over all cores of a chip. */
#ifndef DEVLOG_DECODE_COUNTER_GROUPS_H
#define DEVLOG_DECODE_COUNTER_GROUPS_H

#include "decode/decode.h"

typedef struct dl_counter_group {
    uint32_t chip;        /* index into chips */
    bool lacking;         /* the chip has no such counter: its numbers mean nothing */
    dl_zone_counter sums; /* stream and sites are those of one of them */
} dl_counter_group;

typedef struct dl_counter_groups {
    dl_counter_group *items;
    size_t n;
} dl_counter_groups;

/* By chip, RISC, zone and counter. */
devlog_status dl_counter_groups_of(dl_decode *d, dl_counter_groups *out, devlog_error *err);
void dl_counter_groups_free(dl_counter_groups *g);

/* The zone's name; "" when no zone was open. */
const char *dl_counter_zone(const dl_tables *t, const dl_counter_group *g);
/* How many of a hundred cycles were counted. False: that means nothing. */
bool dl_counter_percent(const dl_counter_group *g, double *percent);

#endif
