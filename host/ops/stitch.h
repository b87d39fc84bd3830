/* Stitching: the ops of the host beside what the device did for them, row by row. Joined by id, never by
 * order or by time: the op id that each launch carried to the device and back, or, in a log without those,
 * the number of the launch, which both logs have. What cannot be joined is kept and marked. */
#ifndef DEVLOG_OPS_STITCH_H
#define DEVLOG_OPS_STITCH_H

#include "ops/op_device.h"
#include "ops/op_log.h"

enum {
    OP_NOTE_NO_DEVICE = 1,  /* it launched programs on a profiled device, and none of them is in its log */
    OP_NOTE_PARTLY = 2,     /* some of its launches are not in the device log */
    OP_NOTE_NO_OP = 4,      /* launches that no op asked for */
    OP_NOTE_UNKNOWN_OP = 8, /* launches of an op that is not in the op log */
    OP_NOTE_CORES_TWICE = 16,
    OP_NOTE_CORES_DIFFER = 32,  /* the device log has not the cores that were launched */
    OP_NOTE_BESIDE = 64,        /* a launch that began earlier ran beside it */
    OP_NOTE_INSTRUCTIONS = 128, /* its chip is a simulator without timing */
};

/* What several launches did as one row. Between the first start and the last end of each there may be time in
 * which none of them ran. */
typedef struct op_merged {
    op_cycles cycles;
    uint64_t fw_idle, kernel_idle, dm_idle, risc_idle[OP_RISCS];
    uint64_t first_to_last; /* summed up over the launches */
} op_merged;

/* One row of the report: launches of an op that followed one another on a chip, an op without device data, or
 * a launch without an op. So no cycle of a chip is in two rows, unless launches ran beside one another. */
typedef struct op_row {
    uint32_t op;                 /* number in host->ops; DL_NONE: none */
    uint32_t device_op;          /* the same op in device->ops; DL_NONE: none */
    uint32_t id;                 /* GLOBAL CALL COUNT; 0: give one */
    uint32_t chip;               /* index into the decoder's chips; DL_NONE: no device data */
    uint32_t boot;               /* of the chip: rows of two boots are not on one clock; 0: not known */
    uint32_t launch;             /* first launch, number in the decoder's launches */
    uint32_t n_launches, merged; /* merged: number + 1 of the cycles of several launches */
    uint16_t notes;
    bool has_latency;
    int64_t latency, dm_latency; /* cycles since the op before it on the same chip; 0 for the first */
    uint64_t idle;               /* cycles between its launches */
    uint64_t overlap; /* of its time: cycles in which a launch of another row, begun earlier, ran too */
    uint32_t order;   /* of rows of one op on a chip */
} op_row;

typedef struct op_stitch {
    op_log *host;      /* whose times are reported; NULL: no op log */
    op_log *device;    /* of the run that the device data is of; the same as host when there was one run */
    dl_decode *decode; /* NULL: no device log */
    op_device *cycles;
    const dl_filter *apart; /* launches that it lets through share no row with others; NULL: all do */
    bool periodic; /* a periodic capture: launches before its first and behind its last were not recorded */
    uint32_t points_from, points_to; /* signposts behind these ops are in the report */
    op_row *rows;
    size_t n_rows;
    dl_big big_rows; /* where they are */
    op_merged *merged;
    size_t n_merged, cap_merged;
    /* What was found. */
    uint64_t launches, launches_stitched, launches_without_op, launches_of_unknown_ops;
    uint64_t launches_without_ids; /* of those without an op: the device log carries no ids at all */
    uint64_t launches_of_other_runs, other_run; /* other_run: the id of one of them */
    uint64_t launches_missing;                  /* that the op log has and the device log has not */
    uint64_t ops_not_recorded; /* whose launches are all before or behind the periodic capture: left out */
    uint64_t launches_twice;   /* in the device log, to the cycle: left out once */
    uint64_t launches_with_other_cores; /* in the device log than in the op log */
    uint64_t ops_without_device;        /* that launched something and have no device data */
    uint64_t contradictions; /* launches whose op is another one in the op log; the device's word is taken */
    bool runs_differ;        /* two runs that did not do the same: host is then the device's run */
    char difference[512];
} op_stitch;

/* All inputs are borrowed and must outlive the result. `device` may be NULL: same as `host`; any other may be
 * NULL when there is none, and so may `apart`. `periodic`: the device log is a periodic capture. `scratch`: a folder in which it may take room instead of memory (base/big.h). Free
 * with op_stitch_free. */
devlog_status op_stitch_make(op_stitch *out, op_log *host, op_log *device, dl_decode *decode,
                             op_device *cycles, const dl_filter *apart, bool periodic, const char *scratch,
                             devlog_error *err);
/* To be called for every row or launch that a walk over them comes to: lets go of what lies behind. */
void op_stitch_passed(op_stitch *s, size_t number);
/* latency.c: fills in the latencies of the rows. False: no memory. */
bool op_stitch_latencies(op_stitch *s);
void op_stitch_free(op_stitch *s);

/* What the device did for a row; NULL: nothing is known. */
const op_cycles *op_stitch_cycles(const op_stitch *s, const op_row *row);
/* True when something that happened is not in the rows. */
bool op_stitch_lost(const op_stitch *s);

#endif
