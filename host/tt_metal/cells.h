/* What the files of the report share: the row in the making. Included by report.c, op_cells.c and
 * device_cells.c. */
#ifndef DEVLOG_TT_METAL_CELLS_H
#define DEVLOG_TT_METAL_CELLS_H

#include "tt_metal/columns.h"
#include "tt_metal/metrics.h"
#include "tt_metal/report.h"

enum { TT_TENSOR_FIELDS = 7 };

typedef struct tt_slot {
    const char *text; /* which lives as long as the row does; NULL: tt_writer.text from `at` on */
    uint32_t at, len;
    uint32_t row; /* tt_writer.row when it was set: those of earlier rows need not be cleared */
    bool ready;   /* it may be written as it is */
} tt_slot;

enum { TT_SAID = 1024, TT_SAID_RUNS = 8 };

/* Neighbouring columns of a CSV that nothing but a JSON fills: their cells are kept as they stand in a row, with the commas
 * between them. Places are those in tt_writer.order. */
typedef struct tt_said_run {
    size_t from, to;
} tt_said_run;

/* The cells that a JSON gives; the same for all calls of a cached op. */
typedef struct tt_said {
    uint32_t json, own; /* of which; TT_NONE: nothing is kept here */
    dl_str text;
    struct {
        uint32_t column, at, len;
    } * cells; /* without those of runs */
    struct {
        uint32_t at, len;
    } runs[TT_SAID_RUNS];
    size_t n, cap;
    bool ready;
} tt_said;

/* Columns of the C++ report that are calculated with; by their names in device_cells.c. */
enum {
    TT_PERF_FW_START,
    TT_PERF_FW_END,
    TT_PERF_FW_NS,
    TT_PERF_KERNEL_START,
    TT_PERF_KERNEL_END,
    TT_PERF_DM_START,
    TT_PERF_DM_END,
    TT_PERF_LATENCY,
    TT_PERF_DM_LATENCY,
    TT_PERF_KEYS
};

/* What is carried from row to row of a device. */
typedef struct tt_device_state {
    uint32_t device;
    bool any_kernel, any_dm, any_fw;
    double ns_per_cycle; /* 0: not known */
    int64_t kernel_end, dm_end, fw_end;
} tt_device_state;

typedef struct tt_writer {
    const tt_join *j;
    const tt_report_options *o;
    dl_str *out;
    tt_report_counts *counts;
    /* Slots: the fixed columns, figures from counters, columns of the C++ report that are neither, tensors in
     * and out, host calls. */
    tt_slot *slots;
    size_t n_slots;
    uint32_t row; /* in hand, from 1 */
    uint32_t n_in, n_out;
    size_t first_in, first_out, first_perf, first_call, first_metric, first_noc, first_other, first_api;
    bool shown[TT_COL_FIXED];                  /* columns that only some reports have */
    bool metrics[TT_METRICS][TT_METRIC_STATS]; /* whether the report has the column */
    size_t n_perf, n_calls;
    int *perf_column; /* by column of the C++ report: its slot; -1: none */
    bool *perf_whole; /* whether it holds integers */
    int perf_at[TT_PERF_KEYS];
    uint32_t *call_names; /* sorted; by number: a name of the host's */
    uint32_t *call_slot;  /* by name: its slot */
    uint32_t *call_count; /* of each op: the how manieth of its name; NULL unless it is a column */
    uint32_t *call_depth; /* ops open on the host, itself included; 0: not known */
    size_t *order;        /* slots in the order of the report */
    size_t n_order;
    char **keys; /* JSON: header of each, with its quotes */
    dl_str text; /* of the row's cells */
    dl_str work, other, names;
    tt_said *said;
    tt_said_run runs[TT_SAID_RUNS];
    size_t n_runs;
    bool *in_run;            /* by slot */
    const tt_said *row_said; /* whose runs the row in hand has; NULL: it has none */
    tt_device_state *devices;
    size_t n_devices, cap_devices;
    bool no_memory;
} tt_writer;

/* Where the cells of an op's JSON are, or would be. */
static inline tt_said *tt_said_place(const tt_writer *w, const tt_op *op)
{
    return &w->said[op->json % TT_SAID];
}

/* Whether the row has this cell, and what is in it. */
static inline bool tt_cell_there(const tt_writer *w, size_t slot)
{
    return w->slots[slot].row == w->row;
}

static inline tt_cell tt_cell_of(const tt_writer *w, size_t slot)
{
    const tt_slot *s = &w->slots[slot];
    if (s->row != w->row || !s->len) return (tt_cell){"", 0};
    return (tt_cell){s->text ? s->text : w->text.text + s->at, s->len};
}

/* Begins a cell's text, which is appended to w->text, and ends it. */
static inline uint32_t tt_cell_begin(const tt_writer *w)
{
    return (uint32_t)w->text.len;
}

static inline void tt_cell_end(tt_writer *w, size_t slot, uint32_t from)
{
    w->slots[slot] = (tt_slot){NULL, from, (uint32_t)w->text.len - from, w->row, false};
}

/* The same for digits. */
static inline void tt_cell_end_ready(tt_writer *w, size_t slot, uint32_t from)
{
    w->slots[slot] = (tt_slot){NULL, from, (uint32_t)w->text.len - from, w->row, true};
}

static inline void tt_cell_text(tt_writer *w, size_t slot, const char *text, size_t n)
{
    uint32_t from = tt_cell_begin(w);
    dl_str_add_n(&w->text, text, n);
    tt_cell_end(w, slot, from);
}

/* A text that is there until the row is written. */
static inline void tt_cell_lent(tt_writer *w, size_t slot, const char *text, size_t n, bool ready)
{
    w->slots[slot] = (tt_slot){text, 0, (uint32_t)n, w->row, ready};
}

static inline void tt_cell_i64(tt_writer *w, size_t slot, int64_t value)
{
    uint32_t from = tt_cell_begin(w);
    if (value < 0) dl_str_char(&w->text, '-');
    dl_str_u64(&w->text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    tt_cell_end_ready(w, slot, from);
}

static inline void tt_cell_u64(tt_writer *w, size_t slot, uint64_t value)
{
    uint32_t from = tt_cell_begin(w);
    dl_str_u64(&w->text, value);
    tt_cell_end_ready(w, slot, from);
}

/* row_text.c: whether a cell may stand in JSON without quotes. */
bool tt_is_number(const char *text, size_t n);
/* The row in hand, appended to what is written. */
void tt_row_write(tt_writer *w);
/* A text as a cell of CSV, as tt-metal's script writes it. */
void tt_csv_cell(dl_str *out, dl_str *work, const char *text, size_t n);
/* call_cells.c: the how manieth call of its name an op is, and how deep; false: no memory. */
bool tt_calls_plan(tt_writer *w);
void tt_call_cells(tt_writer *w, uint32_t op);
/* The slots of the reference document, in its order. */
void tt_reference_plan(tt_writer *w);
/* op_cells.c: what the host says of an op. */
void tt_op_cells(tt_writer *w, const tt_op *op);
void tt_op_pm_cells(tt_writer *w);
bool tt_said_plan(tt_writer *w);
void tt_said_free(tt_writer *w);
/* device_cells.c: what the device did; before, where the columns of the C++ report are. */
bool tt_device_plan(tt_writer *w);
void tt_device_cells(tt_writer *w, const tt_exec *x);
/* What a row that is left out leaves for the next one's latencies. */
void tt_device_passed(tt_writer *w, const tt_exec *x);
void tt_sub_device_cell(tt_writer *w, uint32_t device, uint64_t id, uint32_t session);

#endif
