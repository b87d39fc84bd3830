/* The decoder: puts input, parser and pairing together. */
#include <stdlib.h>
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/order.h"

enum { BLOCK = 256 * 1024, TWO_THREADS_FROM = 2 * 1024 * 1024, ROWS_AT_ONCE = 512 };

devlog_status dl_decode_new(dl_decode **decode, const dl_decode_options *options, devlog_error *err)
{
    dl_decode *d = calloc(1, sizeof *d);
    if (!d) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (options) d->options = *options;
    devlog_status status = dl_tables_init(&d->tables, err);
    if (status) goto failed;
    status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const dl_filter *f = &d->options.filter;
    bool filtered = f->n_chips || f->n_cores || f->n_riscs || f->n_zones || f->n_launches || f->from ||
                    f->to || f->min_cycles || f->skip_launches;
    dl_pair_options pair = {.filter = filtered ? f : NULL,
                            .no_samples = d->options.no_samples,
                            .subtract_cost = d->options.subtract_cost,
                            .scratch = d->options.scratch};
    d->parser = dl_parser_new(&d->tables, &d->losses, d->options.path);
    d->pair = dl_pair_new(&d->tables, &d->losses, &pair);
    d->cap = d->options.block ? d->options.block : BLOCK;
    if (!d->parser || !d->pair) goto failed;
    dl_parser_keep_meta(d->parser, d->options.keep_meta);
    *decode = d;
    return DEVLOG_OK;
failed:
    dl_decode_free(d);
    return status;
}

void dl_decode_free(dl_decode *d)
{
    if (!d) return;
    dl_parser_free(d->parser);
    dl_pair_free(d->pair);
    dl_tables_free(&d->tables);
    dl_losses_free(&d->losses);
    dl_chip_clocks_free(&d->clocks);
    for (size_t i = 0; i < d->n_names; i++)
        free(d->names[i]);
    free(d->names);
    for (size_t i = 0; i < DL_PIPELINE_BLOCKS; i++)
        dl_block_free(&d->blocks[i]);
    dl_block_free(&d->run);
    free(d);
}

void dl_decode_event_sink(dl_decode *d, dl_event_sink sink)
{
    dl_pair_event_sink(d->pair, sink);
}

void dl_decode_marker_sink(dl_decode *d, dl_marker_sink sink)
{
    dl_pair_marker_sink(d->pair, sink);
}

void dl_decode_row_sink(dl_decode *d, dl_row_sink sink)
{
    d->rows = sink;
}

dl_tables *dl_decode_tables(dl_decode *d)
{
    return &d->tables;
}

const dl_launches *dl_decode_launches(const dl_decode *d)
{
    return dl_pair_launches(d->pair);
}

void dl_decode_cool(dl_decode *d)
{
    dl_pair_cool(d->pair);
}

const dl_losses *dl_decode_losses(const dl_decode *d)
{
    return &d->losses;
}

size_t dl_decode_n_keys(const dl_decode *d)
{
    return dl_pair_n_keys(d->pair);
}

const dl_key *dl_decode_key(const dl_decode *d, size_t i)
{
    return dl_pair_key(d->pair, i);
}

size_t dl_decode_sample_bytes(const dl_decode *d)
{
    return dl_pair_sample_bytes(d->pair);
}

const dl_chip_clocks *dl_decode_clocks(const dl_decode *d)
{
    return &d->clocks;
}

devlog_status decode_take_rows(dl_decode *d, const dl_row *rows, size_t n, devlog_error *err)
{
    if (n == 0) return DEVLOG_OK;
    if (d->rows.rows) {
        devlog_status status = d->rows.rows(d->rows.ctx, rows, n, err);
        if (status) return status;
    }
    return dl_pair_rows(d->pair, rows, n, err);
}

static devlog_status on_rows(void *ctx, dl_row *rows, size_t n, bool all, size_t *taken, devlog_error *err)
{
    dl_decode *d = ctx;
    *taken = dl_order_rows(&d->tables, rows, n, all);
    return decode_take_rows(d, rows, *taken, err);
}

