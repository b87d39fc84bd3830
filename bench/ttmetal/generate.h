/* Folders as tt-metal's profiler writes them, made up: the same bytes for the same arguments. For the bench and for
 * developers who want a large folder. Small ones with losses of every kind: tests/ttmetal/folders.py. */
#ifndef DEVLOG_BENCH_TTMETAL_GENERATE_H
#define DEVLOG_BENCH_TTMETAL_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct run_options {
    uint64_t ops; /* programs that run, over all chips */
    bool log; /* a device log with counters, 64 cores of five RISCs; otherwise cpp_device_perf_report.csv */
    bool by_time;   /* the log in the order of time, and not core by core */
    bool full;      /* every op has its whole message; otherwise each program once, and then the short one */
    unsigned zones; /* in tracy_ops_times.csv for each op, besides its own: calls in it, and others */
} run_options;

/* Into a folder that is there. Chips 0 to 3; a third of the ops are in traces of 50 ops, which are captured once and
 * replayed; a signpost for each thousand. False: it could not be written, and errno says why. */
bool generate_run(const char *folder, const run_options *o);

#endif
