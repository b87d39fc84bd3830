/* What the two halves of reading an op log share. */
#ifndef DEVLOG_OPS_OP_LOG_INTERNAL_H
#define DEVLOG_OPS_OP_LOG_INTERNAL_H

#include "ops/jsonline.h"
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

/* A line that cannot be used. */
bool op_log_bad_line(op_log *log, const op_place *p);
/* A line that is not about the op that it stands behind: reading that op again skips it. */
void op_log_pass_over(op_log *log, const op_place *p);
/* Makes room for one more entry; false when there are too many or memory runs out. */
bool op_log_room(void **array, size_t n, size_t *cap, size_t size);
#define OP_LOG_ROOM(log, what)                                                                               \
    op_log_room((void **)&(log)->what, (log)->n_##what, &(log)->cap_##what, sizeof *(log)->what)

/* op_log_memory.c: the lines of buffers, behind their event. */
typedef bool op_log_taker(op_log *log, jl_reader *r, const op_place *p);
op_log_taker op_log_take_size, op_log_take_alloc, op_log_take_free, op_log_take_device_close;

#endif
