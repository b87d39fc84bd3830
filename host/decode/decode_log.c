/* The decoder's way through a device log: block by block, on one thread or on two. Not for captures. */
#include <string.h>

#include "decode/decode_internal.h"

enum {
    TWO_THREADS_FROM = 2 * 1024 * 1024,
    MOST_FOR_BLOCK = 64 * 1024 * 1024 /* bytes, whose marks must not have more frames than are numbered */
};

static devlog_status on_marks(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    return dl_pair_marks(((dl_decode *)ctx)->pair, m, 0, m->n, all, false, taken, err);
}

void decode_lose_rest(dl_decode *d, const devlog_error *why)
{
    d->losses.stopped = true;
    dl_losses_found(&d->losses, DL_FOUND_CORRUPT, 1, "%s", why->text);
}

/* A block of a packed log. */
static devlog_status parse_packed(dl_decode *d, const dl_block *b, const dl_parse_sink *sink,
                                  devlog_error *err)
{
    const char *damage;
    if (b->last) return dl_packed_last(d->packed, d->parser, sink, err);
    if (b->line != UINT64_MAX) dl_parser_at_line(d->parser, b->line);
    devlog_status status = dl_packed_block(d->packed, d->parser, &b->header, b->stored, sink, &damage, err);
    if (status || !damage) return status;
    devlog_error why;
    dl_fail(&why, DEVLOG_ERR_FORMAT, "cannot unpack %s: a block: %s", dl_input_name(d->in), damage);
    decode_lose_rest(d, &why);
    return DEVLOG_OK;
}

static devlog_status parse_block(dl_decode *d, const dl_block *b, const dl_parse_sink *sink,
                                 devlog_error *err)
{
    if (b->too_long) dl_parser_too_long(d->parser);
    if (b->broken) decode_lose_rest(d, &b->why);
    if (b->packed) return parse_packed(d, b, sink, err);
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
        d->disordered ? decode_disorder_sink(d) : (dl_parse_sink){d, on_marks, decode_chip_line};
    dl_block *b = &d->blocks[0];
    devlog_status status = DEVLOG_OK;
    dl_marks_clear(&d->marks);
    dl_parser_marks(d->parser, &d->marks);
    do {
        dl_block_read(&d->reader, b);
        status = parse_block(d, b, &sink, err);
        tell_progress(d, b->taken, d->losses.rows);
    } while (!status && !b->last);
    return !status && d->disordered ? decode_sorted(d, err) : status;
}

/* On two threads, parsing puts its marks into the block as they are, and pairing takes them from there. */

typedef struct collector {
    dl_decode *d;
    dl_block *block;
} collector;

/* The marks are in the block already. */
static devlog_status collect_marks(void *ctx, dl_marks *marks, bool all, uint32_t *taken, devlog_error *err)
{
    (void)ctx, (void)marks, (void)all, (void)err;
    *taken = 0;
    return DEVLOG_OK;
}

static devlog_status collect_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    collector *c = ctx;
    const dl_chip_line named = decode_named_chip(c->d, chip);
    return dl_block_add_chip(c->block, &named, err);
}

