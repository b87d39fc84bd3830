/* Findings about the clock of a run. See the header. */
#include "profiler/clock_found.h"

#include <stdlib.h>

#include "base/error.h"
#include "decode/clock/clock_findings.h"

enum {
    PIECE = 256
}; /* samples; a capture has them launch by launch, too, and its reader makes room in between */

static devlog_status add_samples(dl_chip_clocks *clocks, dl_clock_samples all, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0, n; i < all.n && status == DEVLOG_OK; i += n) {
        n = all.n - i < PIECE ? all.n - i : PIECE;
        status =
            dl_chip_clocks_samples(clocks, &(dl_clock_samples){all.slot, all.peer, all.items + i, n}, err);
    }
    return status;
}

static devlog_status add_offsets(dl_chip_clocks *clocks, const devlog_device *device, devlog_error *err)
{
    const dl_clocks *c = device->clocks;
    dl_clock_offset *items = malloc((c->n_offsets + 1) * sizeof *items);
    if (!items) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the clock's offsets");
    for (size_t i = 0; i < c->n_offsets; i++) {
        const dl_core_offset *o = &c->offsets[i];
        items[i] = (dl_clock_offset){(uint16_t)o->core.x, (uint16_t)o->core.y, o->moved, o->lo, o->hi};
    }
    const dl_clock_offsets put = {device->slot, (uint16_t)c->reference.x, (uint16_t)c->reference.y, items,
                                  c->n_offsets};
    devlog_status status = dl_chip_clocks_offsets(clocks, &put, err);
    free(items);
    return status;
}

devlog_status clocks_found(const devlog_device *device, uint64_t *n, devlog_error *err)
{
    const dl_clocks *c = device->clocks;
    const board *b = &device->board;
    dl_chip_clocks clocks = {0};
    dl_losses found = {0};
    *n = 0;
    if (!c) return DEVLOG_OK;
    devlog_status status =
        dl_chip_clocks_chip(&clocks, device->slot, b->mhz * 1000ull, b->clocks_start_together, "", err);
    dl_chip_clocks_reached(&clocks, device->slot, device->transport.ops->name, device->aiclk_khz);
    if (status == DEVLOG_OK)
        status = add_samples(&clocks,
                             (dl_clock_samples){device->slot, DL_CLOCK_HOST, c->samples, c->n_samples}, err);
    if (status == DEVLOG_OK && c->has_reference) status = add_offsets(&clocks, device, err);
    if (status == DEVLOG_OK) status = dl_chip_clocks_make(&clocks, err);
    for (size_t i = 0; i < clocks.n && status == DEVLOG_OK; i++)
        dl_clock_findings(&clocks.items[i], &found);
    *n = found.found[DL_FOUND_CLOCK];
    dl_losses_free(&found);
    dl_chip_clocks_free(&clocks);
    return status;
}
