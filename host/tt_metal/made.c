/* A report read back and written anew, row by row. Not for what its cells mean (op_table.c). */
#include "tt_metal/made.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_columns.h"
#include "tt_metal/cells.h"

enum { BLOCK = 256 * 1024, MAX_COLUMNS = 64 * 1024 };

typedef struct cell {
    size_t at, n;
} cell;

typedef struct making {
    const tt_report_options *o;
    dl_str *out;
    dl_str text; /* of the row's cells */
    cell *cells;
    size_t n_cells, cap_cells;
    size_t n_header;
    size_t *chosen; /* columns of the file; SIZE_MAX: how manieth of its name */
    char **names;   /* that they get */
    size_t n_chosen;
    size_t code;      /* column of OP CODE; SIZE_MAX: none */
    dl_intern *codes; /* for CALL COUNT */
    uint32_t *counts;
    size_t cap_counts;
    tt_made_counts *got;
    bool no_memory;
} making;

static void on_cell(void *text, size_t n, void *ctx)
{
    making *m = ctx;
    if (m->n_cells == m->cap_cells) {
        size_t cap = m->cap_cells ? m->cap_cells * 2 : 256;
        cell *grown = realloc(m->cells, cap * sizeof *grown);
        m->no_memory |= grown == NULL;
        if (!grown) return;
        m->cells = grown;
        m->cap_cells = cap;
    }
    m->cells[m->n_cells++] = (cell){m->text.len, n};
    if (n) dl_str_add_n(&m->text, text, n);
}

static const char *text_of(const making *m, size_t column, size_t *n)
{
    *n = column < m->n_cells ? m->cells[column].n : 0;
    return *n ? m->text.text + m->cells[column].at : "";
}

static size_t find(const making *m, const char *name)
{
    for (size_t i = 0; i < m->n_cells; i++) {
        size_t n;
        const char *text = text_of(m, i, &n);
        if (n == strlen(name) && (!n || memcmp(text, name, n) == 0)) return i;
    }
    return SIZE_MAX;
}

static void choose(making *m, size_t column, const char *name, size_t n)
{
    char *copy = strndup(name, n);
    m->no_memory |= copy == NULL;
    if (!copy) return;
    m->chosen[m->n_chosen] = column;
    m->names[m->n_chosen++] = copy;
}

/* Tensors under the names that the document has for their fields. */
static void choose_tensors(making *m, const char *which)
{
    for (unsigned i = 0; i < MAX_COLUMNS; i++) {
        size_t before = m->n_chosen;
        for (int field = 0; field < OP_TENSOR_FIELDS; field++) {
            char there[64], wanted[64];
            snprintf(there, sizeof there, "%s_%u_%s", which, i, op_tensor_field(OP_COLUMNS_CURRENT, field));
            snprintf(wanted, sizeof wanted, "%s_%u_%s", which, i,
                     op_tensor_field(OP_COLUMNS_REFERENCE, field));
            size_t at = find(m, there);
            if (at == SIZE_MAX) at = find(m, wanted);
            if (at != SIZE_MAX) choose(m, at, wanted, strlen(wanted));
        }
        if (m->n_chosen == before) break;
    }
}

static void choose_reference(making *m)
{
    size_t n;
    const op_column *columns = op_columns(OP_COLUMNS_REFERENCE, &n);
    for (size_t i = 0; i < n; i++) {
        if (columns[i].kind == OP_COL_INPUTS || columns[i].kind == OP_COL_OUTPUTS) {
            choose_tensors(m, columns[i].header);
            continue;
        }
        size_t at = find(m, columns[i].header);
        if (at != SIZE_MAX || columns[i].kind == OP_COL_CALL_COUNT)
            choose(m, at, columns[i].header, strlen(columns[i].header));
    }
}

static void take_header(making *m)
{
    size_t most = m->n_cells + 256;
    m->n_header = m->n_cells;
    m->code = find(m, "OP CODE");
    m->chosen = calloc(most, sizeof *m->chosen);
    m->names = calloc(most, sizeof *m->names);
    m->no_memory |= !m->chosen || !m->names;
    if (m->no_memory) return;
    if (m->o->reference) choose_reference(m);
    for (size_t i = 0; i < m->n_cells && !m->o->reference; i++) {
        size_t n;
        const char *text = text_of(m, i, &n);
        choose(m, i, text, n);
    }
    for (size_t i = 0; i < m->n_chosen && !m->o->json; i++) {
        if (i) dl_str_char(m->out, ',');
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): those that were chosen have names */
        dl_str_csv(m->out, m->names[i], strlen(m->names[i]));
    }
    dl_str_add(m->out, m->o->json ? "[" : "\n");
}

