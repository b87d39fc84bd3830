/* One line by libcsv, not strict: for lines with quoted cells, which the fast path declines. */
#include <stdlib.h>

#include "decode/log/parser_internal.h"

typedef struct line_rows {
    dl_parser *p;
    devlog_status (*row)(dl_parser *p, const dl_cell *cells, size_t n, void *ctx);
    void *ctx;
    devlog_status status;
} line_rows;

static void on_cell(void *text, size_t n, void *ctx)
{
    dl_parser *p = ((line_rows *)ctx)->p;
    if (p->n_csv_cells < DL_MAX_CELLS) {
        p->csv_cells[p->n_csv_cells] = (dl_cell){NULL, n};
        dl_str_add_n(&p->csv_text, text, n);
    }
    p->n_csv_cells++;
}

static void on_row(int end, void *ctx)
{
    (void)end;
    line_rows *r = ctx;
    dl_parser *p = r->p;
    size_t stored = p->n_csv_cells < DL_MAX_CELLS ? p->n_csv_cells : DL_MAX_CELLS;
    size_t at = 0;
    for (size_t i = 0; i < stored; i++) {
        p->csv_cells[i].text = p->csv_text.text ? p->csv_text.text + at : "";
        at += p->csv_cells[i].len;
    }
    if (!r->status && !p->csv_text.failed) r->status = r->row(p, p->csv_cells, p->n_csv_cells, r->ctx);
    if (p->csv_text.failed) r->status = DEVLOG_ERR_MEMORY;
    p->n_csv_cells = 0;
    dl_str_clear(&p->csv_text);
}

devlog_status dl_csv_line(dl_parser *p, const char *line, size_t n,
                          devlog_status (*row)(dl_parser *p, const dl_cell *cells, size_t n, void *ctx),
                          void *ctx, devlog_error *err)
{
    if (!p->csv_cells) p->csv_cells = calloc(DL_MAX_CELLS, sizeof *p->csv_cells);
    if (!p->csv_cells) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!p->csv_ready && csv_init(&p->csv, 0) != 0) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    p->csv_ready = true;
    line_rows r = {.p = p, .row = row, .ctx = ctx};
    p->n_csv_cells = 0;
    dl_str_clear(&p->csv_text);
    bool whole = csv_parse(&p->csv, line, n, on_cell, on_row, &r) == n;
    if (csv_fini(&p->csv, on_cell, on_row, &r) != 0) whole = false;
    if (!r.status && !whole) r.status = DEVLOG_ERR_MEMORY;
    if (r.status == DEVLOG_ERR_MEMORY)
        return dl_fail(err, r.status, "out of memory at %s:%llu", p->source, (unsigned long long)p->line);
    return r.status;
}
