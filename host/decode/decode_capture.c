/* The decoder's way through captures: clocks first, then rows. Not for the format (capture_read.c). */
#include <stdlib.h>
#include <sys/stat.h>

#include "decode/capture/capture_marks.h"
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
    const dl_capture_marks_sink sink = {
        d, on_capture_marks, decode_chip_line, on_capture_costs, on_capture_launch, on_capture_progress};
    d->in = in;
    devlog_status status = dl_capture_marks(in, &options, &d->tables, &d->losses, &d->clocks, &sink, err);
    d->in = NULL;
    return status;
}

/* More than 1 % between what the board file, the chip and the measurement say. */
static void note_frequency(dl_decode *d, const dl_chip_clock *c)
{
    const uint64_t used = dl_chip_clock_khz(c), says[] = {c->freq_khz, c->aiclk_khz};
    char texts[3][DL_GROUPED_SIZE];
    bool differs = false;
    for (size_t i = 0; i < d->tables.n_chips; i++)
        if (d->tables.chips[i].id == c->slot && used && c->fitted) d->tables.chips[i].freq_khz = used;
    for (int i = 0; i < 2; i++)
        differs |= says[i] && used && (used > says[i] ? used - says[i] : says[i] - used) * 100 > says[i];
    if (!differs) return;
    dl_losses_found(
        &d->losses, DL_FOUND_CLOCK, 1,
        "chip %u: its clock ran at %s MHz%s, its board file says %s%s%s%s; nanoseconds are of the first",
        c->slot, dl_mhz_text(texts[0], used), used == c->freq_khz ? "" : " (measured)",
        dl_mhz_text(texts[1], c->freq_khz), c->aiclk_khz ? ", and the chip itself " : "",
        c->aiclk_khz ? dl_mhz_text(texts[2], c->aiclk_khz) : "", " MHz");
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
        if (c->refuted)
            dl_losses_found(
                l, DL_FOUND_CLOCK, 1,
                "chip %u: its board says that the counters of its cores start together; that of core "
                "%u,%u does not",
                c->slot, c->refuted_x, c->refuted_y);
        if (c->moved)
            dl_losses_found(
                l, DL_FOUND_CLOCK, 1,
                "chip %u: offsets of its cores changed while it was measured; the bound holds both", c->slot);
        if (!c->fitted)
            dl_losses_found(l, DL_FOUND_CLOCK, 1, "chip %u is not aligned with the host: %s", c->slot,
                            c->why);
        if (c->fitted && c->fit.n_changes)
            dl_losses_found(l, DL_FOUND_CLOCK, c->fit.n_changes,
                            "chip %u changed its frequency %u times, first from %.3f to %.3f MHz", c->slot,
                            c->fit.n_changes, c->fit.changes[0].before * 1000,
                            c->fit.changes[0].after * 1000);
        note_frequency(d, c);
    }
}
