/* Rows of op reports that a selection leaves: devlog's own (op_select_rows.c) and tt-metal's (tt_select_rows.c). */
#ifndef DEVLOG_OPS_SELECT_ROWS_H
#define DEVLOG_OPS_SELECT_ROWS_H

#include "ops/select.h"
#include "ops/stitch.h"
#include "ops/tt_join.h"

/* Takes the other rows out; `f`: what `selected` has been applied to. NOT_FOUND, with what there is, when none is left. */
devlog_status op_select_rows(op_stitch *s, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err);
devlog_status tt_select_rows(tt_join *j, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err);
/* Whether a filter lets a launch of a stitched log through. */
bool op_select_launch(const op_stitch *s, const dl_filter *f, uint32_t launch);
/* The first launches of each device, and its warm-up, by the device log or by the C++ report. */
devlog_status tt_select_warm_up(dl_warm_up *w, const tt_execs *e, uint64_t first, devlog_error *err);

#endif
