/* What one RISC recorded in one launch, as marks: default markers, zones, values, text, losses. The same
 * marks come out of a log that is written from them (decode/log/log_write.h). */
#ifndef DEVLOG_DECODE_RAW_MARKS_H
#define DEVLOG_DECODE_RAW_MARKS_H

#include "decode/mark.h"
#include "decode/price/price.h"

/* Four zones' records in a row, as they come over and over: their codes of 16 bits each, and how often they have come again. */
typedef struct raw_quad {
    uint64_t codes; /* 0: none */
    uint32_t n;
} raw_quad;

enum { RAW_QUAD_BITS = 6, RAW_SPANS = 64, RAW_SHAPES = 256 };

/* raw_shapes.c: those that have been met. Zero to begin with. */
typedef struct raw_shapes {
    record_shape *all[RAW_SHAPES]; /* by hash */
    uint64_t met[RAW_SHAPES];      /* hashes of what came once */
    size_t bytes;
    uint32_t *stamps; /* of the records in hand */
    uint32_t cap;
} raw_shapes;

/* What the records of a RISC and launch are, at one look, without their codes' meaning. */
typedef struct raw_look {
    dl_price_counts counts;
    bool ordinary; /* all are whole, in order and in time, as dl_recorded wants it */
    uint32_t n;    /* records */
    uint32_t marks;
    uint64_t last; /* stamp of the last one */
    /* While it looks: by hash, and the places that are taken. */
    raw_quad quads[1 << RAW_QUAD_BITS];
    uint8_t taken[1 << RAW_QUAD_BITS];
    uint32_t n_taken, in_a_row; /* words of zones' records that were in a row last */
    record_planes planes[RAW_SPANS];
    raw_shapes shapes;
    const record_shape *shape;   /* of these records; NULL: not known */
    const record_shape *counted; /* the counts are its; NULL: of no shape */
} raw_look;

/* Where records begin in the planes of a core (dl_capture_planes), behind those of the RISCs before. */
typedef struct raw_place {
    const uint16_t *heads, *lows;
    const uint32_t *rest;
    uint32_t last, high; /* low half of the last stamp, what is above the last code */
    bool lost;           /* a record is of two spans: the place is not known */
} raw_place;

/* What is known of a RISC from its launches of before. */
typedef struct raw_known {
    uint32_t stream;
    uint8_t known;       /* bits: which of these are */
    uint64_t code[4];    /* of the marks of its default markers */
    record_shape *shape; /* of its last records that had one */
} raw_known;

/* raw_extremes.c: the least and the greatest passes of sums so far, by stream and site. Zero to begin with. */
typedef struct raw_extremes {
    struct raw_extreme *slots; /* hash table, at most half full */
    uint32_t n, n_slots;
} raw_extremes;

/* Whether one of a record's is beyond those so far, which it then is not any more. */
bool raw_extremes_widen(raw_extremes *all, uint32_t stream, uint32_t site, uint32_t least, uint32_t greatest);
void raw_extremes_free(raw_extremes *all);

typedef struct raw_risc {
    uint32_t chip;           /* number of the device in logs */
    uint16_t core_x, core_y; /* logical coordinates */
    const char *risc;        /* its name */
    const devlog_control *control;
    const record_span *spans; /* in the order in which they were written */
    uint32_t n_spans;
    const dl_elf *elf;      /* of the kernel; may be NULL */
    const char *source;     /* of the kernel without ELF file, whose markers are numbers; NULL: not known */
    const dl_price *prices; /* of its sites, two each (price.h); NULL: not known */
    dl_record_codes *codes; /* of that ELF file, or of none; may be NULL, which is slower */
    raw_known *known;       /* of the RISC; NULL: nothing */
    const raw_look *look;   /* at these records; NULL: marks of all are wanted */
    const struct dl_capture_core
        *unjoined;          /* whose planes the look was at, and whose words are not there; NULL: they are */
    uint32_t index;         /* of the RISC on its board, as its events carry it */
    const uint32_t *events; /* event stream of the tile, or NULL */
    uint32_t n_events;      /* words */
    uint64_t events_from;   /* cycles; no event is older: FW start of the manager */
    uint64_t events_until;  /* none is younger: its FW end, 0: not known */
    uint64_t ahead;         /* cycles that are taken from all stamps */
    uint32_t line;          /* of all marks, for messages */
    raw_extremes *
        extremes; /* without meta data: those of sums that are told already need not be again; NULL: all are told */
    bool no_meta;      /* nobody lists marks: meta data only where tables show it */
    bool tell_dropped; /* marks of DL_DROPPED_ZONE, where the dropping began */
} raw_risc;

/* A value by tt-metal's old name (include/devlog/tt_metal/tools/profiler/kernel_profiler.hpp) is an event
 * whose id is the value. */
#define RAW_MARK_TIME "mark_time"

/* Zone names of what the firmware itself records. */
#define RAW_STALL_ZONE "DEVLOG-STALL" /* a flush to DRAM held the RISC up */

/* The records of a RISC, and between which stamps they are. */
record_input raw_records(const raw_risc *in);
/* raw_look.c: looks at them. `look` is zero to begin with, and may be used again. */
void raw_look_at(const record_input *records, raw_look *look);
/* The same of records in planes, which begin at a place, that goes on behind them; look->planes says where they are. Where they
 * are not ordinary, and where the place is lost, the words say how many there are of each code. */
void raw_look_at_planes(const record_input *records, raw_place *place, raw_known *known, raw_look *look);
void raw_look_free(raw_look *look);
/* raw_shapes.c: whether the heads behind the first are those of a shape, and all low halves are near; then the stamps are made, and
 * *cycles is what the last is behind the first. `first`: that of the first record. */
bool raw_shape_fits(raw_shapes *all, const record_shape *shape, const uint16_t *heads, const uint16_t *lows,
                    uint32_t n, uint32_t first, uint64_t *cycles);
/* Records of zones alone that have come: their shape, when they came before. NULL: not known yet. */
record_shape *raw_shape_of(raw_shapes *all, const uint16_t *heads, uint32_t n, const dl_price_counts *counts);
void raw_shapes_free(raw_shapes *all);

/* Adds the marks of one RISC and launch to a batch, in order of time; or, where a look is given and all records are
 * ordinary, has the batch say that they are (dl_marks.recorded). */
devlog_status raw_marks(dl_tables *tables, const raw_risc *in, dl_marks *out, record_losses *losses,
                        devlog_error *err);

/* The manager's FW end, which nothing in a launch is behind; 0: it has not ended. */
uint64_t raw_fw_end(const devlog_control *manager);

/* What the RISC lost in the launch, by zone of dl_loss_zone: every output says this, the marks of
 * raw_risc.tell_dropped, and nothing else. Zero for DL_LOSS_DROPPED: those marks say it, as dropped markers
 * have a place in time. */
void raw_lost(const devlog_control *control, const record_losses *found, uint64_t lost[DL_LOSS_ZONES]);

#endif
