/* Op reports as Markdown. See op_markdown.h. */
#include "ops/op_markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "decode/input.h"

enum { BLOCK = 256 * 1024 };

typedef struct column {
    bool used, text; /* text: something in it is no number */
} column;

typedef struct writing {
    column *columns;
    size_t n, cap, cell;
    bool head; /* the row in hand is the first one */
    bool no_memory;
    dl_file_writer *w; /* NULL: the first pass, which looks */
    dl_str text;
} writing;

static bool is_number(const char *text, size_t n)
{
    static const char in_numbers[] = "0123456789.+-eE";
    bool digit = false;
    for (size_t i = 0; i < n; i++) {
        if (!memchr(in_numbers, text[i], sizeof in_numbers - 1)) return false;
        digit |= text[i] >= '0' && text[i] <= '9';
    }
    return digit;
}

static void look(writing *x, const char *text, size_t n)
{
    if (x->cell == x->cap) {
        const size_t cap = x->cap ? x->cap * 2 : 128;
        column *grown = realloc(x->columns, cap * sizeof *grown);
        x->no_memory |= grown == NULL;
        if (!grown) return;
        memset(grown + x->cap, 0, (cap - x->cap) * sizeof *grown);
        x->columns = grown;
        x->cap = cap;
    }
    if (x->cell >= x->n) x->n = x->cell + 1;
    if (x->head || !n) return;
    x->columns[x->cell].used = true;
    x->columns[x->cell].text |= !is_number(text, n);
}

static void on_cell(void *ctx, const char *text, size_t n)
{
    writing *x = ctx;
    if (!x->w) {
        look(x, text, n);
    } else if (x->cell < x->n && x->columns[x->cell].used) {
        dl_str_clear(&x->text);
        dl_str_add_n(&x->text, text, n);
        x->no_memory |= x->text.failed;
        dl_str_add(&x->w->buffer, "| ");
        if (n && !x->text.failed) dl_str_markdown(&x->w->buffer, x->text.text);
        dl_str_char(&x->w->buffer, ' ');
    }
    x->cell++;
}

static void on_row(void *ctx)
{
    writing *x = ctx;
    /* A row that is short has its cells all the same. */
    for (; x->w && x->cell < x->n; x->cell++)
        if (x->columns[x->cell].used) dl_str_add(&x->w->buffer, "| ");
    if (x->w) dl_str_add(&x->w->buffer, "|\n");
    for (size_t k = 0; x->w && x->head && k < x->n; k++)
        if (x->columns[k].used) dl_str_add(&x->w->buffer, x->columns[k].text ? "|---" : "|--:");
    if (x->w && x->head) dl_str_add(&x->w->buffer, "|\n");
    x->head = false;
    x->cell = 0;
    if (x->w) dl_file_flush(x->w);
}

static devlog_status pass(writing *x, const char *csv_path, devlog_error *err)
{
    dl_csv csv = {.cell = on_cell, .row = on_row, .ctx = x};
    dl_input *in;
    size_t got = 1;
    x->head = true;
    x->cell = 0;
    char *block = malloc(BLOCK);
    devlog_status status =
        block ? dl_input_open(&in, csv_path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) {
        free(block);
        return status;
    }
    while (!status && got && !x->no_memory) {
        status = dl_input_read(in, block, BLOCK, &got, err);
        if (!status) dl_csv_feed(&csv, block, got);
    }
    if (!status) dl_csv_end(&csv);
    x->no_memory |= csv.text.failed;
    dl_csv_free(&csv);
    dl_input_close(in);
    free(block);
    if (!status && x->no_memory) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return status;
}

devlog_status op_markdown_write(const char *csv, const char *to, devlog_error *err)
{
    writing x = {0};
    dl_file_writer w;
    devlog_status status = pass(&x, csv, err);
    bool any = false;
    for (size_t k = 0; k < x.n; k++)
        any |= x.columns[k].used;
    for (size_t k = 0; k < x.n && !any; k++)
        x.columns[k].used = true; /* no rows: the head alone */
    if (!status) status = dl_file_create(&w, to, err);
    x.w = status ? NULL : &w;
    if (x.w) {
        status = pass(&x, csv, err);
        if (!status)
            status = dl_file_commit(&w, err);
        else
            dl_file_abandon(&w);
    }
    free(x.columns);
    dl_str_free(&x.text);
    return status;
}

devlog_status op_markdown_beside(const char *csv, char **to, devlog_error *err)
{
    static const char from[] = ".csv";
    dl_str name = {0};
    size_t n = strlen(csv);
    if (n > sizeof from - 1 && strcmp(csv + n - (sizeof from - 1), from) == 0) n -= sizeof from - 1;
    dl_str_add_n(&name, csv, n);
    dl_str_add(&name, ".md");
    *to = name.text;
    return name.failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : op_markdown_write(csv, *to, err);
}
