/* Host time of ops, counted once: what lies inside another op of the same thread, or is in several rows of
 * one op, is not added up again. */
#ifndef DEVLOG_OPS_OP_HOST_TIME_H
#define DEVLOG_OPS_OP_HOST_TIME_H

#include "ops/op_table.h"

typedef struct op_host_times op_host_times;

/* NULL: no memory. Free with op_host_times_free. */
op_host_times *op_host_times_new(void);
void op_host_times_free(op_host_times *times);
/* Adds the host time of a row to a group; rows without one add nothing. False: no memory. */
bool op_host_times_add(op_host_times *times, const op_table_row *row, uint32_t group);
/* Adds to sums[group] the time of each; nothing may be added any more. */
void op_host_times_sum(op_host_times *times, uint64_t *sums);

#endif
