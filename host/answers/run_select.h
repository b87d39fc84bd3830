/* What a selection means in given logs: what must be looked up in the files of the host beside the first of them, and, for
 * warm-up, in the logs themselves, which are read once more. What it means in an op report: ops/select.h. */
#ifndef DEVLOG_ANSWERS_RUN_SELECT_H
#define DEVLOG_ANSWERS_RUN_SELECT_H

#include "answers/run_touched.h"
#include "ops/select.h"

/* Adds it to `filter`, which borrows it from *selected: free that with op_selected_free after the decoder, also after a
 * failure. */
devlog_status run_select(op_selected *selected, const op_selection *s, dl_filter *filter, char *const *logs,
                         size_t n, devlog_error *err);

/* The launches that a filter's `launches` want, by which rows of a report are found (run_touched_rows); free with run_touched_free, also
 * after a failure. *told: the log says of some launch which op it is of. NOT_FOUND, with what there is, when one of the filter's numbers
 * is of no launch. */
devlog_status run_launches_asked(run_touched *out, bool *told, const char *log, const dl_filter *f,
                                 devlog_error *err);

#endif
