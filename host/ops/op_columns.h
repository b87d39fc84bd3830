/* The columns of an op report: the reference document's order, and that which today's readers know. */
#ifndef DEVLOG_OPS_OP_COLUMNS_H
#define DEVLOG_OPS_OP_COLUMNS_H

#include "base/str.h"

typedef enum op_column_kind {
    OP_COL_EMPTY, /* a column that readers expect and that devlog does not fill */
    OP_COL_CODE,
    OP_COL_TYPE,
    OP_COL_GLOBAL_COUNT,
    OP_COL_DEVICE,
    OP_COL_ARCH,
    OP_COL_ATTRIBUTES,
    OP_COL_FIDELITY,
    OP_COL_CORES,
    OP_COL_AVAILABLE_CORES,
    OP_COL_STRATEGY,
    OP_COL_HOST_START,
    OP_COL_HOST_END,
    OP_COL_HOST_NS,
    OP_COL_FW_START,
    OP_COL_FW_END,
    OP_COL_LATENCY,
    OP_COL_DM_LATENCY,
    OP_COL_FW_NS,
    OP_COL_KERNEL_NS,
    OP_COL_DM_KERNEL_NS,
    OP_COL_CORE_MIN_NS,
    OP_COL_CORE_MAX_NS,
    OP_COL_CORE_AVG_NS,
    OP_COL_FIRST_TO_LAST_NS,
    OP_COL_RISC_NS, /* argument: dl_risc */
    OP_COL_CB_WAIT_NS,
    OP_COL_CB_RESERVE_NS,
    OP_COL_CALL_COUNT,
    OP_COL_INPUTS, /* expands: seven columns for each tensor */
    OP_COL_OUTPUTS,
    OP_COL_DEPTH,
    OP_COL_TRACE_ID,
    OP_COL_TRACE_SESSION,
    OP_COL_COMPUTE_SOURCE,
    OP_COL_COMPUTE_HASH,
    OP_COL_DM_SOURCE,
    OP_COL_DM_HASH,
    OP_COL_PROGRAM_HASH,
    OP_COL_CACHE_HIT,
    OP_COL_KERNEL_BYTES, /* argument: dl_risc */
    OP_COL_API_COUNT,    /* argument: devlog_api */
    OP_COL_API_AVERAGE,
    OP_COL_API_BYTES,
    OP_COL_THREAD,
    OP_COL_OWN_NS,
    OP_COL_LAUNCHES,
    OP_COL_IDLE_NS,
    OP_COL_OVERLAP_NS,
    OP_COL_AICLK,
    OP_COL_NOTE,
    OP_COL_STACK,
} op_column_kind;

/* In NOTE of an op whose chip is a simulator without timing. */
#define OP_SAYS_INSTRUCTIONS "cycles are instructions"
/* What is said of a report with such ops. */
#define OP_INSTRUCTIONS_TEXT                                                                                 \
    "Cycles are instructions: the simulator that ran this has no timing, so times say nothing of a chip.\n"

typedef struct op_column {
    const char *header;
    uint8_t kind, argument;
} op_column;

typedef enum op_column_set { OP_COLUMNS_CURRENT, OP_COLUMNS_REFERENCE } op_column_set;

/* The set's columns, before inputs and outputs are expanded. */
const op_column *op_columns(op_column_set set, size_t *n);
/* Those of today's report with the one behind them that is there when ops have a call stack. */
const op_column *op_columns_with_stacks(size_t *n);

enum { OP_TENSOR_FIELDS = 7 };
/* Name of a field of a tensor in a set: "W_PAD[LOGICAL]", "LAYOUT", ... */
const char *op_tensor_field(op_column_set set, int field);

/* The header line's cells, expanded, each handed to `cell`; of the first n columns. */
void op_columns_headers(op_column_set set, size_t n, uint32_t n_inputs, uint32_t n_outputs,
                        void (*cell)(void *ctx, const char *text), void *ctx);

#endif
