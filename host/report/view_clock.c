/* The time axis of captures: host time, by the fits of the chips' clocks (decode/clock/chip_clock.h). */
#include <math.h>

#include "base/round.h"
#include "report/view_internal.h"

static uint64_t host_ns(void *ctx, uint32_t chip_id, uint32_t stream, uint64_t cycles)
{
    const dl_chip_clocks *clocks = ctx;
    double ns, error;
    (void)stream; /* the decoder has brought every core's stamps to its chip's counter */
    if (!dl_chip_clocks_ns(clocks, chip_id, cycles, &ns, &error)) return 0;
    uint64_t away = dl_u64_of(fabs(ns));
    if (ns < 0) return clocks->origin > away ? clocks->origin - away : 0;
    return away < UINT64_MAX - clocks->origin ? clocks->origin + away : UINT64_MAX;
}

static bool is_known(void *ctx, uint32_t chip_id, uint64_t *residual_ns)
{
    const dl_chip_clock *clock = dl_chip_clocks_of(ctx, chip_id);
    if (!clock || !clock->fitted) return false;
    *residual_ns = dl_u64_of(ceil(dl_chip_clock_host_residual(clock)));
    return true;
}

/* The clock never runs backwards, so halving finds it. */
uint64_t view_cycle_at(const dl_decode *d, uint32_t chip_id, uint64_t host)
{
    const dl_chip_clocks *clocks = dl_decode_clocks(d);
    const dl_chip_clock *clock = dl_chip_clocks_of(clocks, chip_id);
    const uint64_t reach = UINT64_C(1) << 50;
    if (!clock || !clock->fitted) return 0;
    uint64_t lo = clock->fit.cycles > reach ? clock->fit.cycles - reach : 0, hi = clock->fit.cycles + reach;
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (host_ns((void *)clocks, chip_id, DL_NONE, middle) < host)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

dl_view_clock view_host_clock(const dl_decode *d)
{
    return (dl_view_clock){(void *)dl_decode_clocks(d), host_ns, is_known};
}
