/* Hardware counters by zone: what counters that were recorded inside of a zone come to, by RISC, zone and counter. The zone
 * is the innermost that is open on the RISC that wrote the record. Not for single records, which are events, nor for
 * counters by program (tt_metal/counters.h). */
#ifndef DEVLOG_DECODE_ZONE_COUNTERS_H
#define DEVLOG_DECODE_ZONE_COUNTERS_H

#include "decode/samples.h"
#include "decode/tables.h"

/* The timer id of tt-metal's hardware counters (perf_counters.hpp). Their marks say in dl_rare.op how many cycles they
 * counted over, and 1. */
enum { DL_COUNTER_TIMER = 9090, DL_MAX_ZONE_COUNTERS = 256 * 1024 };

typedef struct dl_zone_counter {
    uint32_t stream;
    uint32_t zone;    /* site; DL_NONE: no zone was open */
    uint32_t counter; /* site, whose name is the counter's */
    uint64_t records;
    dl_u128 value, reference; /* sums: what was counted, over how many cycles */
} dl_zone_counter;

/* Zero-initialised is empty. */
typedef struct dl_zone_counters {
    dl_zone_counter *items;
    uint32_t n, cap;
    uint32_t *slots, n_slots; /* hash table: number + 1 */
} dl_zone_counters;

void dl_zone_counters_free(dl_zone_counters *c);
/* Adds a record; false: out of memory, or there are too many to keep apart. */
bool dl_zone_counters_add(dl_zone_counters *c, const dl_zone_counter *record);

/* The counter with this number in records of the first form; NULL: none. */
const char *dl_counter_name(uint64_t number);
/* Whether chips of this architecture have no such counter, and their records of it count nothing. */
bool dl_counter_is_lacking(const char *arch, const char *counter);

#endif
