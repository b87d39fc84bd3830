/* Columns of an op report beyond those that op_table_row has: numbers and texts by their kind. Read for answers only, by
 * op_table_read_wide, as they take a few hundred bytes a row. */
#ifndef DEVLOG_OPS_OP_WIDE_H
#define DEVLOG_OPS_OP_WIDE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/intern.h"

typedef enum op_wide_number {
    OP_FW_START, /* cycles */
    OP_FW_END,
    OP_CORE_MIN, /* ns: DEVICE KERNEL DURATION PER CORE */
    OP_CORE_MAX,
    OP_CORE_AVG,
    OP_FIRST_TO_LAST,
    OP_OVERLAP,
    OP_LAUNCHES,
    OP_AVAILABLE, /* cores */
    OP_RISC,      /* ns, and the others of op_table_riscs behind it */
    OP_CB_WAIT = OP_RISC + 6,
    OP_CB_RESERVE,
    OP_DISPATCH, /* ns */
    OP_GO_WAIT,
    OP_TRACE,
    OP_SESSION,
    OP_CODE_DM0, /* bytes: TENSIX DM 0 MAX KERNEL SIZE */
    OP_CODE_DM1,
    OP_CODE_COMPUTE0,
    OP_CODE_COMPUTE1,
    OP_CODE_COMPUTE2,
    OP_CACHE_HIT,
    OP_COMPILE_COUNT, /* calls of the host inside the op, and what one took on average: ns */
    OP_COMPILE_AVG,
    OP_WRITE_COUNT,
    OP_WRITE_AVG,
    OP_READ_COUNT,
    OP_READ_AVG,
    OP_WRITE_BYTES,
    OP_READ_BYTES,
    OP_PROFILER_COST,
    OP_PM_IDEAL, /* ns */
    OP_PM_COMPUTE,
    OP_PM_BANDWIDTH,
    OP_PM_FPU_UTIL, /* percent */
    OP_NOC_UTIL,
    OP_DRAM_UTIL,
    OP_NPE_IMPACT,
    OP_NOC_BYTES, /* of NoC traces */
    OP_NOC_READ_BYTES,
    OP_NOC_WRITE_BYTES,
    OP_NOC_0_BYTES,
    OP_NOC_1_BYTES,
    OP_NOC_TRANSFERS,
    OP_NOC_READ_WAIT, /* cycles, over all RISCs */
    OP_NOC_WRITE_WAIT,
    OP_NOC_LINK_BYTES,
    OP_SFPU_UTIL, /* percent of the whole grid: averages of counters */
    OP_FPU_UTIL,
    OP_MATH_UTIL,
    OP_L1_UNPACK_BLOCKED, /* percent: asked for and not granted at once; averages of counters */
    OP_L1_PACK_BLOCKED,
    OP_WIDE_NUMBERS
} op_wide_number;

typedef enum op_wide_text {
    OP_ARCH,
    OP_FIDELITY,
    OP_ATTRIBUTES,
    OP_COMPUTE_SOURCE,
    OP_DM_SOURCE,
    OP_PROGRAM,
    OP_STACK, /* "nn.py:12 softmax < nn.py:30 main" */
    OP_SHAPES, /* "1x1x32x64 1x1x64x32[30] > 1x1x32x32": inputs > outputs, each W x Z x Y x X, stored[logical] */
    OP_TYPES,   /* "BFLOAT16 BFLOAT8_B > BFLOAT16": of the tensors, in the same order */
    OP_LAYOUTS, /* "TILE TILE > TILE" */
    OP_MEMORY,  /* "DEV_1_DRAM_INTERLEAVED DEV_1_L1_INTERLEAVED > ..." */
    OP_WIDE_TEXTS
} op_wide_text;

typedef struct op_wide {
    double numbers[OP_WIDE_NUMBERS]; /* NAN where the report says nothing */
    uint32_t texts[OP_WIDE_TEXTS];   /* of op_table.texts; 0: nothing */
} op_wide;

void op_wide_clear(op_wide *w);

/* ---- For op_table.c: what a column of this name is --- */

typedef enum op_wide_kind { OP_WIDE_NOTHING, OP_WIDE_NUMBER, OP_WIDE_TEXT, OP_WIDE_TENSOR } op_wide_kind;

typedef struct op_wide_column {
    uint8_t kind, what;
    bool output; /* of a tensor */
} op_wide_column;

op_wide_column op_wide_column_of(const char *text, size_t n);
/* A finite number with its decimals; false: it is none. */
bool op_wide_real(const char *text, size_t n, double *out);

#endif
