/* What the files of the op report share: the row in the making, and its cells. Included by op_report.c,
 * op_cells.c, op_row_cells.c and op_tensor_cells.c. */
#ifndef DEVLOG_OPS_OP_CELLS_H
#define DEVLOG_OPS_OP_CELLS_H

#include "ops/op_programs.h"
#include "ops/op_report.h"
#include "ops/op_text.h"
#include "report/out.h"

/* How a row of CSV is written: column by column, except for neighbours that are quicker together. */
typedef struct op_step {
    enum { OP_STEP_CELL, OP_STEP_EMPTY, OP_STEP_DEVICE, OP_STEP_PROGRAMS, OP_STEP_API } kind;
    uint32_t first, n; /* columns */
} op_step;

typedef struct op_writer {
    op_stitch *s;
    const op_report_options *o;
    dl_str *out;
    const op_column *columns;
    size_t n_columns;
    op_step *steps; /* NULL: column by column */
    size_t n_steps;
    uint32_t n_in, n_out;
    char **keys; /* JSON: "\"HEADER\":" of each cell */
    size_t n_keys, cap_keys;
    size_t cell; /* of the row in hand */
    op_text text;
    op_programs programs;
    dl_intern *names; /* for CALL COUNT */
    uint32_t *calls;
    uint32_t call; /* of the op in hand */
    uint32_t cap_calls;
    uint64_t *host_until; /* by thread: end of what has been counted as host time */
    uint32_t n_threads;
    uint32_t next_id; /* for rows without an op */
    op_report_counts *counts;
    struct op_tensor_cache *tensors;
    struct op_program_cache *program_cells;
    bool no_memory;
} op_writer;

/* What a row is about. */
typedef struct op_row_facts {
    const op_row *row;
    const op_entry *op; /* NULL: none */
    const op_cycles *cycles;
    const op_merged *merged; /* NULL: of one launch */
    uint64_t freq_khz;       /* 0: no nanoseconds */
    uint32_t id, chip_id, arch, call;
    uint64_t max_cores;
    uint32_t launches;      /* of it on this chip */
    const op_launch *first; /* in the op log, or NULL */
    bool device;            /* it ran on a device */
} op_row_facts;

/* A number of the device: ns or cycles, as the column says. Not known: its cell is empty. */
typedef struct op_device_value {
    bool known, negative;
    uint64_t value;
} op_device_value;

static inline bool op_is_device_column(const op_column *c)
{
    return c->kind >= OP_COL_FW_START && c->kind <= OP_COL_CB_RESERVE_NS;
}
/* op_cells.c: of what a row's columns from OP_COL_FW_START to OP_COL_CB_RESERVE_NS say. Needs row, cycles, merged and
 * freq_khz of the facts. */
op_device_value op_device_value_of(const op_row_facts *f, const op_column *c);

/* ---- Cells: each begins with what separates it from the one before --- */

static inline void op_put(op_writer *w, char c)
{
    dl_str *s = w->out;
    if (s->cap - s->len > 1)
        s->text[s->len++] = c;
    else
        dl_str_char(s, c);
}

static inline void op_cell_begin(op_writer *w)
{
    if (w->cell) op_put(w, ',');
    if (w->o->json && w->cell < w->n_keys) dl_str_add(w->out, w->keys[w->cell]);
    w->cell++;
}

static inline void op_cell_number(op_writer *w, uint64_t value)
{
    op_cell_begin(w);
    dl_str_u64(w->out, value);
}

static inline void op_cell_empty(op_writer *w)
{
    op_cell_begin(w);
    if (w->o->json) dl_str_add(w->out, "null");
}

/* Text that is a cell already. */
static inline void op_cell_ready(op_writer *w, const char *text, size_t n)
{
    op_cell_begin(w);
    dl_str_add_n(w->out, text, n);
}

void op_cell_text(op_writer *w, const char *text, size_t n);
void op_cell_str(op_writer *w, const char *text);
void op_cell_signed(op_writer *w, int64_t value);
/* Device data that is missing: "-" in the reference's report, nothing in today's. */
void op_cell_missing(op_writer *w);
void op_cell_piece(op_writer *w, op_piece p);

/* op_cells.c: the cells of one column; those of inputs and outputs are several. */
void op_cell(op_writer *w, const op_row_facts *f, const op_column *c);
/* op_cells.c: the same for n columns, from OP_COL_FW_START to OP_COL_CB_RESERVE_NS. */
void op_device_cells(op_writer *w, const op_row_facts *f, const op_column *columns, uint32_t n);
/* op_row_cells.c: all cells of a row, and what makes that quick; steps are for CSV only. */
void op_row_cells(op_writer *w, const op_row_facts *f);
bool op_row_plan(op_writer *w);
void op_row_plan_free(op_writer *w);
/* Whether its host times make sense. */
bool op_has_duration(const op_entry *op);

/* op_tensor_cells.c: the columns of inputs or outputs. */
void op_tensor_cells(op_writer *w, const op_piece *said, uint32_t have, uint32_t want);
void op_tensor_cells_free(op_writer *w);

#endif