/* Completes the run that the block before has left unfinished; *taken marks of this one are of it. */
static devlog_status finish_run(dl_decode *d, dl_block *b, uint32_t from, uint32_t to, bool all,
                                uint32_t *taken, devlog_error *err)
{
    const dl_marks *m = &b->marks;
    dl_marks *run = &d->run;
    dl_order_run known = {0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < run->n; k++)
        dl_order_add(&known, &run->items[k]);
    for (; from + n < to && !dl_order_run_is_full(&known); n++) {
        if (n ? dl_order_boundary(&known, m, from + n - 1, m, from + n)
              : dl_order_boundary(&known, run, run->n - 1, m, from))
            break;
        dl_order_add(&known, &m->items[from + n]);
    }
    *taken = n;
    if (!dl_marks_add(run, m, from, n)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (from + n == to && !all && !dl_order_run_is_full(&known)) return DEVLOG_OK;
    /* It stays until the block has been consumed. */
    dl_marks done = *run;
    uint32_t whole;
    *run = b->carry;
    b->carry = done;
    dl_marks_clear(run);
    return dl_pair_marks(d->pair, &b->carry, 0, b->carry.n, true, false, &whole, err);
}

/* Pairs marks [from, to) of a block. Unless `all`, the last run may go on in the next block and is kept until
 * then. */
static devlog_status pair_marks(dl_decode *d, dl_block *b, uint32_t from, uint32_t to, bool all,
                                devlog_error *err)
{
    const dl_marks *m = &b->marks;
    devlog_status status = DEVLOG_OK;
    uint32_t taken = 0;
    if (d->run.n) status = finish_run(d, b, from, to, all, &taken, err);
    from += taken;
    if (status || from == to) return status;
    status = dl_pair_marks(d->pair, m, from, to, all, false, &taken, err);
    from += taken;
    if (!status && !dl_marks_add(&d->run, m, from, to - from))
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
    const dl_parse_sink sink = {&c, collect_marks, collect_chip};
    dl_parser_marks(d->parser, &b->marks);
    devlog_status status = parse_block(d, b, &sink, err);
    d->losses.rows += b->marks.n;
    b->rows_so_far = d->losses.rows;
    b->counts = d->tables.added;
    return status;
}

static devlog_status pair_stage(void *ctx, unsigned slot, devlog_error *err)
{
    dl_decode *d = ctx;
    dl_block *b = &d->blocks[slot];
    devlog_status status = DEVLOG_OK;
    uint32_t from = 0;
    if (d->sink.apart)
        dl_pair_collect(d->pair, &b->out);
    else
        dl_tables_publish(&d->tables, b->counts);
    for (size_t i = 0; i <= b->n_chips && !status; i++) {
        uint32_t to = i < b->n_chips ? b->chips[i].before : b->marks.n;
        status = pair_marks(d, b, from, to, i < b->n_chips || b->last, err);
        from = to;
        if (i < b->n_chips && !status) status = dl_pair_chip_line(d->pair, &b->chips[i].chip, err);
    }
    if (d->sink.apart) dl_pair_collected(d->pair, &b->out);
    tell_progress(d, b->taken, b->rows_so_far);
    return status;
}

/* What consumers know of the tables is what there was when the block had been parsed. */
static devlog_status consume_stage(void *ctx, unsigned slot, devlog_error *err)
{
    dl_decode *d = ctx;
    dl_block *b = &d->blocks[slot];
    dl_tables_publish(&d->tables, b->counts);
    devlog_status status = dl_outbox_hand_on(&b->out, &d->sink, err);
    if (b->out.extra) dl_marks_clear(b->out.extra);
    return status;
}

static devlog_status on_two_threads(dl_decode *d, devlog_error *err)
{
    const dl_pipeline_stages stages = {
        d, read_stage, parse_stage, pair_stage, d->sink.apart ? consume_stage : NULL, false};
    dl_losses of_pairing = {0};
    dl_marks_clear(&d->run);
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
    bool two = !d->disordered && d->cap <= MOST_FOR_BLOCK &&
               dl_pipeline_two(d->options.threads, in, TWO_THREADS_FROM);
    for (size_t i = 0; i < (two ? DL_PIPELINE_SLOTS : 1); i++)
        if (!d->blocks[i].buffer && !dl_block_init(&d->blocks[i], d->cap))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const void *first;
    size_t n_first = SIZE_MAX;
    (void)dl_input_peek(in, &first, &n_first, err);
    d->reader = (dl_block_reader){.in = in, .packed = dl_input_packed(in)};
    if (d->reader.packed) {
        if (!d->packed && !(d->packed = dl_packed_new(d->cap)))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        dl_packed_begin(d->packed);
        decode_choose_blocks(d, in, first, n_first);
    }
    d->in = in;
    dl_parser_begin(d->parser, name);
    devlog_status status = two ? on_two_threads(d, err) : on_one_thread(d, err);
    d->losses.lines += dl_parser_lines(d->parser);
    d->in = NULL;
    return status;
}
