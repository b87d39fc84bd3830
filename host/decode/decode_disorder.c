/* Logs in disorder: rows of one RISC that are neither neighbours nor in order of time, as when somebody
 * sorted a log by another column, or by none. No writer of logs leaves such; they are told by their
 * beginning. Then all rows are held, put in order RISC by RISC, and paired at the end. Not for rows that are
 * out of order within one launch of a RISC (order.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/order.h"

enum {
    LOOK_BYTES = 512 * 1024,     /* of a log that are looked at */
    LEAST_LATE = 3,              /* rows behind later ones, at least .. */
    ONE_IN = 32,                 /* .. and one in so many */
    MOST_HELD = 8 * 1024 * 1024, /* rows, of 64 bytes; more are put in order in pieces */
};

/* What is found out about a log: the last row of each RISC, and how many rows are behind later ones. */
typedef struct disorder {
    dl_row *last; /* by stream; line 0: none yet */
    uint32_t n;
    uint32_t before; /* stream of the row before */
    uint64_t rows, late;
    const dl_tables *tables;
} disorder;

static devlog_status look_at_rows(void *ctx, dl_row *rows, size_t n, bool all, size_t *taken,
                                  devlog_error *err)
{
    disorder *o = ctx;
    (void)all;
    *taken = n;
    for (size_t i = 0; i < n; i++) {
        const dl_row *row = &rows[i];
        if (row->stream >= o->n) {
            uint32_t more = (row->stream + 64) * 2;
            dl_row *last = realloc(o->last, more * sizeof *last);
            if (!last) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
            memset(last + o->n, 0, (more - o->n) * sizeof *last);
            o->last = last;
            o->n = more;
        }
        dl_row *last = &o->last[row->stream];
        bool same_ids = last->run_host_id == row->run_host_id && last->run_id == row->run_id &&
                        last->trace_id == row->trace_id && last->trace_counter == row->trace_counter;
        bool apart = !same_ids || o->before != row->stream;
        bool later = last->line && dl_order_is_later(last->time, row->time);
        /* A firmware start may be the first of another run, with another clock. */
        bool starts = row->type == DL_ROW_ZONE_START && o->tables->sites[row->site].role == DL_ROLE_FW;
        o->late += apart && later && !starts;
        if (!later || !same_ids || starts) *last = *row;
        o->before = row->stream;
    }
    o->rows += n;
    return DEVLOG_OK;
}

static devlog_status look_at_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    disorder *o = ctx;
    (void)chip, (void)err;
    if (o->n) memset(o->last, 0, o->n * sizeof *o->last); /* another run's clock */
    return DEVLOG_OK;
}

bool decode_is_disordered(dl_input *in)
{
    devlog_error unheard;
    dl_tables tables;
    dl_losses losses = {0};
    disorder o = {.before = DL_NONE, .tables = &tables};
    dl_block block = {0};
    dl_block_reader reader = {.in = in};
    const dl_parse_sink sink = {&o, look_at_rows, NULL, look_at_chip};
    if (dl_tables_init(&tables, &unheard) != DEVLOG_OK) return false;
    uint64_t size = dl_input_size(in);
    dl_parser *parser = dl_parser_new(&tables, &losses, DL_PARSE_BEST);
    if (parser && dl_block_init(&block, size && size < LOOK_BYTES ? (size_t)size + 1 : LOOK_BYTES)) {
        devlog_status status = DEVLOG_OK;
        dl_parser_begin(parser, "");
        for (size_t seen = 0; seen < LOOK_BYTES && !block.last && !status; seen += block.n) {
            dl_block_read(&reader, &block);
            /* A last block has no whole line. */
            if (!block.last) status = dl_parser_block(parser, block.text, block.n, &sink, &unheard);
        }
    }
    dl_block_free(&block);
    dl_parser_free(parser);
    dl_losses_free(&losses);
    dl_tables_free(&tables);
    free(o.last);
    return o.late >= LEAST_LATE && o.late * ONE_IN >= o.rows;
}

/* Rows by stream, and in the order of the log. */
static int by_stream(const void *a, const void *b)
{
    const dl_row *x = a, *y = b;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

devlog_status decode_sorted(dl_decode *d, devlog_error *err)
{
    dl_row *rows = d->run.rows;
    const size_t n = d->run.n_rows;
    devlog_status status = DEVLOG_OK;
    if (n) qsort(rows, n, sizeof *rows, by_stream);
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from + 1; to < n && rows[to].stream == rows[from].stream;)
            to++;
        dl_order_sort(&d->tables, rows + from, to - from);
        dl_order_rows(&d->tables, rows + from, to - from, true);
        status = decode_take_rows(d, rows + from, to - from, err);
    }
    d->run.n_rows = 0;
    return status;
}

static devlog_status hold_rows(void *ctx, dl_row *rows, size_t n, bool all, size_t *taken, devlog_error *err)
{
    dl_decode *d = ctx;
    (void)all;
    *taken = n;
    devlog_status status = dl_block_add_rows(&d->run, rows, n, err);
    return !status && d->run.n_rows >= MOST_HELD ? decode_sorted(d, err) : status;
}

static devlog_status chip_line(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    devlog_status status = decode_sorted(ctx, err);
    return status ? status : decode_chip_line(ctx, chip, err);
}

dl_parse_sink decode_disorder_sink(dl_decode *d)
{
    d->run.n_rows = 0;
    return (dl_parse_sink){d, hold_rows, NULL, chip_line};
}
