/* Shapes: what a whole run of hits means, remembered. The runs of one program on one RISC are mostly the same
 * zones in the same order, so which hit ends which zone, and in which order they happened, is found once; a
 * run that looks like one before needs only its stamps checked. Included by the files of pairing that deal
 * with hits. */
#ifndef DEVLOG_DECODE_PAIR_SHAPE_H
#define DEVLOG_DECODE_PAIR_SHAPE_H

#include "decode/pair/pair_internal.h"

enum {
    SHAPE_HITS = 255,              /* of a run at most */
    SHAPE_DEPTH = 16,              /* zones of a run that are open at once */
    SHAPES_PER_STREAM = 16,        /* that are remembered */
    SHAPE_BYTES = 4 * 1024 * 1024, /* of all shapes and what streams remember of them */
};

/* Hits by their places in the run, as it is in the log. */
typedef struct shape_zone {
    uint8_t start, end;
    bool tells_launch; /* of firmware or kernel: which launch it is of is kept */
} shape_zone;

/* The difference between two hits: of their stamps and of their codes. Two at once where the processor can.
 */
typedef uint64_t shape_step __attribute__((vector_size(16)));

/* Begins with a firmware start; every zone that begins in it ends in it. */
typedef struct pair_shape {
    struct pair_shape *next; /* of all shapes */
    uint64_t hash;
    shape_step first; /* the first hit's code, without stream and frame; its stamp is 0 */
    /* In the order of their stamps: how the code differs from that of the hit before, and by how much the
     * stamp does at least (more than 0 only where the log is not in order: hits with the same stamp have an
     * order of their own). The first is not used. */
    const shape_step *steps;
    const uint8_t *order;    /* places of the hits in the order of their stamps; NULL: they are in order */
    const shape_zone *zones; /* in the order of their ends */
    const uint8_t *points;   /* the hits that are no zones */
    uint32_t n, n_zones, n_points;
    uint8_t last, fw_end; /* places of the hit with the last stamp, and of the end of firmware */
    bool has_kernel;
} pair_shape;

/* A shape on a stream. */
typedef struct stream_shape {
    const pair_shape *shape;
    struct stream_shape *follows; /* what came after it last time */
    uint32_t n_keys;
    uint32_t *series; /* of the shape's points: numbers in the table of series */
    dl_key *keys[];   /* of the shape's zones */
} stream_shape;

/* pair_shape.c: remembers a run that was ordinary: `sorted` are its hits in the order of their stamps, all of
 * them paired by now, and nothing open before or after. Does nothing when it is too long, or when enough is
 * remembered. */
void dl_pair_learn_shape(dl_pair *p, stream_state *s, const dl_hit *hits, const dl_hit *sorted, uint32_t n);
void dl_pair_free_shapes(dl_pair *p);

/* pair_run.c: pairs a run hit by hit. `plain`: nothing in its frames is rare. */
devlog_status dl_pair_run(dl_pair *p, const dl_hits *h, uint32_t at, const dl_order_run *run, bool plain,
                          devlog_error *err);

#endif
