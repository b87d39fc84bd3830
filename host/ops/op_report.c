/* The op report: stitched rows as CSV or JSON, one after the other. Not for their cells (op_cells.c). */
#include "ops/op_report.h"

#include <stdlib.h>
#include <string.h>

#include "ops/op_cells.h"

enum { FLUSH_BYTES = 256 * 1024, MAX_NAMES = 1024 * 1024, MAX_NAME_BYTES = 64 * 1024 * 1024 };

/* ---- Rows --- */

static void begin_row(op_writer *w)
{
    if (w->o->json) dl_str_add(w->out, w->counts->rows ? ",\n{" : "{");
    w->cell = 0;
    w->counts->rows++;
}

static void end_row(op_writer *w)
{
    dl_str_add(w->out, w->o->json ? "}" : "\n");
}

/* The how manieth call of an op of this name it is. */
static uint32_t count_call(op_writer *w)
{
    w->call = 0;
    uint32_t name = dl_intern_add(w->names, op_piece_text(&w->text, w->text.name), w->text.name.len);
    if (name == DL_NO_STRING) return 0;
    if (name >= w->cap_calls) {
        uint32_t cap = name < 64 ? 128 : name * 2;
        uint32_t *grown = realloc(w->calls, cap * sizeof *grown);
        if (!grown) return 0;
        memset(grown + w->cap_calls, 0, (cap - w->cap_calls) * sizeof *grown);
        w->calls = grown;
        w->cap_calls = cap;
    }
    return w->call = ++w->calls[name];
}

static uint64_t rounded_ns(const op_row_facts *f, uint64_t start, uint64_t end, uint64_t idle)
{
    return f->freq_khz && start != OP_NEVER && end >= start ? dl_cycles_to_ns(end - start - idle, f->freq_khz)
                                                            : 0;
}

/* What an op adds to the time in which its thread had ops open. Ops come as they were started. */
static uint64_t new_host_time(op_writer *w, const op_entry *op)
{
    if (op->thread >= w->n_threads) {
        uint32_t n = op->thread + 8u;
        uint64_t *grown = realloc(w->host_until, n * sizeof *grown);
        w->no_memory |= grown == NULL;
        if (!grown) return 0;
        memset(grown + w->n_threads, 0, (n - w->n_threads) * sizeof *grown);
        w->host_until = grown;
        w->n_threads = n;
    }
    uint64_t *until = &w->host_until[op->thread], from = op->start > *until ? op->start : *until;
    if (op->end <= from) return 0;
    *until = op->end;
    return op->end - from;
}

static void about_chip(const op_writer *w, op_row_facts *f)
{
    const op_log *log = w->s->device;
    f->device = true;
    if (f->row->chip != DL_NONE) {
        const dl_chip *chip = &dl_decode_tables(w->s->decode)->chips[f->row->chip];
        f->chip_id = chip->id;
        f->freq_khz = chip->freq_khz;
        f->arch = chip->arch;
        f->max_cores = chip->max_cores;
    } else if (f->first) {
        f->chip_id = f->first->chip;
    } else {
        f->device = false;
    }
    for (size_t i = 0; f->device && log && i < log->n_chips; i++)
        if (log->chips[i].chip == f->chip_id && log->chips[i].cores) f->max_cores = log->chips[i].cores;
}

static void op_row_write(op_writer *w, const op_row *row, bool first_of_op)
{
    op_stitch *s = w->s;
    op_row_facts f = {.row = row, .id = row->id};
    f.op = row->op == DL_NONE ? NULL : &s->host->ops[row->op];
    f.cycles = op_stitch_cycles(s, row);
    f.merged = row->merged ? &s->merged[row->merged - 1] : NULL;
    if (f.op && first_of_op) {
        op_text_read(&w->text, s->host, f.op);
        w->counts->damaged += w->text.damaged;
        w->counts->ops++;
        count_call(w);
        if (op_has_duration(f.op) && !w->o->no_host_times) w->counts->host_ns += new_host_time(w, f.op);
    } else if (!f.op) {
        op_text_clear(&w->text);
        f.id = w->next_id++;
        w->counts->launches_without_op++;
    }
    if (f.op) {
        f.call = w->call;
        const op_entry *there = row->device_op == DL_NONE ? NULL : &s->device->ops[row->device_op];
        if (there && there->launch) f.first = &s->device->launches[there->launch - 1];
    }
    about_chip(w, &f);
    f.launches = row->n_launches;
    if (f.cycles && f.op) w->counts->ops_with_device++;
    if (f.cycles) {
        w->counts->kernel_ns += rounded_ns(&f, f.cycles->kernel_start, f.cycles->kernel_end,
                                           f.merged ? f.merged->kernel_idle : 0);
        w->counts->fw_ns += rounded_ns(&f, f.cycles->fw_start, f.cycles->fw_end, row->idle);
        w->counts->overlap_ns += f.freq_khz ? dl_cycles_to_ns(row->overlap, f.freq_khz) : 0;
    }
    begin_row(w);
    op_row_cells(w, &f);
    end_row(w);
}

