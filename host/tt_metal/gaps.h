/* How long each core waited between one program's kernels and the next one's: per_core_op_to_op_times.csv, as
 * tt-metal's process_ops_logs.py writes it (get_device_data_generate_report at 00761ba). */
#ifndef DEVLOG_TT_METAL_GAPS_H
#define DEVLOG_TT_METAL_GAPS_H

#include "base/big.h"
#include "base/str.h"
#include "tt_metal/places.h"

#define TT_GAPS_NAME "per_core_op_to_op_times.csv"

/* A launch on the core in hand. */
typedef struct tt_on_core {
    uint64_t begin, fw_start, start, end; /* UINT64_MAX: none; of ends 0 */
} tt_on_core;

typedef struct tt_gap {
    uint64_t start, cycles;
    uint64_t from, to; /* ids of programs; launches until tt_gaps_end */
    uint32_t core;
} tt_gap;

/* The gaps of a core, in pieces of `big` that are linked, a few bytes each. */
typedef struct tt_gap_list {
    size_t first, last; /* pieces: where they begin, + 1 */
    uint64_t start;     /* of the last gap */
    uint32_t to;
    bool any, disordered; /* a gap begins no later than the one before */
} tt_gap_list;

typedef struct tt_gaps {
    size_t n;
    dl_big big; /* the pieces */
    size_t n_bytes, cooled;
    uint64_t *ids; /* of launches: tt_gaps_end */
    size_t n_ids;
    uint64_t *cores;    /* device << 32 | x << 16 | y */
    tt_gap_list *lists; /* of each core */
    struct tt_gap_end {
        uint64_t end, begin;
        uint32_t launch, begun; /* begun: the launch of `begin` */
        bool any;
    } * ends;           /* of each core: what it did last */
    uint32_t last_core; /* that was asked for */
    bool backwards;     /* a core came again with a launch that began before one that it was complete with */
    size_t n_cores, cap_cores;
    tt_on_core *launches; /* of the core in hand, by launch */
    size_t n_launches;
    uint32_t *used; /* launches of the core in hand */
    size_t n_used, cap_used;
    uint64_t in_hand; /* its key + 1; 0: none */
} tt_gaps;

void tt_gaps_begin(tt_gaps *g, const char *scratch);
/* A zone of the firmware or of a kernel. False: no memory. */
bool tt_gaps_zone(tt_gaps *g, const dl_tables *t, const dl_event *event, uint32_t launch, bool kernel);
/* The same for what a core did in a launch; places come core by core. */
bool tt_gaps_place(tt_gaps *g, const tt_place *p);
/* After the last zone: in order, and launches known by their ids, which it takes over. All cores of the log have a column. */
bool tt_gaps_end(tt_gaps *g, const dl_tables *t, uint64_t *ids, size_t n);
void tt_gaps_free(tt_gaps *g);
/* Appends the file; `flush` as for tt_report_write. */
devlog_status tt_gaps_write(tt_gaps *g, dl_str *out, devlog_status (*flush)(void *ctx, devlog_error *err),
                            void *ctx, devlog_error *err);

#endif
