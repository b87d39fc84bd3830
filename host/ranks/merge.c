/* The reports of all ranks as one CSV: op by op, in each op rank by rank, as those ask for it who compare ranks. Rows are
 * written as they stand, to a file without a name first, because a rank's order is not that of all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "decode/input.h"
#include "ranks/ranks.h"

enum { MOST_COLUMNS = 65536, TABLE = 1 << 18, AGAIN = 0x1f };

typedef struct place {
    uint64_t at;                  /* in the spool */
    uint32_t size, op, rank, row; /* op: place; rows without device data: of the one before them, + 1 */
    bool of_device;
} place;

typedef struct merging {
    const ranks *r;
    dl_intern *columns;  /* of all reports: number 1 is the first */
    uint32_t *column_of; /* of the file in hand */
    size_t n_columns, cap_columns;
    uint32_t *op_of_row; /* of the rank in hand: place + 1; 0: none */
    size_t n_rows;       /* that op_of_row has */
    dl_str *cells;       /* the row, by column of all */
    size_t n_cells;      /* room */
    size_t at;           /* cell of the row in hand */
    uint64_t row;        /* of the file; 0: the header */
    uint32_t rank, last; /* place + 1 of the last row with device data */
    int spool;
    dl_str out;
    uint64_t spooled;
    place *places;
    size_t n_places, cap_places;
    bool no_memory, header_only, failed;
} merging;

static bool is_taken(const merging *m, uint32_t column)
{
    for (size_t i = 0; i < m->n_columns; i++)
        if (m->column_of[i] == column) return true;
    return false;
}

/* The column of a name that has been there so many times: told apart by what no name has in it, and is not written. */
static uint32_t again(merging *m, const char *text, size_t n, unsigned times)
{
    dl_str name = {0};
    dl_str_add_n(&name, text, n);
    dl_str_fmt(&name, "%c%u", AGAIN, times);
    const uint32_t column = name.failed ? DL_NO_STRING : dl_intern_add(m->columns, name.text, name.len);
    dl_str_free(&name);
    return column;
}

static void header_cell(void *ctx, const char *text, size_t n)
{
    merging *m = ctx;
    if (m->row || m->n_columns == MOST_COLUMNS) return;
    if (m->n_columns == m->cap_columns) {
        const size_t cap = m->cap_columns ? m->cap_columns * 2 : 256;
        uint32_t *grown = realloc(m->column_of, cap * sizeof *grown);
        m->no_memory |= !grown;
        if (!grown) return;
        m->column_of = grown;
        m->cap_columns = cap;
    }
    if (m->n_columns == 0 && n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        n -= 3;
    }
    uint32_t column = dl_intern_add(m->columns, text, n);
    /* A name that comes again in a file is a column of its own, and so is one without a name. */
    for (unsigned times = 1; column != DL_NO_STRING && (!column || is_taken(m, column)); times++)
        column = again(m, text, n, times);
    m->no_memory |= column == DL_NO_STRING;
    m->column_of[m->n_columns++] = column;
}

static void header_row(void *ctx)
{
    merging *m = ctx;
    m->row++;
}

static void on_cell(void *ctx, const char *text, size_t n)
{
    merging *m = ctx;
    if (!m->row) {
        header_cell(ctx, text, n);
    } else if (m->at < m->n_columns && m->column_of[m->at]) {
        dl_str *cell = &m->cells[m->column_of[m->at]];
        cell->len = 0;
        dl_str_add_n(cell, text, n);
        m->no_memory |= cell->failed;
    }
    m->at++;
}

static void add_cell(dl_str *out, const char *text, size_t n)
{
    const bool plain =
        !memchr(text, ',', n) && !memchr(text, '"', n) && !memchr(text, '\n', n) && !memchr(text, '\r', n);
    if (!plain) dl_str_char(out, '"');
    for (size_t i = 0; !plain && i < n; i++) {
        if (text[i] == '"') dl_str_char(out, '"');
        dl_str_char(out, text[i]);
    }
    if (plain) dl_str_add_n(out, text, n);
    if (!plain) dl_str_char(out, '"');
}

static void on_row(void *ctx)
{
    merging *m = ctx;
    const uint64_t row = m->row++;
    const size_t before = m->out.len;
    m->at = 0;
    if (!row || m->no_memory || m->failed) return;
    for (size_t i = 1; i < m->n_cells; i++) {
        add_cell(&m->out, m->cells[i].text ? m->cells[i].text : "", m->cells[i].len);
        dl_str_char(&m->out, ',');
        m->cells[i].len = 0;
    }
    const rank_entry *e = &m->r->items[m->rank];
    dl_str_fmt(&m->out, "%u,", e->number);
    if (e->host) add_cell(&m->out, e->host, strlen(e->host));
    dl_str_char(&m->out, '\n');
    if (m->n_places == m->cap_places) {
        const size_t cap = m->cap_places ? m->cap_places * 2 : 4096;
        place *grown = realloc(m->places, cap * sizeof *grown);
        m->no_memory |= !grown;
        if (!grown) return;
        m->places = grown;
        m->cap_places = cap;
    }
    const uint32_t op = row < m->n_rows ? m->op_of_row[row] : 0;
    if (op) m->last = op;
    m->places[m->n_places++] = (place){.at = m->spooled + before,
                                       .size = (uint32_t)(m->out.len - before),
                                       .op = m->last,
                                       .rank = m->rank,
                                       .row = (uint32_t)row,
                                       .of_device = op != 0};
    if (m->out.len < TABLE) return;
    m->failed |= dl_write_all(m->spool, m->out.text, m->out.len) != 0;
    m->spooled += m->out.len;
    m->out.len = 0;
}

