/* Medians of a run's ops and zones, exact: reports have averages. Of zones the run's log is decoded once more, with every duration kept. */
#ifndef DEVLOG_ANSWERS_MEDIANS_H
#define DEVLOG_ANSWERS_MEDIANS_H

#include "answers/report_job.h"

typedef struct run_median {
    char *name;          /* of ops as OP STATISTICS has it; of zones with their RISC before it */
    double median;       /* in the unit of the report */
    double count, total; /* of what: of these it is the median */
} run_median;

typedef struct run_medians {
    run_median *items; /* by name */
    size_t n;
} run_medians;

/* With their shapes. */
devlog_status run_medians_of_ops(report_job *j, run_medians *out, devlog_error *err);
/* Empty where the run has no log, or its chips have several clocks. */
devlog_status run_medians_of_zones(const report_job *j, run_medians *out, devlog_error *err);
void run_medians_free(run_medians *m);
/* NAN: it is not known, or not of as many, or not of the same total. */
double run_median_of(const run_medians *m, const char *name, double count, double total);

#endif
