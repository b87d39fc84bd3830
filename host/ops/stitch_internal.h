/* What the files of stitching share: which op each launch of the device log is of. */
#ifndef DEVLOG_OPS_STITCH_INTERNAL_H
#define DEVLOG_OPS_STITCH_INTERNAL_H

#include "ops/stitch.h"

/* A launch that the op log knows, by chip and number. */
typedef struct known_launch {
    uint64_t key;    /* chip << 32 | launch */
    uint32_t number; /* in device->launches */
} known_launch;

typedef struct join {
    op_stitch *s;
    uint32_t *
        op_of; /* by launch of the decoder: number of the op in device->ops, DL_NONE, or one of those below */
    uint32_t *known;     /* by launch of the decoder: number + 1 in device->launches; 0: not in the op log */
    uint32_t *found;     /* by launch of the op log: whether the device log has it */
    uint32_t *extra;     /* by op of the device's run: launches with device data that the op log has not */
    const uint32_t *map; /* from device->ops to host->ops; NULL: the same */
    struct recorded {
        uint64_t first, last; /* the numbers of a chip's launches that the device log has */
    } * recorded;             /* by chip of the decoder; NULL: it is of all launches */
    known_launch *index;      /* NULL: the op log's launches are in order */
    uint64_t unnumbered; /* launches with device data that may be any of those without an op in the op log */
    dl_big big_op_of, big_known, big_found, big_extra;
} join;

/* In join.op_of, besides DL_NONE. */
#define OTHER_RUN  (DL_NONE - 1)
#define UNKNOWN_OP (DL_NONE - 2)

/* Adds a row; NULL: no memory. */
op_row *op_stitch_new_row(op_stitch *s);
/* Launches of an op that the op log has and the device log has not. `lost`: without those that a periodic capture left out. */
uint32_t op_stitch_missing(const join *j, uint32_t op, bool lost);
/* op_rows.c: rows of everything in the device log. False: no memory. */
bool op_stitch_device_rows(join *j);

#endif
