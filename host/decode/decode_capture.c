/* The decoder's way through captures: clocks first, then rows. Not for the format (capture_read.c). */
#include <stdlib.h>
#include <sys/stat.h>

#include "decode/capture/capture_marks.h"
#include "decode/clock/clock_findings.h"
#include "decode/decode_internal.h"

enum { TWO_THREADS_FROM = 256 * 1024 };

static devlog_status on_capture_marks(void *ctx, const dl_marks *marks, devlog_error *err)
{
    dl_decode *d = ctx;
    uint32_t taken;
    d->losses.rows += marks->n;
    return dl_pair_marks(d->pair, marks, 0, marks->n, true, true, &taken, err);
}

static devlog_status on_capture_costs(void *ctx, uint32_t stream, const dl_costs *costs, devlog_error *err)
{
    return dl_pair_costs(((dl_decode *)ctx)->pair, stream, costs, err);
}

static void on_capture_launch(void *ctx, const dl_capture_launch *l)
{
    const uint64_t times[4] = {l->call_start, l->call_end, l->pull_start, l->pull_end};
    dl_pair_launch_times(((dl_decode *)ctx)->pair, l->slot, l->number, times);
}

static void on_capture_progress(void *ctx, uint64_t taken)
{
    dl_decode *d = ctx;
    if (d->options.progress)
        d->options.progress(d->options.progress_ctx, dl_input_name(d->in), taken, dl_input_size(d->in),
                            d->losses.rows);
}

static devlog_status on_capture_grid(void *ctx, const dl_capture_grid *grid, devlog_error *err)
{
    dl_decode *d = ctx;
    if (dl_decode_grid(d, grid->slot)) return DEVLOG_OK;
    if (d->n_grids == DL_MAX_CHIPS) return DEVLOG_OK;
    struct decode_grid *grids = realloc(d->grids, (d->n_grids + 1) * sizeof *grids);
    if (!grids) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->grids = grids;
    grids[d->n_grids++] = (struct decode_grid){grid->slot, *grid->grid};
    return DEVLOG_OK;
}

/* Chips are known by their numbers, and launchers' processes all begin with the same. */
static devlog_status on_capture_rank(void *ctx, const dl_capture_rank *rank, devlog_error *err)
{
    dl_decode *d = ctx;
    for (size_t i = 0; i < d->n_ranks; i++) {
        const struct decode_rank *known = &d->ranks[i];
        if (known->slot != rank->slot) continue;
        if (known->rank != rank->rank)
            dl_losses_found(
                &d->losses, DL_FOUND_RANKS, 1,
                "%s: chip %u is rank %u's, and was rank %u's before: read each rank by itself, or all as one run "
                "with devlog ranks",
                dl_input_name(d->in), rank->slot, rank->rank, known->rank);
        return DEVLOG_OK;
    }
    if (d->n_ranks == DL_MAX_CHIPS) return DEVLOG_OK;
    struct decode_rank *grown = realloc(d->ranks, (d->n_ranks + 1) * sizeof *grown);
    if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->ranks = grown;
    grown[d->n_ranks++] = (struct decode_rank){rank->slot, rank->rank};
    return DEVLOG_OK;
}

const chip_grid *dl_decode_grid(const dl_decode *d, uint32_t slot)
{
    for (size_t i = 0; i < d->n_grids; i++)
        if (d->grids[i].slot == slot) return &d->grids[i].is;
    return NULL;
}

bool decode_is_capture(dl_input *in)
{
    const void *first;
    size_t n = DL_CAPTURE_MAGIC_BYTES;
    devlog_error unheard;
    return dl_input_peek(in, &first, &n, &unheard) == DEVLOG_OK && dl_capture_is(first, n);
}

/* Reads a capture to its end for its clocks; other inputs have none. */
devlog_status decode_learn_from(dl_decode *d, dl_input *in, devlog_error *err)
{
    return decode_is_capture(in) ? dl_capture_learn_clocks(in, &d->clocks, err) : DEVLOG_OK;
}

/* Only files can be read twice. */
bool decode_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

devlog_status decode_learn_clocks(dl_decode *d, const char *path, devlog_error *err)
{
    dl_input *in;
    devlog_error unheard; /* a file that cannot be read is told when it is decoded */
    if (!decode_is_file(path) || dl_input_open(&in, path, &unheard) != DEVLOG_OK) return DEVLOG_OK;
    devlog_status status = decode_learn_from(d, in, err);
    dl_input_close(in);
    return status;
}

devlog_status dl_decode_prepare(dl_decode *d, char *const *paths, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = decode_learn_clocks(d, paths[i], err);
    if (!status) status = dl_chip_clocks_make(&d->clocks, err);
    d->prepared = true;
    return status;
}

devlog_status decode_capture(dl_decode *d, dl_input *in, const char *name, bool known, devlog_error *err)
{
    const dl_capture_marks_options options = {.name = name,
                                              .elf_folder = d->options.elf_folder,
                                              .keep_meta = d->options.keep_meta,
                                              .learn_clocks = !known,
                                              .one_by_one = d->options.path != DL_PARSE_BEST,
                                              .two_threads =
                                                  dl_pipeline_two(d->options.threads, in, TWO_THREADS_FROM)};
    const dl_capture_marks_sink sink = {d,
                                        on_capture_marks,
                                        decode_chip_line,
                                        on_capture_costs,
                                        on_capture_launch,
                                        on_capture_progress,
                                        on_capture_grid,
                                        on_capture_rank};
    d->in = in;
    devlog_status status = dl_capture_marks(in, &options, &d->tables, &d->losses, &d->clocks, &sink, err);
    d->in = NULL;
    return status;
}

void decode_note_clocks(dl_decode *d)
{
    d->losses.cost_subtracted = d->options.subtract_cost;
    dl_losses *l = &d->losses;
    for (size_t i = 0; i < d->clocks.n; i++) {
        const dl_chip_clock *c = &d->clocks.items[i];
        if (l->n_clocks < DL_CLOCK_NOTES)
            l->clocks[l->n_clocks++] =
                (dl_clock_note){c->slot, dl_chip_clock_core_residual(c), dl_chip_clock_host_residual(c)};
        for (size_t chip = 0; chip < d->tables.n_chips; chip++)
            if (d->tables.chips[chip].id == c->slot && dl_chip_clock_khz(c) && c->fitted)
                d->tables.chips[chip].freq_khz = dl_chip_clock_khz(c);
        dl_clock_findings(c, l);
    }
}
