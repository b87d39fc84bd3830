/* The decoder's way through a device log: block by block, on one thread or on two, as rows or, when
 * statistics are all that is wanted, as hits. Not for captures. */
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/order.h"

enum {
    TWO_THREADS_FROM = 2 * 1024 * 1024,
    ROWS_AT_ONCE = 512,
    MOST_FOR_HITS =
        64 * 1024 * 1024 /* bytes in a block, whose hits must not have more frames than are numbered */
};

static devlog_status on_rows(void *ctx, dl_row *rows, size_t n, bool all, size_t *taken, devlog_error *err)
{
    dl_decode *d = ctx;
    *taken = dl_order_rows(&d->tables, rows, n, all);
    return decode_take_rows(d, rows, *taken, err);
}

static devlog_status on_hits(void *ctx, dl_hits *hits, bool all, uint32_t *taken, devlog_error *err)
{
    return dl_pair_hits(((dl_decode *)ctx)->pair, hits, 0, hits->n, all, taken, err);
}

/* An input broke off: what was read stays, the rest is lost. */
static void lose_rest(dl_decode *d, const devlog_error *why)
{
    d->losses.stopped = true;
    dl_losses_found(&d->losses, DL_FOUND_CORRUPT, 1, "%s", why->text);
}

static devlog_status parse_block(dl_decode *d, const dl_block *b, const dl_parse_sink *sink,
                                 devlog_error *err)
{
    if (b->too_long) dl_parser_too_long(d->parser);
    if (b->broken) lose_rest(d, &b->why);
    return b->last ? dl_parser_last(d->parser, b->text, b->n, sink, err)
                   : dl_parser_block(d->parser, b->text, b->n, sink, err);
}

static void tell_progress(const dl_decode *d, uint64_t taken, uint64_t rows)
{
    if (d->options.progress)
        d->options.progress(d->options.progress_ctx, dl_input_name(d->in), taken, dl_input_size(d->in), rows);
}

static devlog_status on_one_thread(dl_decode *d, devlog_error *err)
{
    const dl_parse_sink sink =
        d->disordered ? decode_disorder_sink(d) : (dl_parse_sink){d, on_rows, on_hits, decode_chip_line};
    dl_block *b = &d->blocks[0];
    devlog_status status = DEVLOG_OK;
    dl_hits_clear(&d->hits);
    dl_parser_hits(d->parser, d->as_hits ? &d->hits : NULL);
    do {
        dl_block_read(&d->reader, b);
        status = parse_block(d, b, &sink, err);
        tell_progress(d, b->taken, d->losses.rows);
    } while (!status && !b->last);
    return !status && d->disordered ? decode_sorted(d, err) : status;
}

/* On two threads, parsing puts its rows or hits into the block as they are, and pairing takes them from
 * there.
 */

typedef struct collector {
    dl_decode *d;
    dl_block *block;
} collector;

static devlog_status collect_rows(void *ctx, dl_row *rows, size_t n, bool all, size_t *taken,
                                  devlog_error *err)
{
    (void)all;
    *taken = n;
    return dl_block_add_rows(((collector *)ctx)->block, rows, n, err);
}

/* The hits are in the block already. */
static devlog_status collect_hits(void *ctx, dl_hits *hits, bool all, uint32_t *taken, devlog_error *err)
{
    (void)ctx, (void)hits, (void)all, (void)err;
    *taken = 0;
    return DEVLOG_OK;
}

static devlog_status collect_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    collector *c = ctx;
    const dl_chip_line named = decode_named_chip(c->d, chip);
    return dl_block_add_chip(c->block, &named, err);
}

/* Completes the run of rows that the block before has left unfinished. Returns how many rows it took. */
static devlog_status finish_run(dl_decode *d, const dl_row *rows, size_t n, bool all, size_t *taken,
                                devlog_error *err)
{
    dl_block *run = &d->run;
    const dl_row *last = &run->rows[run->n_rows - 1];
    dl_order_run known = {0};
    size_t i = 0;
    for (size_t k = 0; k < run->n_rows; k++)
        dl_order_add(&d->tables, &known, &run->rows[k]);
    for (; i < n && !dl_order_run_is_full(&known); i++) {
        if (dl_order_boundary(&d->tables, &known, i ? &rows[i - 1] : last, &rows[i])) break;
        dl_order_add(&d->tables, &known, &rows[i]);
    }
    *taken = i;
    devlog_status status = dl_block_add_rows(run, rows, i, err);
    if (status || (i == n && !all && !dl_order_run_is_full(&known))) return status;
    dl_order_rows(&d->tables, run->rows, run->n_rows, true);
    status = decode_take_rows(d, run->rows, run->n_rows, err);
    run->n_rows = 0;
    return status;
}

/* Puts rows in order, run by run, and pairs them. Unless `all`, the last run may go on in the next block and
 * is kept until then. */
static devlog_status pair_rows(dl_decode *d, dl_row *rows, size_t n, bool all, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    size_t window = ROWS_AT_ONCE, from = 0;
    if (n == 0 && !d->run.n_rows) return DEVLOG_OK;
    if (d->run.n_rows) status = finish_run(d, rows, n, all, &from, err);
    while (from < n && !status) {
        size_t some = n - from < window ? n - from : window;
        size_t whole = dl_order_rows(&d->tables, rows + from, some, all && some == n - from);
        window = whole ? ROWS_AT_ONCE : window * 2;
        if (whole) status = decode_take_rows(d, rows + from, whole, err);
        from += whole;
        if (!whole && some == n - from) break;
    }
    return status || from == n ? status : dl_block_add_rows(&d->run, rows + from, n - from, err);
}

