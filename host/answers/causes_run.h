/* The path of a run through its launches: which of them, and which time between them, decided when the run ended, and how much longer
 * each may take. Pure, as causes.h is, whose graphs are of one launch each; who fills it in of a log: causes_run_log.c.
 *
 * The model: a launch starts a gap behind the launch that its lane waited for, and what lies between (host, dispatch) takes what it
 * took. A lane is a chip; or all chips together, where the host's calls are known and none overlaps another: the host calls for a
 * launch when the one before has returned. So a zone that takes d longer ends the run later by what d exceeds its slack in its launch
 * and the launch's slack here, together. */
#ifndef DEVLOG_ANSWERS_CAUSES_RUN_H
#define DEVLOG_ANSWERS_CAUSES_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CAUSES_RUN_UNKNOWN INT64_MIN

/* All of one clock. */
typedef struct causes_run_launch {
    uint32_t chip, number; /* number: the caller's */
    int64_t start, end;    /* on the device */
    /* The host called for it, had it back, and pulled its records; CAUSES_RUN_UNKNOWN. */
    int64_t call_start, call_end, pull_start, pull_end;
    /* What follows. */
    size_t before; /* the launch that its lane waited for; SIZE_MAX: none */
    bool on_path;
    int64_t slack; /* how much longer it may take before the run ends later */
    int64_t
        most; /* by how much a shorter launch can make the run shorter, before another path is the longest */
} causes_run_launch;

/* What lies between a launch and the one before, all of it together the gap. */
typedef struct causes_run_gap {
    int64_t whole;
    int64_t back;    /* from the device's end to the host's having it back */
    int64_t pull;    /* pulling records: the profiler's own */
    int64_t host;    /* until the host called */
    int64_t forward; /* from the call to the device's start: dispatch */
    bool known;      /* otherwise only `whole` is */
} causes_run_gap;

typedef struct causes_run {
    causes_run_launch *launches; /* by start */
    size_t n;
    bool by_host; /* one lane: the host's calls */
    int64_t start, end;
} causes_run;

/* Takes launches[0..n), sorts them and fills them in; they stay the caller's. */
devlog_status causes_run_make(causes_run *r, causes_run_launch *launches, size_t n, devlog_error *err);
/* In front of launch i; of one without a launch before, since the run's start. */
causes_run_gap causes_run_gap_of(const causes_run *r, size_t i);

#endif
