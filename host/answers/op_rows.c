/* The rows of an op report as they stand. See op_rows.h. */
#include "answers/op_rows.h"

#include <stdlib.h>

#include "base/csv.h"
#include "decode/input.h"
#include "ops/op_columns.h"
#include "ops/op_table.h"

enum { BLOCK = 256 * 1024, EXACT_DIGITS = 15 };

void op_rows_job_free(op_rows_job *j)
{
    answer_free(&j->a);
    run_inputs_free(&j->in);
    dl_str_free(&j->troubles);
    free(j->columns);
}

typedef struct reader {
    op_rows_job *j;
    answer_section *s; /* NULL: the header has not been read */
    size_t cell;
    bool any;
} reader;

/* Texts, however much they look like numbers. */
static bool is_text(const char *name)
{
    static const uint8_t kinds[] = {
        OP_COL_CODE,     OP_COL_TYPE,         OP_COL_ARCH,           OP_COL_FIDELITY,     OP_COL_ATTRIBUTES,
        OP_COL_STRATEGY, OP_COL_NOTE,         OP_COL_COMPUTE_SOURCE, OP_COL_COMPUTE_HASH, OP_COL_DM_SOURCE,
        OP_COL_DM_HASH,  OP_COL_PROGRAM_HASH, OP_COL_STACK};
    size_t n;
    const op_column *known = op_columns_with_stacks(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i].header, name) == 0) return memchr(kinds, known[i].kind, sizeof kinds) != NULL;
    return false;
}

static void add_column(reader *r, const char *text, size_t n)
{
    op_rows_job *j = r->j;
    if (r->cell == 0 && n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3; /* a byte order mark */
        n -= 3;
    }
    if (j->n_columns == j->cap_columns) {
        const size_t cap = j->cap_columns ? j->cap_columns * 2 : 128;
        answer_column *grown = realloc(j->columns, cap * sizeof *grown);
        j->a.no_memory |= !grown;
        if (!grown) return;
        j->columns = grown;
        j->cap_columns = cap;
    }
    const char *name = answer_keep(&j->a, text, n);
    j->columns[j->n_columns++] = (answer_column){name, name, is_text(name) ? ANSWER_TEXT : ANSWER_COUNT, 0};
}

/* A decimal number that a double has room for. */
static bool number_of(const char *text, size_t n, double *out)
{
    char copy[32];
    size_t digits = 0;
    for (size_t i = 0; i < n; i++) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        digits += digit;
        if (!digit && text[i] != '.' && !(text[i] == '-' && i == 0)) return false;
    }
    if (!digits || digits > EXACT_DIGITS || n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = 0;
    char *end;
    *out = strtod(copy, &end);
    return !*end;
}

static void on_cell(void *ctx, const char *text, size_t n)
{
    reader *r = ctx;
    double value;
    if (!r->s) add_column(r, text, n);
    const size_t at = r->cell++;
    if (!r->s || at >= r->s->n_columns) return;
    r->any |= n != 0;
    const bool words = r->s->columns[at].unit == ANSWER_TEXT;
    if (n == 0 || (!words && n == 1 && *text == '-'))
        answer_unknown(r->s);
    else if (!words && number_of(text, n, &value))
        answer_number(r->s, value);
    else
        answer_text(r->s, answer_keep(&r->j->a, text, n));
}

static void on_row(void *ctx)
{
    reader *r = ctx;
    op_rows_job *j = r->j;
    if (!r->s) {
        r->s = answer_table(&j->a, "ops", "OPS", j->columns, j->n_columns);
    } else if (!r->any) {
        r->s->n -= r->cell < r->s->n_columns ? r->cell : r->s->n_columns; /* an empty line */
    } else {
        for (; r->cell < r->s->n_columns; r->cell++)
            answer_unknown(r->s);
    }
    r->cell = 0;
    r->any = false;
}

static devlog_status read_rows(op_rows_job *j, const char *path, devlog_error *err)
{
    reader r = {.j = j};
    dl_csv csv = {.cell = on_cell, .row = on_row, .ctx = &r};
    dl_input *in;
    size_t got = 1;
    char *block = malloc(BLOCK);
    devlog_status status =
        block ? dl_input_open(&in, path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) {
        free(block);
        return status;
    }
    while (!status && got && !j->a.no_memory) {
        status = dl_input_read(in, block, BLOCK, &got, err);
        if (!status) dl_csv_feed(&csv, block, got);
    }
    if (!status) dl_csv_end(&csv);
    j->a.no_memory |= csv.text.failed;
    dl_csv_free(&csv);
    dl_input_close(in);
    free(block);
    return status ? status : answer_status(&j->a, err);
}

/* The end of a file may be in the middle of a number. */
static void drop_cut(answer_section *s)
{
    size_t at = s->n;
    while (at > s->n - s->n_columns && !s->cells[at - 1].known)
        at--;
    if (at > s->n - s->n_columns) s->cells[at - 1] = (answer_cell){.unit = s->cells[at - 1].unit, .text = ""};
}

devlog_status op_rows_job_run(op_rows_job *j, const char *path, devlog_error *err)
{
    op_table table = {0};
    devlog_status status = answer_begin(&j->a, err);
    if (!status) status = run_inputs_one(&j->in, path, err);
    if (status) return status;
    const run_input *in = &j->in.items[0];
    if (!in->report)
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "%s has no ops: name an op report, or a folder of a run with a log of ops (DEVLOG_OPS=1)", path);
    status = op_table_read(&table, in->report, err);
    if (!status) status = run_input_call(in, &table, err);
    run_input_doubts(in, "", &j->troubles);
    j->lost = op_table_troubles(&table, "", &j->troubles) || in->lost;
    if (!status) status = read_rows(j, in->report, err);
    if (!status && table.cut && j->a.sections[0].n) drop_cut(&j->a.sections[0]);
    op_table_free(&table);
    return run_inputs_failed(&j->in, status, err);
}
