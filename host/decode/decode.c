/* The decoder: puts input, parser and pairing together. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer.h"
#include "decode/decode_internal.h"
#include "decode/stamps.h"

enum { BLOCK = 256 * 1024 };

devlog_status dl_decode_new(dl_decode **decode, const dl_decode_options *options, devlog_error *err)
{
    dl_decode *d = calloc(1, sizeof *d);
    if (!d) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (options) d->options = *options;
    pthread_mutex_init(&d->groups.lock, NULL);
    devlog_status status = dl_tables_init(&d->tables, err);
    if (status) goto failed;
    status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const dl_filter *f = &d->options.filter;
    bool filtered = f->n_chips || f->n_cores || f->n_riscs || f->n_zones || f->from || f->to ||
                    f->min_cycles || dl_filter_of_launches(f);
    dl_pair_options pair = {.filter = filtered ? f : NULL,
                            .no_samples = d->options.no_samples,
                            .no_counts = d->options.no_counts,
                            .no_shapes = d->options.no_shapes,
                            .subtract_cost = d->options.subtract_cost,
                            .scratch = d->options.scratch};
    d->parser = dl_parser_new(&d->tables, &d->losses, d->options.path);
    d->pair = dl_pair_new(&d->tables, &d->losses, &pair);
    d->cap = d->options.block ? d->options.block : BLOCK;
    if (!d->parser || !d->pair) goto failed;
    dl_parser_keep(d->parser, d->options.keep_meta, d->options.keep_meta);
    *decode = d;
    return DEVLOG_OK;
failed:
    dl_decode_free(d);
    return status;
}

dl_groups_kept *dl_decode_groups_kept(dl_decode *d)
{
    return &d->groups;
}

const char *dl_decode_scratch(const dl_decode *d)
{
    return d->options.scratch;
}

void dl_decode_free(dl_decode *d)
{
    if (!d) return;
    if (d->part.owns) {
        dl_analyzer_free(d->part.analyzer);
        dl_stamps_free(d->part.stamps);
    }
    dl_groups_free(&d->groups.groups);
    pthread_mutex_destroy(&d->groups.lock);
    dl_str_free(&d->part.sets);
    dl_parser_free(d->parser);
    dl_packed_free(d->packed);
    dl_pair_free(d->pair);
    dl_tables_free(&d->tables);
    dl_losses_free(&d->losses);
    dl_chip_clocks_free(&d->clocks);
    free(d->grids);
    free(d->ranks);
    dl_window_free(&d->window);
    pk_index_free(&d->index);
    for (size_t i = 0; i < d->n_names; i++)
        free(d->names[i]);
    free(d->names);
    for (size_t i = 0; i < DL_PIPELINE_SLOTS; i++)
        dl_block_free(&d->blocks[i]);
    dl_marks_free(&d->run);
    dl_marks_free(&d->marks);
    free(d);
}

devlog_status dl_decode_run_sink(dl_decode *d, dl_run_sink sink, devlog_error *err)
{
    d->sink = sink;
    dl_parser_keep(d->parser, sink.wants != 0, d->options.keep_meta);
    return dl_pair_run_sink(d->pair, sink, err);
}

dl_tables *dl_decode_tables(dl_decode *d)
{
    return &d->tables;
}

const dl_launches *dl_decode_launches(const dl_decode *d)
{
    return dl_pair_launches(d->pair);
}

bool dl_decode_wants(dl_decode *d, const dl_launch *l)
{
    const dl_filter *f = &d->options.filter;
    return dl_filter_in(f->chips, f->n_chips, d->tables.chips[l->chip].id) &&
           dl_filter_launch(f, &d->tables, l);
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

size_t dl_decode_n_series(const dl_decode *d)
{
    return dl_pair_series(d->pair)->n;
}

const dl_series *dl_decode_series(const dl_decode *d, size_t i)
{
    return &dl_pair_series(d->pair)->items[i];
}

const dl_zone_counters *dl_decode_zone_counters(const dl_decode *d)
{
    return dl_pair_counters(d->pair);
}

const dl_series_table *dl_decode_series_table(const dl_decode *d)
{
    return dl_pair_series(d->pair);
}

uint32_t dl_decode_far(dl_decode *d, const struct dl_far *far)
{
    return dl_pair_far(d->pair, far);
}

size_t dl_decode_sample_bytes(const dl_decode *d)
{
    return dl_pair_sample_bytes(d->pair);
}

uint64_t dl_decode_samples_filed(const dl_decode *d)
{
    return dl_pair_samples_filed(d->pair);
}

const dl_chip_clocks *dl_decode_clocks(const dl_decode *d)
{
    return &d->clocks;
}

/* Names are given their numbers where the input has them, so that the numbers do not depend on how far
 * pairing is behind. */
