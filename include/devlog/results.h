/* devlog/results.h: what the launches of a device took, inside the program that launches them: the numbers of
 * the op report, and the statistics of every zone. They are worked out of what devlog_device_options.results
 * keeps in memory, when they are asked for, and no file is read but the ELF files of kernels, for names.
 *
 *     devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_ON, .results = DEVLOG_KEEP_LATEST);
 *     ...
 *     devlog_launch_program(device, program, &err);
 *     devlog_results *r;
 *     if (!devlog_results_latest(device, &r, &err))
 *         for (size_t i = 0; i < r->launches[0].n_measures; i++)
 *             use(r->launches[0].measures[i].name, r->launches[0].measures[i].value);
 *     devlog_results_free(r);
 *
 * The numbers are those that devlog makes of the capture: `devlog ops --device-log capture.devlog`, and
 * `devlog decode capture.devlog`. */
#ifndef DEVLOG_RESULTS_H
#define DEVLOG_RESULTS_H

#include "devlog/decode.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* One column of the op report that is measured on the device: "DEVICE KERNEL DURATION [ns]". */
typedef struct devlog_measure {
    const char *name;
    bool known;    /* otherwise the cell of the report is empty */
    int64_t value; /* in the unit that the name says: ns, or cycles */
} devlog_measure;

typedef struct devlog_launch_results {
    uint32_t launch; /* devlog_log_launch of the results' log */
    uint32_t chip;   /* as logs number it (devlog_device_options.slot) */
    uint64_t number; /* 1, 2, ... on this device: the run host id of logs */
    uint32_t op;     /* that asked for it (devlog_op_start); 0: none */
    uint32_t cores;  /* that ran firmware or a kernel */
    size_t n_measures;
    const devlog_measure *measures; /* in the order of the report; every launch has the same */
} devlog_launch_results;

/* Everything in it is its own, until it is freed. */
typedef struct devlog_results {
    size_t n_launches; /* in the order in which they were launched */
    const devlog_launch_results *launches;
    /* The records of these launches as a log that has been read: devlog_log_statistics gives count, sum, min,
     * max, median and percentiles of every zone, devlog_log_finding what was lost. Its batches have been
     * passed over. */
    devlog_log *log;
} devlog_results;

/* Of the last launch that has been pulled. Its "OP TO OP LATENCY [ns]" is the time since the launch before it.
 * The clock of the host is left out of account: the log does not tell devlog_log_host_ns. What it costs grows
 * with that launch's records (docs/library.md). DEVLOG_ERR_STATE when the device is not profiled or keeps no
 * results. Before the first launch there are no launches in it. */
devlog_status devlog_results_latest(devlog_device *device, devlog_results **out, devlog_error *err);

/* Of all launches since the device was opened. What it costs grows with all of their records. DEVLOG_ERR_STATE
 * when the device does not keep them all (DEVLOG_KEEP_ALL). */
devlog_status devlog_results_all(devlog_device *device, devlog_results **out, devlog_error *err);

/* NULL is allowed. */
void devlog_results_free(devlog_results *results);

/* ---- Timing a part of the program --- */

/* What is measured of each run. Bytes are the most at one moment of it. */
typedef enum devlog_timed_what {
    DEVLOG_TIMED_WALL,    /* ns of the host, without the time in which records were pulled */
    DEVLOG_TIMED_CPU,     /* ns of processor time, of all threads */
    DEVLOG_TIMED_COMPILE, /* ns inside devlog_compile_program */
    DEVLOG_TIMED_DEVICE, /* ns in which the device ran any launch; known when it is profiled and was not between periodic
                             captures */
    DEVLOG_TIMED_HOST_MEMORY, /* bytes of the process */
    DEVLOG_TIMED_L1,          /* bytes of buffers in L1, in DRAM */
    DEVLOG_TIMED_DRAM,
    DEVLOG_TIMED_FLOPS, /* of ops whose shapes and kind are known (docs/roofline.md); needs a log of ops */
    DEVLOG_TIMED_WHATS
} devlog_timed_what;

/* Of all runs that count. Quantiles are interpolated between neighbours. */
typedef struct devlog_spread {
    uint32_t n; /* runs of which it is known; 0: the others are NAN */
    double median, min, quarter, three_quarters, max;
} devlog_spread;

typedef struct devlog_timing {
    uint32_t repeats, warm_up; /* runs that were made */
    devlog_spread of[16];      /* by DEVLOG_TIMED_* */
} devlog_timing;

#define DEVLOG_NO_WARM_UP 0xFFFFFFFFu

/* All members but the size may be 0 or NULL. */
typedef struct devlog_timed_options {
    size_t size;      /* DEVLOG_TIMED_OPTIONS() sets it */
    uint32_t repeats; /* runs that count; 0: 5 */
    uint32_t warm_up; /* runs before them that do not; 0: 1; DEVLOG_NO_WARM_UP: none */
    devlog_ops *ops;  /* that the function's ops are written to: for FLOPs */
} devlog_timed_options;
#define DEVLOG_TIMED_OPTIONS(...) DEVLOG_OPTIONS_(devlog_timed_options, __VA_ARGS__)

/* What is timed: DEVLOG_OK, or why no more runs are wanted, which devlog_timed hands on. */
typedef devlog_status (*devlog_timed_function)(void *context, devlog_error *err);

/* Runs a function several times, as it is, and says what it took: nothing in it changes, and nothing has to be marked. `device` is
 * the one that it uses, or NULL; it may not close it. Nobody else uses the device meanwhile. */
devlog_status devlog_timed(devlog_device *device, devlog_timed_function function, void *context,
                           const devlog_timed_options *options, devlog_timing *out, devlog_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
