/* Op codes and signposts that a user asked for: which rows codes let through, and what is said when there are none. */
#ifndef DEVLOG_OPS_OP_FILTER_H
#define DEVLOG_OPS_OP_FILTER_H

#include "ops/op_table.h"

typedef struct op_filter {
    const char *const *ops; /* op codes; a trailing * is a prefix */
    size_t n;               /* 0: all */
    const char *option;     /* what the user calls it; NULL: "ops" */
} op_filter;

bool op_filter_lets(const op_filter *filter, const char *code);
/* NOT_FOUND, with what there is, when one of the codes matches nothing in any of the reports. */
devlog_status op_filter_check(const op_filter *filter, const op_table *const *tables, size_t n,
                              devlog_error *err);
/* Says that a report has no signpost of this name (`behind` another one; NULL: at all), and which it has. */
devlog_status op_filter_no_point(const op_table *t, const char *name, const char *behind, devlog_error *err);

#endif
