/* Filters by core, RISC, zone and time, for answers, which are of launches: those in which something gets past the filters. Not
 * for what of a launch they leave out (run_log.h). */
#ifndef DEVLOG_ANSWERS_RUN_TOUCHED_H
#define DEVLOG_ANSWERS_RUN_TOUCHED_H

#include "decode/filter.h"
#include "devlog/decode.h"

/* Launches, as rows of a run know them (`rows`: ids of ops, else of launches), and as the decoder does; in order. */
typedef struct run_touched {
    dl_filter_range *rows, *launches;
    size_t n_rows, n_launches;
} run_touched;

/* Whether a filter leaves out parts of launches. */
bool run_has_parts(const dl_filter *f);
/* That of it alone. */
dl_filter run_parts_only(const dl_filter *f);
/* The same filter for devlog_log_open; borrows from it. *cores: to be freed. */
devlog_status run_parts_options(const dl_filter *f, devlog_log_options *out, devlog_core **cores,
                                devlog_error *err);
/* `has_report`: rows are known by ids of ops. NOT_FOUND: there is none. Free with run_touched_free, also after a failure. */
devlog_status run_touched_read(run_touched *t, const char *log, const dl_filter *f, bool has_report,
                               devlog_error *err);
void run_touched_free(run_touched *t);

#endif
