/* The decoder's way through captures: clocks first, then rows. Not for the format (capture_read.c). */
#include <stdlib.h>
#include <sys/stat.h>

#include "decode/capture/capture_marks.h"
#include "decode/clock/clock_findings.h"
#include "decode/clock/clock_wire.h"
#include "decode/decode_internal.h"
#include "decode/pair/pair_absorb.h"

enum { TWO_THREADS_FROM = 256 * 1024 };

static devlog_status on_capture_marks(void *ctx, dl_marks *marks, devlog_error *err)
{
    dl_decode *d = ctx;
    uint32_t taken;
    const dl_recorded *recorded = &marks->recorded;
    const dl_chip_line *line;
    uint32_t at = 0;
    devlog_status status = DEVLOG_OK;
    if (!d->losses.rows && !dl_pair_headers(d->pair, &line)) d->part.chip_first = false;
    d->losses.rows += marks->n + recorded->n;
    if (recorded->n) {
        status = dl_pair_marks(d->pair, marks, 0, at = recorded->at, true, true, &taken, err);
        if (!status) status = dl_pair_records(d->pair, marks, err);
    }
    return status ? status : dl_pair_marks(d->pair, marks, at, marks->n, true, true, &taken, err);
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

/* ---- What parts are told of all captures ------------------------------------------------------------------ */

static devlog_status learn_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    return dl_capture_learn_chip(&((dl_decode *)ctx)->clocks, chip, err);
}

static devlog_status learn_samples(void *ctx, const dl_clock_samples *samples, devlog_error *err)
{
    return dl_chip_clocks_samples(&((dl_decode *)ctx)->clocks, samples, err);
}

static devlog_status learn_offsets(void *ctx, const dl_clock_offsets *offsets, devlog_error *err)
{
    return dl_chip_clocks_offsets(&((dl_decode *)ctx)->clocks, offsets, err);
}

static void learn_frame(void *ctx, const dl_capture_standing *frame)
{
    dl_capture_index_frame(((dl_decode *)ctx)->index_in_hand, frame);
}

devlog_status decode_learn(dl_decode *d, dl_input *in, dl_capture_index *x, devlog_error *err)
{
    const dl_capture_sink sink = {.ctx = d,
                                  .chip = learn_chip,
                                  .samples = learn_samples,
                                  .offsets = learn_offsets,
                                  .grid = on_capture_grid,
                                  .rank = on_capture_rank,
                                  .stands = learn_frame};
    dl_capture_state state;
    d->in = in;
    d->index_in_hand = x;
    devlog_status status = dl_capture_read(in, &sink, false, &state, err);
    if (!status && !dl_capture_index_end(x, &state))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->in = NULL;
    return status;
}

static void wire_lines(dl_wire *w, uint32_t *n, uint8_t lines[CHIP_GRID_LINE])
{
    dl_wire_below(w, n, CHIP_GRID_LINE + 1);
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t line = lines[i];
        dl_wire_below(w, &line, UINT8_MAX + 1);
        lines[i] = (uint8_t)line;
    }
}

static void wire_grid(dl_wire *w, chip_grid *g)
{
    uint32_t width = g->width, height = g->height;
    dl_wire_below(w, &width, CHIP_GRID_SIDE + 1);
    dl_wire_below(w, &height, CHIP_GRID_SIDE + 1);
    g->width = (uint8_t)width;
    g->height = (uint8_t)height;
    wire_lines(w, &g->n_columns, g->columns);
    wire_lines(w, &g->n_rows, g->rows);
    dl_wire_flag(w, &g->off_known);
    dl_wire_u64(w, &g->off_columns);
    dl_wire_u64(w, &g->off_rows);
    dl_wire_below(w, &g->n_tiles, CHIP_GRID_TILES + 1);
    for (uint32_t i = 0; i < g->n_tiles; i++) {
        uint32_t x = g->tiles[i].x, y = g->tiles[i].y, kind = g->tiles[i].kind;
        dl_wire_below(w, &x, CHIP_GRID_SIDE);
        dl_wire_below(w, &y, CHIP_GRID_SIDE);
        dl_wire_below(w, &kind, CHIP_TILE_KINDS);
        g->tiles[i] = (chip_tile){(uint8_t)x, (uint8_t)y, (uint8_t)kind};
    }
    if (dl_wire_reads(w) && !w->bad && !chip_grid_valid(g)) w->bad = true;
}

void decode_learned_wire(dl_decode *d, dl_wire *w)
{
    uint32_t n_grids = (uint32_t)d->n_grids, n_ranks = (uint32_t)d->n_ranks;
    dl_chip_clocks_wire(&d->clocks, w);
    dl_wire_count(w, &n_grids, DL_MAX_CHIPS, 9);
    dl_wire_count(w, &n_ranks, DL_MAX_CHIPS, 2);
    if (dl_wire_reads(w) && !w->bad) {
        d->grids = calloc((size_t)n_grids + 1, sizeof *d->grids);
        d->ranks = calloc((size_t)n_ranks + 1, sizeof *d->ranks);
        if (!d->grids || !d->ranks) w->bad = true;
    }
    for (uint32_t i = 0; i < n_grids && !w->bad; i++) {
        dl_wire_u32(w, &d->grids[i].slot);
        wire_grid(w, &d->grids[i].is);
    }
    for (uint32_t i = 0; i < n_ranks && !w->bad; i++) {
        dl_wire_u32(w, &d->ranks[i].slot);
        dl_wire_u32(w, &d->ranks[i].rank);
    }
    if (w->bad) n_grids = n_ranks = 0;
    d->n_grids = n_grids;
    d->n_ranks = n_ranks;
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
    return decode_capture_part(d, in, name, known, NULL, err);
}

devlog_status decode_capture_part(dl_decode *d, dl_input *in, const char *name, bool known,
                                  dl_capture_part *part, devlog_error *err)
{
    const dl_capture_marks_options options = {.name = name,
                                              .elf_folder = d->options.elf_folder,
                                              .keep_meta = d->options.keep_meta,
                                              .learn_clocks = !known,
                                              .part = part,
                                              .one_by_one = d->options.path != DL_PARSE_BEST,
                                              .recorded = dl_pair_takes_records(d->pair),
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
    dl_pair_forget_records(d->pair);
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
