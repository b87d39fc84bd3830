/* What single rows of a device log say of a program (log_rows.h): hardware counters, which are rows with the static
 * id 9090, one for each counter and core; and its sub-device. Records come core by core and are wanted program by program: they
 * are put in that order some 100,000 at a time and kept in a few bytes each, in room that may be taken in a folder. */
#ifndef DEVLOG_TT_METAL_COUNTERS_H
#define DEVLOG_TT_METAL_COUNTERS_H

#include "base/big.h"
#include "decode/counter_names.h"
#include "tt_metal/log_rows.h"

typedef struct tt_counter {
    uint64_t time; /* cycles */
    uint32_t value, ref;
    uint32_t core;    /* x << 16 | y */
    uint32_t program; /* number */
    uint16_t kind;
} tt_counter;

/* A program that ran, or several of one id where the log does not tell replays apart. */
typedef struct tt_counted {
    uint64_t id;
    uint32_t device, session; /* session TT_NONE: none */
    size_t last;              /* of its pieces: where it begins, + 1; 0: no counters */
    uint32_t sub_device;      /* number + 1; 0: the log does not say */
} tt_counted;

/* What holds for a device. */
typedef struct tt_counted_device {
    uint32_t device;
    bool wormhole;
    uint32_t max_cores; /* 0: unknown */
    uint64_t sums[TT_COUNTERS_END];
    bool seen[TT_COUNTERS_END];
    double l1_grant_ratio; /* median of grants per request of the unpacker's port; < 0: not known */
} tt_counted_device;

typedef struct tt_counters {
    tt_counter *items; /* that are not put away yet */
    size_t n;
    dl_big pieces;
    size_t n_bytes;
    tt_counted *programs;
    size_t n_programs, cap_programs;
    uint32_t *slots;
    size_t n_slots;
    tt_counted_device *devices;
    size_t n_devices;
    uint64_t unknown; /* records of counters that have no name */
    bool sub_devices; /* whether any program names one */
} tt_counters;

void tt_counters_begin(tt_counters *c, const char *scratch);
/* Whether a row is a record of a counter. */
bool tt_counters_is_record(const tt_log_row *row);
/* A row, which may be none of these; false: no memory. */
bool tt_counters_take(tt_counters *c, const tt_log_row *row);
/* No record has come; sub-devices stay. */
void tt_counters_forget(tt_counters *c);
/* After the last one. */
bool tt_counters_end(tt_counters *c);
void tt_counters_free(tt_counters *c);

/* Through the records of a program, the last one first. */
typedef struct tt_counter_walk {
    const tt_counters *c;
    size_t piece; /* the next, + 1; 0: there is none */
    const uint8_t *at;
    uint64_t left; /* records of the piece in hand */
    tt_counter record;
} tt_counter_walk;

tt_counter_walk tt_counters_walk(const tt_counters *c, const tt_counted *program);
/* NULL: no more. */
const tt_counter *tt_counters_next(tt_counter_walk *w);
/* Between two programs: what was read of it may leave memory. */
void tt_counters_cool(tt_counters *c);

/* NULL: none. */
const tt_counted *tt_counters_of(const tt_counters *c, uint32_t device, uint64_t id, uint32_t session);
const tt_counted_device *tt_counters_device(const tt_counters *c, uint32_t device);

#endif
