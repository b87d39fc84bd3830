/* What one marker costs, measured on the simulator instruction by instruction. Used by tests and by
 * bench/markers; knows nothing of cmocka. */
#ifndef DEVLOG_TESTS_COST_H
#define DEVLOG_TESTS_COST_H

#include "program/program.h"

typedef struct cost {
    double instructions, loads, stores, cycles; /* per pass through the marker */
    double record_bytes;                        /* in L1, per pass */
    uint32_t code_bytes; /* of the marker and its path for a full segment; 0 for object files */
} cost;

typedef struct cost_case {
    const char *source;   /* a kernel like tests/sim/kernels/cost.c */
    const char *baseline; /* the same without the marker, when they are object files; else NULL */
    const char *flags;    /* further compiler flags, or NULL */
    const char *marker;   /* without blanks: DEVLOG_EVENT("e"); NULL for object files */
    uint32_t classes;     /* that are switched on */
    uint32_t few, many;   /* rounds of the two runs; 0: the first 10 and the first 100, which are recorded */
} cost_case;

/* Compiles the kernel with and without the marker, runs both for two numbers of rounds, and takes the
 * differences. `device` is on the built-in simulator, profiled. */
devlog_status cost_measure(devlog_device *device, const cost_case *c, cost *out, devlog_error *err);

#endif
