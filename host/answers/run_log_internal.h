/* A log that was read, for the files that make it: run_log.c reads, run_log_found.c sums up, run_log_rows.c makes rows of its launches. */
#ifndef DEVLOG_ANSWERS_RUN_LOG_INTERNAL_H
#define DEVLOG_ANSWERS_RUN_LOG_INTERNAL_H

#include "answers/launch_rows.h"
#include "answers/run_log.h"
#include "decode/decode.h"

#define NOT_WANTED UINT32_MAX /* code of a launch that nobody asks for */

enum {
    MOST_OPEN = DL_SUMS_DEEP, /* zones inside one another whose own times are told apart */
    RISCS = OP_TABLE_RISCS,
};

typedef struct stream_of {
    uint8_t risc; /* of op_table_riscs; RISCS: another */
    bool of_host; /* a thread of a program */
    bool known;   /* it has been looked up */
    size_t last;  /* the part that it counted into last */
    uint64_t inside[MOST_OPEN];
} stream_of;

/* What a zone took on one stream in ops of one code. */
typedef struct part {
    uint32_t stream, zone, code;
    bool of_kernel;
    size_t next; /* the part of its stream that came behind it the last time */
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

typedef struct asked {
    launch_rows rows; /* with their codes */
    bool all, made;
    bool whole;       /* nothing is left out of the run: then its host zones are asked for, too */
    uint32_t *by_row; /* made tables: code + 1 by row */
    size_t n_rows;
} asked;

struct run_log {
    dl_decode *decode;
    dl_decode *own;  /* the same when nobody else drives it */
    devlog_log *log; /* what it knows */
    asked asked;
    stream_of *streams;
    size_t n_streams;
    part *parts; /* open addressing; cap: a power of two */
    size_t n_parts, cap_parts;
    uint32_t *slots; /* by what a part is of: its number + 1 */
    size_t n_slots;
    launch_of *launches;
    size_t n_launches;
    uint32_t *codes; /* by launch: text + 1 of its op's code; 0: not looked up; UINT32_MAX: not wanted */
    run_zone *zones;
    size_t n_zones;
    run_late *lates;
    size_t n_lates;
};

/* run_log_ops.c: the ops of a run; false: out of memory. And the code of the op that ran a launch, as text + 1, or NOT_WANTED; `start` is
 * when something in the launch began. */
bool run_log_ask(asked *a, const struct answer_run *r, bool made);
uint32_t run_log_code_of(const asked *a, const devlog_log *log, uint32_t number, uint64_t start);

/* run_log_found.c: zones and lates; false: out of memory. */
bool run_log_find_zones(run_log *l);
bool run_log_find_late(run_log *l);

#endif
