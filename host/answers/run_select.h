/* What a selection means in given logs: what must be looked up in the files of the host beside the first of them, and, for
 * warm-up, in the logs themselves, which are read once more. What it means in an op report: ops/select.h. */
#ifndef DEVLOG_ANSWERS_RUN_SELECT_H
#define DEVLOG_ANSWERS_RUN_SELECT_H

#include "ops/select.h"

/* Adds it to `filter`, which borrows it from *selected: free that with op_selected_free after the decoder, also after a
 * failure. */
devlog_status run_select(op_selected *selected, const op_selection *s, dl_filter *filter, char *const *logs,
                         size_t n, devlog_error *err);

/* Which ops asked for the launches that a filter wants, by a log that says so: *ops are their ids as ranges, in order, to be freed
 * by the caller, also after a failure; NULL where the log says of no launch which op it is of. NOT_FOUND, with what there is, when one of
 * the filter's numbers is of no launch. */
devlog_status run_ops_of_launches(dl_filter_range **ops, size_t *n, const char *log, const dl_filter *f,
                                  devlog_error *err);

#endif
