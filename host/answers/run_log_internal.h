/* A log that was read, for the two files that make it: run_log.c reads, run_log_rows.c makes rows of its launches. */
#ifndef DEVLOG_ANSWERS_RUN_LOG_INTERNAL_H
#define DEVLOG_ANSWERS_RUN_LOG_INTERNAL_H

#include "answers/run_log.h"

enum {
    MOST_OPEN = 64, /* zones inside one another whose own times are told apart */
    RISCS = OP_TABLE_RISCS,
};

typedef struct stream_of {
    uint8_t risc; /* of op_table_riscs; RISCS: another */
    bool of_host; /* a thread of a program */
    uint64_t inside[MOST_OPEN];
} stream_of;

/* What a zone took on one stream in ops of one code. */
typedef struct part {
    uint32_t stream, zone, code;
    bool used;
    uint64_t own, total, count, min, max, markers;
    uint64_t unpriced, mostly, times_mostly; /* run_zone */
} part;

/* Kernels of a RISC in a launch. */
typedef struct kernels {
    uint64_t start, end, ends; /* ends: sum of all ends */
    uint32_t n, last;          /* cores; stream of the last */
} kernels;

typedef struct launch_of {
    kernels riscs[RISCS];
} launch_of;

struct run_log {
    devlog_log *log;
    stream_of *streams;
    size_t n_streams;
    part *parts; /* open addressing; cap: a power of two */
    size_t n_parts, cap_parts;
    launch_of *launches;
    size_t n_launches;
    uint32_t *codes; /* by launch: text + 1 of its op's code; 0: not looked up; UINT32_MAX: not wanted */
    run_zone *zones;
    size_t n_zones;
    run_late *lates;
    size_t n_lates;
};

#endif