/* Reads a report from its beginning; only its header where that is all that is wanted. */
static devlog_status feed(merging *m, const char *path, devlog_error *err)
{
    dl_csv csv = {.cell = m->header_only ? header_cell : on_cell,
                  .row = m->header_only ? header_row : on_row,
                  .ctx = m};
    char *block = malloc(TABLE);
    dl_input *in = NULL;
    size_t n = 1;
    m->n_columns = 0;
    m->row = m->at = 0;
    devlog_status status =
        block ? dl_input_open(&in, path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    while (!status && n && !(m->header_only && m->row)) {
        status = dl_input_read(in, block, TABLE, &n, err);
        if (!status && n) dl_csv_feed(&csv, block, n);
    }
    if (!status) dl_csv_end(&csv);
    if (!status && (csv.text.failed || m->no_memory))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status && m->failed)
        status = dl_fail_errno(err, errno, "cannot write the temporary file for rows of ranks");
    dl_csv_free(&csv);
    if (in) dl_input_close(in);
    free(block);
    return status;
}

static devlog_status spool_rank(merging *m, uint32_t rank, devlog_error *err)
{
    const ranks *r = m->r;
    m->rank = rank;
    m->last = 0;
    m->n_rows = 0;
    size_t from = r->n_items, to = 0; /* a rank's items lie together */
    for (size_t k = 0; k < r->n_lanes; k++) {
        const rank_lane *l = &r->lanes[k];
        if (l->rank != rank) continue;
        if (l->first < from) from = l->first;
        if (l->first + l->n > to) to = l->first + l->n;
    }
    for (size_t i = from; i < to; i++)
        if (r->ops_of_lanes[i].row >= m->n_rows) m->n_rows = (size_t)r->ops_of_lanes[i].row + 1;
    m->op_of_row = calloc(m->n_rows + 1, sizeof *m->op_of_row);
    if (!m->op_of_row) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = from; i < to; i++)
        m->op_of_row[r->ops_of_lanes[i].row] = r->ops[r->ops_of_lanes[i].op].place + 1;
    devlog_status status = feed(m, r->items[rank].report, err);
    free(m->op_of_row);
    m->op_of_row = NULL;
    return status;
}

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->of_device != y->of_device) return x->of_device ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static devlog_status write_all(merging *m, const char *path, devlog_error *err)
{
    dl_file_writer w;
    if (m->n_places) qsort(m->places, m->n_places, sizeof *m->places, by_place);
    const char *rows = m->spooled ? mmap(NULL, m->spooled, PROT_READ, MAP_PRIVATE, m->spool, 0) : "";
    if (rows == MAP_FAILED)
        return dl_fail_errno(err, errno, "cannot read the temporary file for rows of ranks");
    devlog_status status = dl_file_create(&w, path, err);
    if (!status) {
        for (uint32_t i = 1; i < m->n_cells; i++) {
            size_t n;
            const char *name = dl_intern_text(m->columns, i, &n);
            const char *end = memchr(name, AGAIN, n);
            add_cell(&w.buffer, name, end ? (size_t)(end - name) : n);
            dl_str_char(&w.buffer, ',');
        }
        dl_str_add(&w.buffer, "RANK,HOST\n");
        for (size_t i = 0; i < m->n_places; i++) {
            dl_str_add_n(&w.buffer, rows + m->places[i].at, m->places[i].size);
            if (w.buffer.len > TABLE) dl_file_flush(&w);
        }
        status = dl_file_commit(&w, err);
    }
    if (m->spooled) munmap((void *)rows, m->spooled);
    return status;
}

/* A file without a name in the folder of what is written. */
static devlog_status open_spool(merging *m, const char *path, devlog_error *err)
{
    dl_str name = {0};
    dl_str_fmt(&name, "%s.XXXXXX", path);
    if (name.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    m->spool = mkostemp(name.text, O_CLOEXEC);
    if (m->spool < 0)
        dl_fail_errno(err, errno, "cannot write beside %s", path);
    else
        unlink(name.text);
    dl_str_free(&name);
    return m->spool < 0 ? err->status : DEVLOG_OK;
}

devlog_status ranks_merge(const ranks *r, const char *path, uint64_t *rows, devlog_error *err)
{
    merging m = {
        .r = r, .columns = dl_intern_new(MOST_COLUMNS, SIZE_MAX / 2), .spool = -1, .header_only = true};
    devlog_status status =
        m.columns ? open_spool(&m, path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < r->n && !status; i++)
        if (r->items[i].report) status = feed(&m, r->items[i].report, err);
    m.header_only = false;
    if (!status) {
        m.n_cells = dl_intern_count(m.columns);
        m.cells = calloc(m.n_cells + 1, sizeof *m.cells);
        if (!m.cells) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < r->n && !status; i++)
        if (r->items[i].report) status = spool_rank(&m, (uint32_t)i, err);
    if (!status && m.out.len) {
        if (dl_write_all(m.spool, m.out.text, m.out.len) != 0)
            status = dl_fail_errno(err, errno, "cannot write the temporary file for rows of ranks");
        m.spooled += m.out.len;
    }
    if (!status) status = write_all(&m, path, err);
    *rows = m.n_places;
    for (size_t i = 0; m.cells && i < m.n_cells; i++)
        dl_str_free(&m.cells[i]);
    free(m.cells);
    free(m.places);
    free(m.column_of);
    dl_str_free(&m.out);
    if (m.spool >= 0) close(m.spool);
    dl_intern_free(m.columns);
    return status;
}
