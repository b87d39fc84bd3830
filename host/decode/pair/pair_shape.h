/* Shapes: what a whole run of marks means, remembered. The runs of one program on one RISC are mostly the same
 * zones in the same order, so which mark ends which zone, and in which order they happened, is found once; a
 * run that looks like one before needs only its stamps checked. Included by pair_runs.c and pair_shape.c. */
#ifndef DEVLOG_DECODE_PAIR_SHAPE_H
#define DEVLOG_DECODE_PAIR_SHAPE_H

#include "decode/pair/pair_internal.h"

enum {
    SHAPE_MARKS = 255,      /* of a run at most */
    SHAPE_DEPTH = 16,       /* zones of a run that are open at once */
    SHAPES_PER_STREAM = 16, /* that are remembered */
    SHAPE_SLOTS = 4096,     /* lists of shapes, by hash */
    MOST_FRUITLESS = 64,    /* runs that have none, one after the other, before no more are looked at */
    SHAPE_BYTES = 4 * 1024 * 1024, /* of all shapes and what streams remember of them */
    SHAPE_NONE = 255,              /* there is no such mark */
};

/* What closes, by the places of its marks in the run as it is in the batch: a zone; or what is no zone, and
 * has one place. */
typedef struct shape_item {
    uint8_t start, end;
    uint8_t kind; /* dl_event_kind */
    uint8_t depth;
    bool tells_launch; /* a zone of firmware or kernel: which launch it is of is kept */
} shape_item;

/* The difference between two marks: of their stamps and of their codes. Two at once where the processor can.
 */
typedef uint64_t shape_step __attribute__((vector_size(16)));

/* Begins with a firmware start; every zone that begins in it ends in it. */
typedef struct pair_shape {
    struct pair_shape *next; /* of its list */
    uint64_t hash;
    shape_step first; /* the first mark's code, without stream and frame; its stamp is 0 */
    /* In the order of their stamps: how the code differs from that of the mark before, and by how much the
     * stamp does at least (more than 0 only where the log is not in order: marks with the same stamp have an
     * order of their own). The first is not used. */
    const shape_step *steps;
    const uint8_t *order;    /* places of the marks in the order of their stamps; NULL: they are in order */
    const shape_item *items; /* in the order in which they close */
    const dl_run_item *told; /* the same for consumers, by places in the order of the stamps */
    uint32_t n, n_items;
    uint8_t last;                             /* place of the mark with the last stamp */
    uint8_t fw_end, kernel_start, kernel_end; /* of the ends the last, of the starts the first; SHAPE_NONE */
    uint32_t number;                          /* dl_run.shape */
    bool has_kernel;
    bool once;     /* one zone of the firmware, and of the kernel one at most */
    bool has_data; /* values or sums are among them: marks that may be rare */
} pair_shape;

/* What counts an item on a stream. */
typedef union shape_counter {
    dl_key *key;     /* of a zone */
    uint32_t series; /* of what is none: its number in the table; DL_NONE: it is filtered out */
} shape_counter;

/* A shape on a stream. */
typedef struct stream_shape {
    const pair_shape *shape;
    struct stream_shape *follows; /* what came after it last time */
    struct stream_shape *others;  /* of the stream, that were there before; or NULL */
    shape_counter counters[];     /* of the shape's items */
} stream_shape;

/* pair_shape.c: remembers a run that was ordinary: `sorted` are its marks in the order of their stamps, all of
 * them paired by now, and nothing open before or after. Does nothing when it is too long, when enough is remembered,
 * or when looking at runs has been in vain for long. */
void dl_pair_learn_shape(dl_pair *p, stream_state *s, const pair_run *run);
void dl_pair_free_stream_shapes(stream_state *s);
void dl_pair_free_shapes(dl_pair *p);

#endif