/* Names are given their numbers where the input has them, so that the numbers do not depend on how far
 * pairing is behind. */
static dl_chip_line named_chip(dl_decode *d, const dl_chip_line *chip)
{
    dl_chip_line named = *chip;
    named.arch_text = dl_tables_text(&d->tables, chip->arch, strlen(chip->arch));
    if (named.arch_text == DL_NO_STRING) named.arch_text = 0;
    return named;
}

devlog_status decode_chip_line(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    dl_decode *d = ctx;
    const dl_chip_line named = named_chip(d, chip);
    return dl_pair_chip_line(d->pair, &named, err);
}

/* Keeps the name of an input for as long as messages may point to it. */
static const char *keep_name(dl_decode *d, const char *name)
{
    char **names = realloc(d->names, (d->n_names + 1) * sizeof *names);
    if (!names) return NULL;
    d->names = names;
    names[d->n_names] = strdup(name);
    return names[d->n_names] ? names[d->n_names++] : NULL;
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

static void tell_progress(void *ctx, uint64_t taken, uint64_t rows)
{
    dl_decode *d = ctx;
    if (d->options.progress)
        d->options.progress(d->options.progress_ctx, dl_input_name(d->in), taken, dl_input_size(d->in), rows);
}

static devlog_status on_one_thread(dl_decode *d, devlog_error *err)
{
    const dl_parse_sink sink = {d, on_rows, decode_chip_line};
    dl_block *b = &d->blocks[0];
    devlog_status status = DEVLOG_OK;
    do {
        dl_block_read(&d->reader, b);
        status = parse_block(d, b, &sink, err);
        tell_progress(d, b->taken, d->losses.rows);
    } while (!status && !b->last);
    return status;
}

/* On two threads, parsing puts its rows into the block as they are, and pairing takes them from there. */

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

static devlog_status collect_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    collector *c = ctx;
    const dl_chip_line named = named_chip(c->d, chip);
    return dl_block_add_chip(c->block, &named, err);
}

