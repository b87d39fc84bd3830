/* What the analyzer's files share. Included by analyzer.c and analyzer_finish.c. */
#ifndef DEVLOG_DECODE_ANALYZER_INTERNAL_H
#define DEVLOG_DECODE_ANALYZER_INTERNAL_H

#include "decode/analysis/analyzer.h"

/* How an analysis is computed; chosen once. */
typedef enum plan {
    PLAN_ADJACENT, /* all of its markers are of one RISC at a time: a state per stream */
    PLAN_MERGED,   /* adjacent, of several RISCs: markers are kept and ordered at the end */
    PLAN_FIRST_LAST,
    PLAN_FIRST_END, /* adjacent from T0: the first end */
    PLAN_SUM,
    PLAN_EVENT,
} plan;

/* What a state belongs to. */
typedef enum scope {
    SCOPE_LEAF,        /* stream, core or chip, by `across` */
    SCOPE_LAUNCH,      /* the leaf is the launch's chip */
    SCOPE_LAUNCH_LEAF, /* a launch on one core or RISC */
} scope;

/* The leaf that durations are counted for. */
typedef enum leaf_kind {
    LEAF_STREAM,
    LEAF_CORE,
    LEAF_CHIP,
    LEAVES,
} leaf_kind;

/* First start and last end; or sum and count; or an open start. */
typedef struct span {
    uint64_t first, last;
} span;

#define NO_START UINT64_MAX /* span.first */

typedef struct account {
    dl_summary summary;
    uint64_t first_start;
    dl_samples samples;
} account;

/* Markers of one stream, in the order of the log: differences of stamps, shifted by two, with these bits. */
enum { IS_START = 1, IS_END = 2 };

typedef struct kept {
    dl_samples steps;
    uint64_t last;
} kept;

typedef struct job {
    const dl_analysis *analysis;
    plan plan;
    scope scope;
    leaf_kind leaf;
    span *spans; /* by stream, leaf, launch or cell */
    uint32_t n_spans;
    kept **kept; /* by stream */
    uint32_t n_kept;
    account **accounts; /* by leaf */
    uint32_t n_accounts;
    uint64_t *incomplete; /* by chip */
    dl_analysis_event *events;
    size_t n_events, cap_events;
    dl_analysis_result *results;
    size_t n_results;
} job;

/* Pairs of numbers, themselves numbered in order of appearance: launches on leaves, and cores of chips. */
typedef struct cell {
    uint32_t launch, leaf;
} cell;

typedef struct cells {
    cell *items;
    uint32_t n, cap;
    uint32_t *slots, n_slots; /* number + 1 */
} cells;

/* What is known about a stream: which jobs' conditions it can meet, and where it belongs. */
typedef struct stream_info {
    uint64_t starts, ends;
    uint32_t chip, core;
    uint32_t launch;  /* that the cells are of */
    uint32_t cell[2]; /* of LEAF_STREAM and LEAF_CORE */
} stream_info;

typedef struct site_info {
    uint64_t starts, ends;
} site_info;

struct dl_analyzer {
    dl_decode *decode;
    const dl_analysis_list *list;
    job jobs[DL_MAX_ANALYSES];
    uint64_t timed;   /* jobs with a timer id */
    site_info *sites; /* site * DL_ROW_TYPES + type */
    uint32_t n_sites;
    stream_info *streams;
    uint32_t n_streams;
    cells cores;    /* chip and x, y (core_key); a core's number is its place */
    cells cells[2]; /* launches on streams (LEAF_STREAM) and on cores (LEAF_CORE) */
    uint64_t t0[DL_MAX_CHIPS];
};

/* analyzer.c: counts one duration. */
bool dl_analyzer_count(job *j, uint32_t leaf, uint64_t start, uint64_t duration);
/* analyzer.c: a start without an end. */
bool dl_analyzer_incomplete(job *j, uint32_t chip);
devlog_status dl_analyzer_no_memory(devlog_error *err);

#endif