dl_chip_line decode_named_chip(dl_decode *d, const dl_chip_line *chip)
{
    dl_chip_line named = *chip;
    named.arch_text = dl_tables_text(&d->tables, chip->arch, strlen(chip->arch));
    if (named.arch_text == DL_NO_STRING) named.arch_text = 0;
    return named;
}

devlog_status decode_chip_line(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    dl_decode *d = ctx;
    const dl_chip_line named = decode_named_chip(d, chip);
    return dl_pair_chip_line(d->pair, &named, err);
}

const char *decode_keep_name(dl_decode *d, const char *name)
{
    char **names = realloc(d->names, (d->n_names + 1) * sizeof *names);
    if (!names) return NULL;
    d->names = names;
    names[d->n_names] = strdup(name);
    return names[d->n_names] ? names[d->n_names++] : NULL;
}

/* ---- Inputs ------------------------------------------------------------------------------------------ */

static devlog_status decode_input(dl_decode *d, dl_input *in, bool known, devlog_error *err)
{
    const char *name = decode_keep_name(d, dl_input_name(in));
    if (!name) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_pair_source(d->pair, name);
    const void *first;
    size_t n = 1;
    const bool began_empty = dl_input_peek(in, &first, &n, err) == DEVLOG_OK && n == 0;
    devlog_status status =
        decode_is_capture(in) ? decode_capture(d, in, name, known, err) : decode_log(d, in, name, err);
    /* A log that is followed may have been empty when it was opened, and grown. */
    if (began_empty && !(d->options.follow && dl_input_taken(in))) dl_losses_empty(&d->losses, name);
    return status;
}

/* Looks at the beginning of a log, which it takes. */
static void look_at_order(dl_decode *d, dl_input *in)
{
    d->disordered = !decode_is_capture(in) && decode_is_disordered(in);
    dl_input_close(in);
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
    dl_input *look;
    devlog_error unheard;
    d->disordered = false;
    if (!status && decode_is_file(path) && dl_input_open(&look, path, &unheard) == DEVLOG_OK)
        look_at_order(d, look);
    if (!status && d->options.follow && decode_is_capture(in))
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s is a capture: device logs can be followed", path);
    if (!status && d->options.follow) status = dl_input_follow(in, d->options.follow, err);
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
    look_at_order(d, in);
    status = dl_input_memory(&in, name, bytes, n, err);
    if (status) return status;
    status = decode_input(d, in, true, err);
    dl_input_close(in);
    return status;
}

devlog_status dl_decode_for_launches(dl_decode **d, char *const *paths, size_t n, devlog_error *err)
{
    const dl_decode_options options = {.no_samples = true};
    *d = NULL;
    devlog_status status = dl_decode_new(d, &options, err);
    for (size_t i = 0; i < n && !status; i++)
        status = dl_decode_file(*d, paths[i], err);
    return status ? status : dl_decode_finish(*d, err);
}

devlog_status dl_decode_whole(dl_decode **whole, const dl_decode *d,
                              void (*progress)(void *ctx, const char *input, uint64_t taken, uint64_t size,
                                               uint64_t rows),
                              void *progress_ctx, devlog_error *err)
{
    const dl_decode_options options = {
        .filter = d->options.filter, .no_samples = true, .progress = progress, .progress_ctx = progress_ctx};
    *whole = NULL;
    devlog_status status = dl_decode_new(whole, &options, err);
    for (size_t i = 0; i < d->n_names && !status; i++)
        status = dl_decode_file(*whole, d->names[i], err);
    return status ? status : dl_decode_finish(*whole, err);
}

devlog_status dl_decode_warm_up(dl_warm_up *w, char *const *paths, size_t n, uint64_t first,
                                devlog_error *err)
{
    dl_decode *d;
    devlog_status status = dl_decode_for_launches(&d, paths, n, err);
    if (!status) status = dl_warm_up_find(w, dl_decode_launches(d), &d->tables, first, err);
    dl_decode_free(d);
    return status;
}

void dl_decode_skip(dl_decode *d, const dl_warm_up *w)
{
    d->options.filter.skips = w->skips;
    d->options.filter.n_skips = w->n;
    d->options.filter.skip_launches = 0;
}

devlog_status dl_decode_rows(dl_decode *d, const dl_row *rows, size_t n, devlog_error *err)
{
    d->losses.rows += n;
    return dl_pair_rows(d->pair, rows, n, err);
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
    dl_losses_alone(&d->losses);
    for (uint32_t i = 0; i < d->tables.n_chips; i++)
        d->losses.instructions |= d->tables.chips[i].instructions;
    return status ? status : paired;
}
