/* Rows of a report of tt-metal's folder that a selection leaves. */
#ifndef DEVLOG_TT_METAL_SELECT_ROWS_H
#define DEVLOG_TT_METAL_SELECT_ROWS_H

#include "tt_metal/join.h"
#include "tt_metal/select.h"

/* Takes the other rows out; `f`: what `selected` has been applied to. NOT_FOUND, with what there is, when none is left. */
devlog_status tt_select_rows(tt_join *j, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err);
/* The first launches of each device, and its warm-up, by the device log or by the C++ report. */
devlog_status tt_select_warm_up(dl_warm_up *w, tt_execs *e, uint64_t first, devlog_error *err);

#endif
