/* What a capture says of clocks. */
#include "decode/capture/capture_marks.h"

devlog_status dl_capture_learn_chip(dl_chip_clocks *clocks, const dl_capture_chip *chip, devlog_error *err)
{
    devlog_status status =
        dl_chip_clocks_chip(clocks, chip->slot, chip->freq_khz, chip->together != 0, chip->boot, err);
    dl_chip_clocks_reached(clocks, chip->slot, chip->transport, chip->aiclk_khz);
    return status;
}

static devlog_status learn_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    return dl_capture_learn_chip(ctx, chip, err);
}

static devlog_status learn_samples(void *ctx, const dl_clock_samples *samples, devlog_error *err)
{
    return dl_chip_clocks_samples(ctx, samples, err);
}

static devlog_status learn_offsets(void *ctx, const dl_clock_offsets *offsets, devlog_error *err)
{
    return dl_chip_clocks_offsets(ctx, offsets, err);
}

devlog_status dl_capture_learn_clocks(dl_input *in, dl_chip_clocks *clocks, devlog_error *err)
{
    const dl_capture_sink sink = {
        .ctx = clocks, .chip = learn_chip, .samples = learn_samples, .offsets = learn_offsets};
    dl_capture_state state;
    return dl_capture_read(in, &sink, false, &state, err);
}
