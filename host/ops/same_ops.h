/* Whether two runs of a program did the same ops, and which op of one is which of the other. */
#ifndef DEVLOG_OPS_SAME_OPS_H
#define DEVLOG_OPS_SAME_OPS_H

#include "ops/op_log.h"

/* Compares the ops of two runs by name and depth: by id, and when ids were given in another order, which
 * several threads may do, thread by thread. *map is for each op of `second` the number of the same op in
 * `first`; freed by the caller. It is NULL when the runs differ: then `difference` says where first. */
devlog_status same_ops(op_log *first, op_log *second, uint32_t **map, char *difference, size_t size,
                       devlog_error *err);

#endif
