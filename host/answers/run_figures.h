/* A few figures of a whole run, by what devlog report says of it: for who measures runs beside one another. */
#ifndef DEVLOG_ANSWERS_RUN_FIGURES_H
#define DEVLOG_ANSWERS_RUN_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* NAN: unknown. */
typedef struct run_figures {
    double busy;   /* ns: of the chip that was busy longest */
    double memory; /* bytes of buffers: of the chip whose L1 and DRAM held most together */
    double flops;  /* of ops whose shapes and kind are known */
    bool lost;     /* what was read lacks something */
} run_figures;

/* Of the folder of a run with device data, its log or its report. */
devlog_status run_figures_of(run_figures *f, const char *input, devlog_error *err);
/* By the op log in a folder: FLOPs of ops with ids from first[i] up to first[i + 1] - 1, for each i below n; NAN: of none are they
 * known. */
devlog_status run_figures_flops(const char *folder, const uint64_t *first, size_t n, double *flops,
                                devlog_error *err);

#endif
