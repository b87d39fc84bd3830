/* Rows of an op report that a selection leaves. */
#ifndef DEVLOG_OPS_SELECT_ROWS_H
#define DEVLOG_OPS_SELECT_ROWS_H

#include "ops/select.h"
#include "ops/stitch.h"

/* Takes the other rows out; `f`: what `selected` has been applied to. NOT_FOUND, with what there is, when none is left. */
devlog_status op_select_rows(op_stitch *s, const op_selection *wanted, const op_selected *selected,
                             const dl_filter *f, devlog_error *err);
/* Whether a filter lets a launch of a stitched log through. */
bool op_select_launch(const op_stitch *s, const dl_filter *f, uint32_t launch);

#endif