static void point_row(op_writer *w, const op_point *p)
{
    uint64_t number;
    op_text_point(&w->text, w->s->host, p, &number);
    w->counts->damaged += w->text.damaged;
    w->counts->points++;
    begin_row(w);
    for (size_t i = 0; i < w->n_columns; i++) {
        const op_column *c = &w->columns[i];
        dl_str step = {0};
        if (c->kind == OP_COL_CODE && p->step) {
            dl_str_add(&step, "step ");
            dl_str_u64(&step, number);
            if (w->text.name.len) dl_str_char(&step, ' ');
            dl_str_add_n(&step, op_piece_text(&w->text, w->text.name), w->text.name.len);
            op_cell_text(w, step.text ? step.text : "", step.len);
            dl_str_free(&step);
        } else if (c->kind == OP_COL_CODE) {
            op_cell_piece(w, w->text.name);
        } else if (c->kind == OP_COL_TYPE) {
            op_cell_str(w, "signpost");
        } else if (c->kind == OP_COL_ATTRIBUTES) {
            op_cell_piece(w, w->text.strategy);
        } else if (c->kind == OP_COL_HOST_START) {
            op_cell_number(w, p->t);
        } else if (c->kind == OP_COL_INPUTS || c->kind == OP_COL_OUTPUTS) {
            op_tensor_cells(w, NULL, 0, c->kind == OP_COL_INPUTS ? w->n_in : w->n_out);
        } else {
            op_cell_empty(w);
        }
    }
    end_row(w);
}

static void header_cell(void *ctx, const char *text)
{
    op_writer *w = ctx;
    if (!w->o->json) {
        op_cell_str(w, text);
        return;
    }
    dl_str key = {0};
    dl_str_json(&key, text, strlen(text));
    dl_str_char(&key, ':');
    if (w->n_keys == w->cap_keys) {
        size_t cap = w->cap_keys ? w->cap_keys * 2 : 128;
        char **grown = realloc(w->keys, cap * sizeof *grown);
        w->no_memory |= grown == NULL;
        if (grown) w->keys = grown;
        if (grown) w->cap_keys = cap;
    }
    w->no_memory |= key.failed;
    if (w->n_keys < w->cap_keys && !key.failed)
        w->keys[w->n_keys++] = key.text;
    else
        dl_str_free(&key);
}

static void free_writer(op_writer *w)
{
    for (size_t i = 0; i < w->n_keys; i++)
        free(w->keys[i]);
    free(w->keys);
    free(w->host_until);
    free(w->calls);
    dl_intern_free(w->names);
    op_programs_free(&w->programs);
    op_text_free(&w->text);
    op_tensor_cells_free(w);
    op_row_plan_free(w);
}

/* Signposts and steps stand behind the op that was started last before them. */
static bool point_is_next(const op_writer *w, size_t point, const op_row *row)
{
    const op_log *log = w->s->host;
    if (!log || point >= log->n_points || w->o->columns == OP_COLUMNS_REFERENCE) return false;
    return !row || row->op == DL_NONE || row->id > log->points[point].after;
}

static bool point_is_kept(const op_stitch *s, const op_point *p)
{
    return p->after >= s->points_from && p->after <= s->points_to;
}

devlog_status op_report_write(op_stitch *s, const op_report_options *options, dl_str *out,
                              devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                              op_report_counts *counts, devlog_error *err)
{
    *counts = (op_report_counts){0};
    op_writer w = {.s = s, .o = options, .out = out, .counts = counts, .next_id = 1};
    w.columns = op_columns(options->columns, &w.n_columns);
    if (options->columns == OP_COLUMNS_CURRENT && s->host && s->host->has_stacks)
        w.columns = op_columns_with_stacks(&w.n_columns);
    /* Readers of today's report expect one of each, tensors or not. */
    if (options->columns == OP_COLUMNS_CURRENT) w.n_in = w.n_out = 1;
    if (s->host) {
        if (s->host->max_in > w.n_in) w.n_in = s->host->max_in;
        if (s->host->max_out > w.n_out) w.n_out = s->host->max_out;
        if (options->columns == OP_COLUMNS_REFERENCE) counts->points_left_out = s->host->n_points;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        op_stitch_passed(s, i);
        if (s->rows[i].op != DL_NONE && s->rows[i].id >= w.next_id) w.next_id = s->rows[i].id + 1;
    }
    w.names = dl_intern_new(MAX_NAMES, MAX_NAME_BYTES);
    devlog_status status = w.names ? op_programs_read(&w.programs, s->device, err)
                                   : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!options->json && !options->plain) w.no_memory |= !op_row_plan(&w);
    op_columns_headers(options->columns, w.n_columns, w.n_in, w.n_out, header_cell, &w);
    dl_str_add(out, options->json ? "[" : "\n");
    size_t point = 0;
    for (size_t i = 0; i <= s->n_rows && !status && !w.no_memory; i++) {
        const op_row *row = i < s->n_rows ? &s->rows[i] : NULL;
        op_stitch_passed(s, i);
        for (; point_is_next(&w, point, row); point++)
            if (point_is_kept(s, &s->host->points[point])) point_row(&w, &s->host->points[point]);
        if (row) op_row_write(&w, row, i == 0 || s->rows[i - 1].op != row->op);
        if (out->len >= FLUSH_BYTES) status = flush(ctx, err);
    }
    if (options->json) dl_str_add(out, "]\n");
    if (!status && (w.no_memory || out->failed || w.text.texts.failed))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing the op report");
    if (!status) status = flush(ctx, err);
    free_writer(&w);
    return status;
}
