/* Filters by core, RISC, zone and time, for answers, which are of launches: those in which something gets past the filters. Not
 * for what of a launch they leave out (run_log.h). */
#ifndef DEVLOG_ANSWERS_RUN_TOUCHED_H
#define DEVLOG_ANSWERS_RUN_TOUCHED_H

#include "answers/launch_rows.h"
#include "decode/filter.h"

/* Launches as rows of a run are found by them, and as filters do; in order. */
typedef struct run_touched {
    launch_key *keys;
    dl_filter_id *ids;
    dl_filter_range *launches; /* the same, of whatever chip: beside picks of somebody else */
    size_t n, n_ids, n_launches;
} run_touched;

/* Whether a filter leaves out parts of launches. */
bool run_has_parts(const dl_filter *f);
/* That of it alone. */
dl_filter run_parts_only(const dl_filter *f);
/* The same filter for devlog_log_open; borrows from it. *cores: to be freed. */
devlog_status run_parts_options(const dl_filter *f, devlog_log_options *out, devlog_core **cores,
                                devlog_error *err);
/* NOT_FOUND: there is none. Free with run_touched_free, also after a failure. */
devlog_status run_touched_read(run_touched *t, const char *log, const dl_filter *f, devlog_error *err);
/* By row of a run, whether a launch is of it; to be freed. `made`: rows are launches of the log. NULL: no memory. `table` was read with
 * op_table_read_wide, or made by run_log_rows. */
uint8_t *run_touched_rows(const run_touched *t, const op_table *table, bool made);
void run_touched_free(run_touched *t);

#endif