/* The same for hits. */
static devlog_status finish_run_of_hits(dl_decode *d, const dl_hits *h, uint32_t from, uint32_t to, bool all,
                                        uint32_t *taken, devlog_error *err)
{
    dl_hits *run = &d->run.hits;
    dl_order_run known = {0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < run->n; k++)
        dl_hit_add(&known, &run->items[k]);
    for (; from + n < to && !dl_order_run_is_full(&known); n++) {
        const dl_hit *hit = &h->items[from + n];
        if (n ? dl_hits_boundary(&known, h, from + n - 1, h, from + n)
              : dl_hits_boundary(&known, run, run->n - 1, h, from))
            break;
        dl_hit_add(&known, hit);
    }
    *taken = n;
    if (!dl_hits_add(run, h, from, n)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (from + n == to && !all && !dl_order_run_is_full(&known)) return DEVLOG_OK;
    uint32_t whole;
    devlog_status status = dl_pair_hits(d->pair, run, 0, run->n, true, &whole, err);
    dl_hits_clear(run);
    return status;
}

static devlog_status pair_hits(dl_decode *d, const dl_hits *h, uint32_t from, uint32_t to, bool all,
                               devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint32_t taken = 0;
    if (d->run.hits.n) status = finish_run_of_hits(d, h, from, to, all, &taken, err);
    from += taken;
    if (status || from == to) return status;
    status = dl_pair_hits(d->pair, h, from, to, all, &taken, err);
    from += taken;
    if (!status && !dl_hits_add(&d->run.hits, h, from, to - from))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return status;
}

static devlog_status read_stage(void *ctx, unsigned slot, bool *last, devlog_error *err)
{
    dl_decode *d = ctx;
    dl_block *b = &d->blocks[slot];
    (void)err;
    dl_block_read(&d->reader, b);
    *last = b->last;
    return DEVLOG_OK;
}

static devlog_status parse_stage(void *ctx, unsigned slot, devlog_error *err)
{
    dl_decode *d = ctx;
    dl_block *b = &d->blocks[slot];
    collector c = {d, b};
    const dl_parse_sink sink = {&c, collect_rows, collect_hits, collect_chip};
    dl_parser_hits(d->parser, d->as_hits ? &b->hits : NULL);
    devlog_status status = parse_block(d, b, &sink, err);
    d->losses.rows += b->hits.n;
    b->rows_so_far = d->losses.rows;
    b->counts = d->tables.added;
    return status;
}

static devlog_status pair_stage(void *ctx, unsigned slot, devlog_error *err)
{
    dl_decode *d = ctx;
    const dl_block *b = &d->blocks[slot];
    devlog_status status = DEVLOG_OK;
    size_t from = 0;
    dl_tables_publish(&d->tables, b->counts);
    for (size_t i = 0; i <= b->n_chips && !status; i++) {
        size_t to = i < b->n_chips ? b->chips[i].before_row : b->n_rows + b->hits.n;
        bool all = i < b->n_chips || b->last;
        dl_row *rows = !d->as_hits && to > from ? b->rows + from : NULL;
        status = d->as_hits ? pair_hits(d, &b->hits, (uint32_t)from, (uint32_t)to, all, err)
                            : pair_rows(d, rows, to - from, all, err);
        from = to;
        if (i < b->n_chips && !status) status = dl_pair_chip_line(d->pair, &b->chips[i].chip, err);
    }
    tell_progress(d, b->taken, b->rows_so_far);
    return status;
}

static devlog_status on_two_threads(dl_decode *d, devlog_error *err)
{
    const dl_pipeline_stages stages = {d, read_stage, parse_stage, pair_stage};
    dl_losses of_pairing = {0};
    d->run.n_rows = 0;
    dl_hits_clear(&d->run.hits);
    dl_pair_losses(d->pair, &of_pairing);
    d->tables.unpublished = true;
    devlog_status status = dl_pipeline_run(&stages, true, err);
    d->tables.unpublished = false;
    dl_tables_publish(&d->tables, d->tables.added);
    dl_pair_losses(d->pair, &d->losses);
    dl_losses_merge(&d->losses, &of_pairing);
    return status;
}

devlog_status decode_log(dl_decode *d, dl_input *in, const char *name, devlog_error *err)
{
    bool two = !d->disordered && dl_pipeline_two(d->options.threads, in, TWO_THREADS_FROM);
    for (size_t i = 0; i < (two ? DL_PIPELINE_SLOTS : 1); i++)
        if (!d->blocks[i].buffer && !dl_block_init(&d->blocks[i], d->cap))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->as_hits = !d->disordered && dl_pair_takes_hits(d->pair) && !d->rows.rows && !d->options.keep_meta &&
                 d->cap <= MOST_FOR_HITS;
    d->reader = (dl_block_reader){.in = in};
    d->in = in;
    dl_parser_begin(d->parser, name);
    devlog_status status = two ? on_two_threads(d, err) : on_one_thread(d, err);
    d->losses.lines += dl_parser_lines(d->parser);
    d->in = NULL;
    return status;
}