static uint32_t count_of(making *m)
{
    size_t n;
    const char *text = text_of(m, m->code, &n);
    uint32_t number = dl_intern_add(m->codes, text, n);
    if (number == DL_NO_STRING) return 0;
    if (number >= m->cap_counts) {
        size_t cap = (size_t)number * 2 + 64;
        uint32_t *grown = realloc(m->counts, cap * sizeof *grown);
        m->no_memory |= grown == NULL;
        if (!grown) return 0;
        memset(grown + m->cap_counts, 0, (cap - m->cap_counts) * sizeof *grown);
        m->counts = grown;
        m->cap_counts = cap;
    }
    return ++m->counts[number];
}

static void write_row(making *m)
{
    char digits[16];
    if (m->o->json) dl_str_add(m->out, m->got->rows ? ",\n{" : "{");
    m->got->rows++;
    m->got->short_rows += m->n_cells < m->n_header;
    for (size_t i = 0; i < m->n_chosen; i++) {
        size_t n;
        const char *text = text_of(m, m->chosen[i], &n);
        if (m->chosen[i] == SIZE_MAX && m->code != SIZE_MAX) {
            n = (size_t)snprintf(digits, sizeof digits, "%u", count_of(m));
            text = digits;
        }
        if (i) dl_str_char(m->out, ',');
        if (!m->o->json) {
            dl_str_csv(m->out, text, n);
            continue;
        }
        dl_str_json(m->out, m->names[i], strlen(m->names[i]));
        dl_str_char(m->out, ':');
        if (!n)
            dl_str_add(m->out, "null");
        else if (tt_is_number(text, n))
            dl_str_add_n(m->out, text, n);
        else
            dl_str_json(m->out, text, n);
    }
    dl_str_add(m->out, m->o->json ? "}" : "\n");
}

static void on_row(int end, void *ctx)
{
    making *m = ctx;
    m->got->cut |= end < 0 && m->n_header && m->n_cells < m->n_header;
    if (m->n_cells && !m->no_memory) {
        if (!m->names)
            take_header(m);
        else
            write_row(m);
    }
    m->n_cells = 0;
    dl_str_clear(&m->text);
}

devlog_status tt_made_write(const char *path, const tt_report_options *options, dl_str *out,
                            devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                            tt_made_counts *counts, devlog_error *err)
{
    *counts = (tt_made_counts){0};
    making m = {.o = options, .out = out, .got = counts, .code = SIZE_MAX};
    struct csv_parser csv;
    dl_input *in;
    devlog_status status = dl_input_open(&in, path, err);
    if (status) return status;
    if (csv_init(&csv, 0) != 0) {
        dl_input_close(in);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    char *block = malloc(BLOCK);
    m.codes = dl_intern_new(256 * 1024, 16 * 1024 * 1024);
    m.no_memory = !block || !m.codes;
    for (size_t got = 1; got && !status && !m.no_memory;) {
        status = dl_input_read(in, block, BLOCK, &got, err);
        if (!status && csv_parse(&csv, block, got, on_cell, on_row, &m) != got) m.no_memory = true;
        if (!status && out->len >= BLOCK) status = flush(ctx, err);
    }
    if (!status && !m.no_memory) csv_fini(&csv, on_cell, on_row, &m);
    if (!status && !m.n_header && !m.no_memory) status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is empty", path);
    if (options->json && m.names) dl_str_add(out, "]\n");
    if (!status && (m.no_memory || out->failed || m.text.failed))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = flush(ctx, err);
    csv_free(&csv);
    free(block);
    free(m.cells);
    for (size_t i = 0; i < m.n_chosen; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as many as n_chosen says */
        free(m.names[i]);
    free(m.names);
    free(m.chosen);
    free(m.counts);
    dl_intern_free(m.codes);
    dl_str_free(&m.text);
    dl_input_close(in);
    return status;
}
