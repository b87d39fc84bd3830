/* What a device log or capture says of a run beyond what an op report has: zones of each op by RISC, which core was last,
 * how well clocks are known, and what was lost. One pass over the log, its own or that of a decoder at work. Where there is no report, its launches are made the
 * rows of one. Not for what follows from it. */
#ifndef DEVLOG_ANSWERS_RUN_LOG_H
#define DEVLOG_ANSWERS_RUN_LOG_H

#include "answers/launch_rows.h"
#include "decode/decode.h"
#include "devlog/decode.h"
#include "ops/op_table.h"

typedef struct run_log run_log;
struct answer_run;
struct answer_chip;

/* A zone of one RISC in ops of one code, over all cores and launches. Times are cycles of the first chip's clock. */
typedef struct run_zone {
    uint32_t code; /* text of the run's table; 0: launches without ops */
    const char *risc, *name;
    const char *file; /* "" unknown */
    uint32_t line;
    devlog_zone_role role;
    uint64_t count;
    double total, own, min, max; /* own: without the zones inside it */
    double markers;              /* of total, what markers inside it took; captures tell, otherwise 0 */
    double unpriced;             /* of total, where that cannot be stated ... */
    double mostly; /* ... because markers took more than half of the kernel; and how often that was so: */
    uint64_t times_mostly;
    uint32_t cores;
    uint32_t chip; /* the core where it took longest, and how long all of it took there */
    devlog_core worst;
    double worst_total;
} run_zone;

/* Which core was last in ops of one code. */
typedef struct run_late {
    uint32_t code;
    uint64_t launches; /* on two cores or more */
    double cycles;     /* sum over launches: the last core's end minus the mean end on that RISC */
    const char *risc;  /* where the core that was last most often was last */
    uint32_t chip;
    devlog_core core;
    uint64_t times; /* how often that core was last */
} run_late;

/* Reads logs. `r` is the run that zones are of: its ops, by ids of launches; NULL: all launches, of no op. `made`: the table
 * of `r` came from the same logs. `parts`: only what it lets through of cores, RISCs, zones and time; NULL: everything. Free with
 * run_log_free, also after a failure. */
devlog_status run_log_read(run_log **out, const char *const *paths, size_t n, const struct answer_run *r,
                           bool made, const dl_filter *parts, devlog_error *err);
/* The same beside a decoder that the caller drives and that filters nothing: before its first input; the runs that it is to
 * have; and when the decoder has finished. Free it before the decoder. */
devlog_status run_log_begin(run_log **out, dl_decode *decode, const struct answer_run *r, devlog_error *err);
dl_run_sink run_log_runs(run_log *l);
devlog_status run_log_end(run_log *l, devlog_error *err);
void run_log_free(run_log *l);
/* Adds a row for every launch to an empty table. *cycles: a clock is unknown, and durations are cycles. */
devlog_status run_log_rows(const run_log *l, op_table *t, bool *cycles, devlog_error *err);
/* Of the first chip; 0: unknown. */
double run_log_mhz(const run_log *l);
/* Whether kernels recorded what they wait for (causes_log.h). */
bool run_log_has_waits(const run_log *l);
/* Of which op's code a launch is, as texts of the run's table; 0: of no op; UINT32_MAX: it is not wanted. `log`: a run_log. */
uint32_t run_log_op_of(const void *log, uint32_t launch);
/* What the log knows of a chip. */
void run_log_chip(const run_log *l, struct answer_chip *c);

/* Launch number `i` of the log, from 0; false: there are no more. */
bool run_log_launch(const run_log *l, uint32_t i, launch_key *out);
const run_zone *run_log_zones(const run_log *l, size_t *n);
const run_late *run_log_lates(const run_log *l, size_t *n);
/* dl_losses_no_rows of the `n` inputs of which this is the first. */
devlog_status run_log_no_rows(const run_log *l, const char *first, size_t n, devlog_error *err);
size_t run_log_findings(const run_log *l);
devlog_finding run_log_finding(const run_log *l, size_t i);
uint64_t run_log_lost(const run_log *l);     /* kinds of loss */
uint64_t run_log_violated(const run_log *l); /* how often something was not as a kernel expects */

#endif
