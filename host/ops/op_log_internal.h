/* What the two halves of reading an op log share. */
#ifndef DEVLOG_OPS_OP_LOG_INTERNAL_H
#define DEVLOG_OPS_OP_LOG_INTERNAL_H

#include "ops/op_log.h"

/* Where a line is. */
typedef struct op_place {
    const char *text;
    uint64_t at, line; /* offset in the file, number */
    uint32_t len;
    bool has_nul; /* perhaps */
} op_place;

/* op_log_lines.c: takes one line. False when there is no memory for what it says. */
bool op_log_take(op_log *log, const op_place *p);

#endif