/* Completes the run of rows that the block before has left unfinished. Returns how many rows it took. */
static devlog_status finish_run(dl_decode *d, const dl_row *rows, size_t n, bool all, size_t *taken,
                                devlog_error *err)
{
    dl_block *run = &d->run;
    const dl_row *last = &run->rows[run->n_rows - 1];
    size_t room = DL_MAX_RUN - run->n_rows, i = 0;
    while (i < n && i < room && !dl_order_boundary(&d->tables, i ? &rows[i - 1] : last, &rows[i]))
        i++;
    *taken = i;
    devlog_status status = dl_block_add_rows(run, rows, i, err);
    if (status || (i == n && !all && i < room)) return status;
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

static void read_stage(void *ctx, dl_block *b)
{
    dl_block_read(&((dl_decode *)ctx)->reader, b);
}

static devlog_status parse_stage(void *ctx, dl_block *b, devlog_error *err)
{
    dl_decode *d = ctx;
    collector c = {d, b};
    const dl_parse_sink sink = {&c, collect_rows, collect_chip};
    devlog_status status = parse_block(d, b, &sink, err);
    b->rows_so_far = d->losses.rows;
    b->counts = d->tables.added;
    return status;
}

static devlog_status pair_stage(void *ctx, dl_block *b, devlog_error *err)
{
    dl_decode *d = ctx;
    devlog_status status = DEVLOG_OK;
    size_t from = 0;
    dl_tables_publish(&d->tables, b->counts);
    for (size_t i = 0; i <= b->n_chips && !status; i++) {
        size_t to = i < b->n_chips ? b->chips[i].before_row : b->n_rows;
        bool all = i < b->n_chips || b->last;
        dl_row *rows = to > from ? b->rows + from : NULL;
        status = pair_rows(d, rows, to - from, all, err);
        from = to;
        if (i < b->n_chips && !status) status = dl_pair_chip_line(d->pair, &b->chips[i].chip, err);
    }
    return status;
}

static devlog_status on_two_threads(dl_decode *d, devlog_error *err)
{
    const dl_pipeline_stages stages = {d, read_stage, parse_stage, pair_stage, tell_progress};
    dl_losses of_pairing = {0};
    d->run.n_rows = 0;
    dl_pair_losses(d->pair, &of_pairing);
    d->tables.unpublished = true;
    devlog_status status = dl_pipeline_run(d->blocks, &stages, err);
    d->tables.unpublished = false;
    dl_tables_publish(&d->tables, d->tables.added);
    dl_pair_losses(d->pair, &d->losses);
    dl_losses_merge(&d->losses, &of_pairing);
    return status;
}

/* A small log is read before a second thread has begun. */
static bool wants_two_threads(const dl_decode *d, dl_input *in)
{
    if (d->options.threads) return d->options.threads > 1;
    uint64_t size = dl_input_size(in);
    return (size == 0 || size >= TWO_THREADS_FROM) && dl_pipeline_threads() > 1;
}

static devlog_status read_blocks(dl_decode *d, dl_input *in, devlog_error *err)
{
    bool two = wants_two_threads(d, in);
    for (size_t i = 0; i < (two ? DL_PIPELINE_BLOCKS : 1); i++)
        if (!d->blocks[i].buffer && !dl_block_init(&d->blocks[i], d->cap))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->reader = (dl_block_reader){.in = in};
    d->in = in;
    devlog_status status = two ? on_two_threads(d, err) : on_one_thread(d, err);
    d->in = NULL;
    return status;
}

/* ---- Inputs ------------------------------------------------------------------------------------------ */

static devlog_status decode_input(dl_decode *d, dl_input *in, bool known, devlog_error *err)
{
    const char *name = keep_name(d, dl_input_name(in));
    if (!name) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_pair_source(d->pair, name);
    if (decode_is_capture(in)) return decode_capture(d, in, name, known, err);
    dl_parser_begin(d->parser, name);
    devlog_status status = read_blocks(d, in, err);
    d->losses.lines += dl_parser_lines(d->parser);
    return status;
}

devlog_status dl_decode_file(dl_decode *d, const char *path, devlog_error *err)
{
    dl_input *in;
    bool known = d->prepared;
    devlog_status status = dl_input_open(&in, path, err);
    if (status) return status;
    if (!known && decode_is_file(path)) {
        status = decode_learn_clocks(d, path, err);
        if (!status) status = dl_chip_clocks_make(&d->clocks, err);
        known = true;
    }
    if (!status) status = decode_input(d, in, known, err);
    dl_input_close(in);
    return status;
}

devlog_status dl_decode_memory(dl_decode *d, const char *name, const void *bytes, size_t n, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_memory(&in, name, bytes, n, err);
    if (status) return status;
    status = decode_learn_from(d, in, err);
    dl_input_close(in);
    if (!status) status = dl_chip_clocks_make(&d->clocks, err);
    if (!status) status = dl_input_memory(&in, name, bytes, n, err);
    if (status) return status;
    status = decode_input(d, in, true, err);
    dl_input_close(in);
    return status;
}

devlog_status dl_decode_rows(dl_decode *d, const dl_row *rows, size_t n, devlog_error *err)
{
    d->losses.rows += n;
    return decode_take_rows(d, rows, n, err);
}

devlog_status dl_decode_chip_line(dl_decode *d, const dl_chip_line *chip, devlog_error *err)
{
    return decode_chip_line(d, chip, err);
}

devlog_status dl_decode_finish(dl_decode *d, devlog_error *err)
{
    devlog_status status = dl_chip_clocks_make(&d->clocks, err);
    decode_note_clocks(d);
    devlog_status paired = dl_pair_finish(d->pair, err);
    return status ? status : paired;
}
