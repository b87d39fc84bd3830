/* What ran on tt-metal's devices: one entry for each time that a program ran, from cpp_device_perf_report.csv
 * or, where that is missing, from the device log by the decoder. */
#ifndef DEVLOG_TT_METAL_EXEC_H
#define DEVLOG_TT_METAL_EXEC_H

#include "decode/decode.h"
#include "tt_metal/counters.h"
#include "tt_metal/dispatch.h"
#include "tt_metal/gaps.h"
#include "tt_metal/host.h"
#include "tt_metal/kept.h"
#include "tt_metal/noc.h"
#include "tt_metal/sync.h"

#define TT_PERF_NAME "cpp_device_perf_report.csv"

enum { TT_RISCS = DL_RISC_OTHER };

#define TT_NEVER UINT64_MAX /* of starts: there was none */

/* What a program did, over all cores: as tt-metal's analyses define it (device_post_proc_config.py at
 * afc1708). Starts are TT_NEVER and ends 0 where there was none. */
typedef struct tt_cycles {
    uint64_t fw_start, fw_end;
    uint64_t kernel_start, kernel_end, last_start;
    uint64_t dm_start; /* first kernel start on BRISC, NCRISC or ERISC */
    uint64_t risc_start[TT_RISCS], risc_end[TT_RISCS];
    uint64_t cb_wait, cb_reserve; /* sums of the circular buffer waits */
    uint64_t trace_fw_start, trace_fw_end, trace_kernel_start, trace_kernel_end; /* of a whole trace */
    uint64_t core_min, core_max, core_sum;
    uint64_t lead_at, lead; /* of the core that had the first marker: when, and its kernels' duration */
    uint64_t core_at, core_start, core_end; /* of the core in hand */
    uint64_t seen[4]; /* cores that are complete: bits of their places, which may meet */
    uint32_t core;    /* in hand: its place + 1 */
    uint32_t core_n, cores, kernels, zones;
    uint32_t others; /* number + 1 of the first kernel of a RISC that is none of the six */
    bool brisc;      /* BRISC's or ERISC's firmware was seen: the launch itself */
} tt_cycles;

/* A kernel of another RISC: Quasar's. */
typedef struct tt_other {
    uint64_t start, end;
    uint32_t risc, next; /* risc: number in tt_execs.riscs; next: number + 1 */
} tt_other;

typedef struct tt_exec {
    uint64_t id;
    uint64_t start; /* for the order on a device: cycles */
    uint64_t at;    /* its line, of `lines` */
    uint32_t len;   /* of the line; 0: from the device log */
    uint32_t device;
    uint32_t trace, session; /* TT_NONE: none */
    uint32_t cycles;         /* number of its cycles */
    uint32_t counted;        /* session as the log has it: for counters */
    uint32_t execution;      /* the how manieth of its program, from 0, where the report has no replays */
    uint32_t order;          /* in the input */
    uint16_t disagree;       /* RISCs that name another trace: how many launches were put together */
    bool trace_repaired;
    bool quoted; /* its line has quotes */
} tt_exec;

/* How the lines of the C++ report are to be read. */
typedef struct tt_perf_columns {
    char **names;
    size_t n;
} tt_perf_columns;

typedef struct tt_execs {
    tt_found *found; /* borrowed */
    tt_exec *items;  /* as they came */
    size_t n_items;
    uint32_t *sorted; /* numbers of items, by device, id, order; without those whose place others took */
    size_t n;         /* of `sorted` */
    dl_big big_items;
    tt_kept lines;
    tt_perf_columns columns;
    tt_cycles *cycles;
    size_t n_cycles;
    dl_big big_cycles;
    tt_other *others;
    size_t n_others, cap_others;
    char **riscs; /* names of their columns */
    size_t n_riscs;
    dl_decode *decode;
    tt_gaps gaps;
    tt_counters counters;
    tt_dispatch dispatch;
    tt_nocs nocs;
    tt_sync sync;
    size_t
        most_places; /* cores in launches that are kept while the log is read, when they do not come one after the other */
    size_t scattered;           /* bytes in memory for them */
    bool all_places;            /* more than those were kept, as a launch went on after that many others */
    const struct tt_part *part; /* borrowed; NULL: all of the device log is wanted */
    uint64_t read_lines;
    bool from_report;     /* not from the device log */
    bool no_report;       /* the C++ report is empty, or something else */
    bool replays_by_time; /* what ran does not say which replay it was of */
    bool wants_counters;  /* hardware counters of what is wanted of the log have come */
    bool streaming;       /* the device log is the streaming profiler's */
    uint64_t without_id;  /* launches with no host id: the runtime's own */
} tt_execs;

void tt_execs_begin(tt_execs *e, tt_found *found, const char *scratch);
devlog_status tt_execs_read_report(tt_execs *e, const char *path, const tt_progress *progress,
                                   devlog_error *err);
devlog_status tt_execs_parse_report(tt_execs *e, const void *bytes, size_t n, devlog_error *err);
devlog_status tt_execs_read_log(tt_execs *e, const char *path, const dl_decode_options *options,
                                devlog_error *err);
devlog_status tt_execs_parse_log(tt_execs *e, const void *bytes, size_t n, devlog_error *err);
/* Rows of the log beside the C++ report: of counters, dispatch cores, sub-devices. */
devlog_status tt_execs_read_rows(tt_execs *e, const char *path, const tt_progress *progress,
                                 devlog_error *err);
/* The i-th by device, id, order. */
static inline tt_exec *tt_execs_at(const tt_execs *e, size_t i)
{
    return &e->items[e->sorted[i]];
}
/* Those of a program on a device: [*from, *to) for tt_execs_at. */
void tt_execs_range(const tt_execs *e, uint32_t device, uint64_t id, size_t *from, size_t *to);
/* The same for who asks in their order: *at is where the last ones began, at first 0. */
void tt_execs_range_near(const tt_execs *e, uint32_t device, uint64_t id, size_t *at, size_t *from,
                         size_t *to);
void tt_execs_free(tt_execs *e);

/* MHz of a device; 0: unknown. */
double tt_execs_mhz(const tt_execs *e, uint32_t device);
/* Cells of an entry's line of the C++ report; *n: how many, at most `cap`. They are there until those of another are asked
 * for. */
void tt_execs_cells(tt_execs *e, const tt_exec *x, tt_cell *cells, size_t cap, size_t *n);
/* As int(), or int(float()), of Python: false when it is neither. */
bool tt_perf_int(tt_cell c, int64_t *out);

/* Inside: takes the input. */
devlog_status tt_execs_take_rows(tt_execs *e, dl_input *input, devlog_error *err);
/* Inside: entries as they come, and their order at the end. */
tt_exec *tt_execs_add(tt_execs *e);
/* By device and id, and, of one program on one device, as `compare` says, which need not look at these. False: no memory. */
bool tt_execs_sort(tt_execs *e, int (*compare)(const tt_exec *x, const tt_exec *y));
static inline bool tt_same_program(const tt_exec *x, const tt_exec *y)
{
    return x->device == y->device && x->id == y->id;
}

#endif
