/* Facts of a whole run, by number: what formulas may ask of it, by the names in op_facts.c. Not for those of an op (op_facts.h). */
#ifndef DEVLOG_ANSWERS_RUN_FACTS_H
#define DEVLOG_ANSWERS_RUN_FACTS_H

#include "answers/answer_run.h"

typedef enum run_fact {
    RUN_WALL,
    RUN_BUSY, /* per cent of the wall time, as the verdict has it */
    RUN_GAPS, /* above 0, between ops, added up */
    RUN_KERNELS,
    RUN_COMPILE,
    RUN_HOST,
    RUN_OPS,
    RUN_DEVICE_OPS,
    RUN_HOST_OPS,
    RUN_TIMELESS,
    RUN_CHIPS,
    RUN_CHIP_IMBALANCE, /* busiest by mean */
    RUN_MARKERS,        /* what markers took, in per cent of the kernels of which it is known; captures */
    RUN_MARKERS_LEAST,  /* the same, and half of those of which it is more than half */
    RUN_STALLS,         /* DEVLOG-STALL: time in per cent of the kernels of those RISCs */
    RUN_UNPACK_WAITS,   /* of TRISC0 for pages, in per cent of its kernels */
    /* What kernels moved over the NoC by their own records (devlog/transfers.h); run_access.c: */
    RUN_TRANSFERS,
    RUN_TRANSFER_BYTES, /* of a transfer, on average */
    RUN_UNEVEN,         /* transfers that begin or end inside of 16 bytes, in per cent of them */
    RUN_ONE_TILE,       /* bytes of the tile that is asked most, in per cent of its chip's */
    RUN_ONE_TILE_CORES, /* cores that ask it */
    RUN_NOC_WAITS,      /* at barriers, in per cent of the kernels of RISCs that have some */
    /* What buffers held at most; run_access.c: */
    RUN_DRAM_BANKS,
    RUN_DRAM_PEAK,
    RUN_DRAM_BANK_PEAK, /* in the fullest bank */
    RUN_LOST,
    RUN_CLOCK_ERROR,
    RUN_FACTS
} run_fact;
typedef enum run_text {
    RUN_UNEVEN_AT,   /* core, RISC and zone with most of these transfers */
    RUN_SMALL_AT,    /* the same of those of less than RUN_SMALL_BYTES */
    RUN_ONE_TILE_AT, /* chip and tile, and who moves most to or from it */
    RUN_DRAM_BY,     /* the largest buffer that is in one bank, and where it was made */
    RUN_MARKERS_WHY, /* that markers took more than half of kernels, and of which part of all */
    RUN_TEXTS
} run_text;
enum { RUN_SMALL_BYTES = 256 };
typedef struct run_facts {
    double values[RUN_FACTS];
    const char *texts[RUN_TEXTS]; /* into rooms; NULL: unknown */
    char rooms[RUN_TEXTS][192];
} run_facts; /* is not copied */
void run_facts_of(run_facts *f, const answer_run *r);
/* Of them those on access patterns. (run_access.c) */
void run_facts_of_access(run_facts *f, const answer_run *r);

#endif
