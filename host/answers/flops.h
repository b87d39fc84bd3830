/* FLOPs and bytes of ops, by tables/ops.json (which users extend), and what limits each op: against the peaks of its board
 * (boards/ARCH.json, "peaks"). What a report does not say is not invented: no shapes, no FLOPs; no architecture, no peaks. */
#ifndef DEVLOG_ANSWERS_FLOPS_H
#define DEVLOG_ANSWERS_FLOPS_H

#include "answers/answer_run.h"

typedef struct flops_options {
    const char *table; /* NULL: tables/ops.json of the installation */
    const char *board; /* NULL: the architecture that the report says, by its name */
    double dram;       /* bytes per second; 0: the board's */
} flops_options;

/* The constants that were used. NAN: unknown. */
typedef struct flops_peaks {
    char board[64];
    double flops_per_cycle; /* of one core at one phase of fidelity */
    double dram;            /* bytes per second, of the chip */
    double mhz;             /* of the clock that the peaks were worked out with */
    const char *mhz_source;
    char why[200]; /* why there are none; "": there are */
} flops_peaks;

/* Fills in flops, bytes, bound and share of each op. */
devlog_status flops_apply(answer_run *r, const flops_options *o, flops_peaks *peaks, devlog_error *err);

#endif
