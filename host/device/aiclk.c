/* How fast an opened card runs: see the header. Not for asking for more (the transport does) and not for the clock while
 * programs run (profiler/clock_sync.c).
 * A chip takes 30 to 66 ms to change AICLK (measured by others on Blackhole), and says it in its telemetry. */
#include "device/aiclk.h"

#include <stdlib.h>

#include "base/error.h"
#include "device/telemetry.h"

enum { LOOK_MS = 5, STEADY_LOOKS = 20, MOST_LOOKS = 200, MEASURE_MS = 20, TRIES = 5 };

/* The same for 100 ms, or the most that the chip allows itself. */
static devlog_status settle(devlog_device *d, const telemetry *table, devlog_error *err)
{
    uint32_t mhz = 0, most = 0, before = 0, steady = 0;
    bool found, has_most;
    devlog_status status =
        telemetry_read(&d->transport, &d->board, table, TELEMETRY_AICLK_MAX, &most, &has_most, err);
    for (uint32_t i = 0; i < MOST_LOOKS && status == DEVLOG_OK; i++) {
        status = telemetry_read(&d->transport, &d->board, table, TELEMETRY_AICLK, &mhz, &found, err);
        if (status != DEVLOG_OK || !found) return status;
        steady = mhz == before ? steady + 1 : 0;
        before = mhz;
        if ((has_most && mhz == most) || steady >= STEADY_LOOKS) break;
        dl_transport_wait_ms(&d->transport, LOOK_MS);
    }
    d->aiclk_khz = mhz * UINT64_C(1000);
    return status;
}

typedef struct moment {
    uint64_t ns, cycles, width;
} moment;

/* The narrowest of some readings. */
static devlog_status take(devlog_device *d, moment *out, devlog_error *err)
{
    out->width = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t cycles, before = dl_transport_now(&d->transport);
        devlog_status status = devlog_wall_clock(d, (devlog_core){0, 0}, &cycles, err);
        if (status != DEVLOG_OK) return status;
        uint64_t width = dl_transport_now(&d->transport) - before;
        if (width < out->width) *out = (moment){before + width / 2, cycles, width};
    }
    return DEVLOG_OK;
}

static devlog_status measure(devlog_device *d, devlog_error *err)
{
    moment a = {0}, b = {0};
    devlog_status status = take(d, &a, err);
    if (status != DEVLOG_OK) return status;
    dl_transport_wait_ms(&d->transport, MEASURE_MS);
    status = take(d, &b, err);
    if (status == DEVLOG_OK && b.ns > a.ns && b.cycles > a.cycles)
        d->measured_khz = (uint64_t)((double)(b.cycles - a.cycles) * 1e6 / (double)(b.ns - a.ns) + 0.5);
    return status;
}

devlog_status aiclk_settle(devlog_device *device, devlog_error *err)
{
    telemetry *table = malloc(sizeof *table);
    if (!table) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    devlog_status status = telemetry_find(&device->transport, &device->board, table, err);
    if (status == DEVLOG_OK && table->there) status = settle(device, table, err);
    if (status == DEVLOG_OK && device->board.clock_kind == BOARD_CLOCK_MMIO) status = measure(device, err);
    free(table);
    return status;
}
