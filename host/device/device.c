/* Opening a device and reaching its cores. Not for programs (program/) or records (profiler/). */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/absolute.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/options.h"
#include "base/settings.h"
#include "device/aiclk.h"
#include "device/board_sim.h"
#include "device/buffers.h"
#include "device/choose.h"
#include "device/harvest.h"
#include "device/wishes.h"

void device_window_layout(const board *b, dl_window_layout *out)
{
    memset(out, 0, sizeof *out);
    out->format = b->window_format == BOARD_WINDOWS_BLACKHOLE ? DL_WINDOWS_BLACKHOLE : DL_WINDOWS_WORMHOLE;
    out->n_classes = b->n_classes;
    for (uint32_t i = 0; i < b->n_classes; i++) {
        out->classes[i].count = b->classes[i].count;
        out->classes[i].bits = b->classes[i].bits;
    }
    out->reserved = b->reserved_windows;
    out->config_offset = b->window_config_offset;
    out->pci_vendor = b->pci_vendor;
    out->pci_device = b->pci_device;
}

/* Where the cycles go is asked by an option of the simulator, or by a variable. */
static devlog_status count_cycles(devlog_device *d, const dl_transport_ops *ops, devlog_error *err)
{
    bool asked;
    devlog_status status = dl_setting_flag(DL_SET_ANNOTATE, false, &asked, err);
    if (status != DEVLOG_OK) return status;
    if (asked && d->profile && strcmp(ops->name, "sim") != 0)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "DEVLOG_ANNOTATE: only the built-in simulator knows where each cycle goes, and this device is "
            "reached by %s: unset it, or open the board with transport sim",
            ops->name);
    d->sim->count_cycles = (asked || d->sim->count_cycles) && d->profile;
    if (d->sim->count_cycles && d->sim->strict)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "the strict model of the simulator is none of time: cycles are counted without it");
    return DEVLOG_OK;
}

static devlog_status open_transport(devlog_device *d, const devlog_device_options *o,
                                    const device_choice *choice, const struct kmd_system *kmd,
                                    devlog_error *err)
{
    const dl_transport_ops *ops = choice->ops;
    d->sim = calloc(1, sizeof *d->sim);
    if (!d->sim) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    sim_world_options world;
    board_to_sim(&d->board, d->sim, &world);
    devlog_status status = board_sim_options(device_option(o->sim, DL_SET_SIM, ""), d->sim, &world, err);
    if (status == DEVLOG_OK) status = count_cycles(d, ops, err);
    if (status != DEVLOG_OK) return status;
    dl_window_layout layout;
    device_window_layout(&d->board, &layout);
    dl_hart harts[BOARD_MAX_RISCS];
    dl_memory rams[BOARD_MAX_RAMS];
    for (uint32_t i = 0; i < d->board.n_riscs; i++)
        harts[i] = (dl_hart){d->board.riscs[i].reset_pc, d->board.riscs[i].reset_bit};
    for (uint32_t i = 0; i < d->board.n_rams; i++)
        rams[i] = (dl_memory){d->board.rams[i].base, d->board.rams[i].size};
    uint64_t usb_timeout;
    status = dl_setting_number(DL_SET_USB_TIMEOUT_MS, 0, &usb_timeout, err);
    if (status != DEVLOG_OK) return status;
    const dl_usb_setup usb = {
        .khz = d->board.usb_khz,
        .idcode = d->board.usb_idcode,
        .timeout_ms = (uint32_t)usb_timeout,
    };
    dl_transport_setup setup = {
        .usb = &usb,
        .path = choice->path[0] ? choice->path : NULL,
        .sim = d->sim,
        .world = &world,
        .peer = o->together ? &o->together->transport : NULL,
        .mhz = d->board.mhz,
        .layout = d->board.window_format == BOARD_WINDOWS_NONE ? NULL : &layout,
        .harts = harts,
        .n_harts = d->board.n_riscs,
        .soft_reset = d->board.soft_reset,
        .soft_reset_mask = d->board.soft_reset_mask,
        .rams = rams,
        .n_rams = d->board.n_rams,
        .boot = {d->board.boot.base, d->board.boot.size},
        .alive = {d->board.arc.x, d->board.arc.y, d->board.arc.table, d->board.arc.table ? 4 : 0},
        .attach = o->attach,
        .kmd = kmd,
    };
    if (o->together && (o->together->linked || !o->together->sim || o->together->transport.ops != ops))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "only two devices of the same simulator can be simulated together");
    status = dl_transport_open(&d->transport, ops, &setup, err);
    if (status == DEVLOG_OK && o->together) {
        d->linked = o->together;
        d->linked->linked = d;
        d->asks_linked = true;
    }
    return status;
}

/* Every core is held in reset, so that nothing left over from before runs while programs are written. */
static devlog_status hold_all(devlog_device *d, devlog_error *err)
{
    devlog_cores all = {0, 0, d->board.n_columns - 1, d->board.n_rows - 1};
    if (!d->board.soft_reset) {
        devlog_status status = DEVLOG_OK;
        for (uint32_t y = 0; y <= all.y1; y++)
            for (uint32_t x = 0; x <= all.x1 && status == DEVLOG_OK; x++)
                status = dl_core_hold(d, (devlog_core){x, y}, UINT32_MAX, err);
        return status;
    }
    return dl_cores_write(d, all, d->board.soft_reset, &d->board.soft_reset_init, 4, err);
}

devlog_status devlog_device_open(const devlog_device_options *options, devlog_device **out, devlog_error *err)
{
    DL_IN_C_LOCALE();
    return dl_device_open(options, NULL, out, err);
}

devlog_status dl_device_open(const devlog_device_options *options, const struct kmd_system *kmd,
                             devlog_device **out, devlog_error *err)
{
    devlog_device_options taken;
    const devlog_device_options *o = &taken;
    devlog_status status = dl_options_take(&taken, sizeof taken, options, "devlog_device_options", err);
    if (status != DEVLOG_OK) return status;
    devlog_device *d = calloc(1, sizeof *d);
    if (!d) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    device_choice *choice = malloc(sizeof *choice);
    if (!choice) {
        free(d);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    }
    dl_settings_say_unused();
    status = dl_settings_check(err);
    if (status == DEVLOG_OK) status = device_choose(o, choice, err);
    if (status != DEVLOG_OK) goto fail;
    d->board = choice->board;
    d->attached = o->attach;
    snprintf(d->board_origin, sizeof d->board_origin, "%s", choice->origin);
    d->slot = o->slot;
    d->ops = o->ops;
    d->classes = UINT32_MAX;
    d->recording_version = 1;
    d->recording = DEVLOG_RECORD_STOP;
    uint64_t timeout;
    status = device_wish(o, &d->wishes, &d->profile, err);
    if (status == DEVLOG_OK) status = dl_setting_number(DL_SET_TIMEOUT_MS, 20000, &timeout, err);
    if (status != DEVLOG_OK) goto fail;
    d->timeout_ms = o->timeout_ms ? o->timeout_ms : (uint32_t)timeout;
    const char *folder = device_option(o->log_folder, DL_SET_LOG_FOLDER, "generated/profiler/logs");
    status = dl_absolute(d->log_folder, sizeof d->log_folder, folder, err);
    if (status == DEVLOG_OK) status = open_transport(d, o, choice, kmd, err);
    if (status == DEVLOG_OK) status = harvest_grid(&d->transport, &d->board, err);
    if (status != DEVLOG_OK) goto fail;
    d->booted = calloc((size_t)d->board.n_columns * d->board.n_rows, sizeof *d->booted);
    d->record_bytes = calloc((size_t)d->board.n_columns * d->board.n_rows * d->board.n_riscs, 1);
    if (!d->booted || !d->record_bytes) status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    if (status == DEVLOG_OK && !o->attach) status = hold_all(d, err);
    if (status == DEVLOG_OK && !o->attach && d->transport.ops->card) status = aiclk_settle(d, err);
    if (status == DEVLOG_OK && d->transport.note[0]) fprintf(stderr, "devlog: %s\n", d->transport.note);
    if (status != DEVLOG_OK) goto fail;
    free(choice);
    *out = d;
    return DEVLOG_OK;
fail:
    free(choice);
    if (d->linked) d->linked->linked = NULL;
    dl_transport_close(&d->transport);
    free(d->sim);
    free(d->booted);
    free(d->wishes.postmortem);
    free(d->record_bytes);
    free(d);
    return status;
}

const char *devlog_device_risc(const devlog_device *device, uint32_t index)
{
    return index < device->board.n_riscs ? device->board.riscs[index].name : NULL;
}

devlog_core devlog_device_grid(const devlog_device *device)
{
    return (devlog_core){device->board.n_columns, device->board.n_rows};
}

const char *devlog_device_board(const devlog_device *device)
{
    return device->board.name;
}

const char *devlog_device_transport(const devlog_device *device)
{
    return device->transport.ops->name;
}

uint64_t dl_device_khz(const devlog_device *device)
{
    enum { PARTS = 1000 }; /* what a measurement of some ms is not better than */
    const uint64_t board_khz = device->board.mhz * UINT64_C(1000), measured = device->measured_khz;
    uint64_t off = measured > board_khz ? measured - board_khz : board_khz - measured;
    return measured && off * PARTS > board_khz ? measured : board_khz;
}

uint32_t devlog_device_mhz(const devlog_device *device)
{
    return (uint32_t)((dl_device_khz(device) + 500) / 1000);
}

uint32_t devlog_device_user_l1(const devlog_device *device, uint32_t *size)
{
    if (size) *size = device->board.user.size;
    return device->board.user.base;
}

bool devlog_device_profiles(const devlog_device *device)
{
    return device->profile;
}

devlog_status dl_device_target(const devlog_device *device, devlog_core core, dl_target *out,
                               devlog_error *err)
{
    board_xy at;
    if (!board_core_noc(&device->board, core.x, core.y, &at))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "core (%u,%u) is outside the grid of %s: x 0 to %u, y 0 to %u", core.x, core.y,
                       device->board.name, device->board.n_columns - 1, device->board.n_rows - 1);
    *out = (dl_target){at.x, at.y, at.x, at.y};
    return DEVLOG_OK;
}

devlog_status dl_core_read(devlog_device *device, devlog_core core, uint32_t address, void *dst, size_t size,
                           devlog_error *err)
{
    dl_target at = {0, 0, 0, 0};
    devlog_status status = dl_device_target(device, core, &at, err);
    return status == DEVLOG_OK ? dl_read(&device->transport, at, address, dst, size, err) : status;
}

devlog_status dl_core_write(devlog_device *device, devlog_core core, uint32_t address, const void *src,
                            size_t size, devlog_error *err)
{
    dl_target at = {0, 0, 0, 0};
    devlog_status status = dl_device_target(device, core, &at, err);
    return status == DEVLOG_OK ? dl_write(&device->transport, at, address, src, size, err) : status;
}

/* The last of a run of neighbours that has nothing dead between them. */
static uint32_t end_of_run(const uint8_t *line, uint32_t from, uint32_t last, uint64_t dead)
{
    uint32_t end = from;
    while (end < last) {
        uint64_t between = (UINT64_C(1) << line[end + 1]) - (UINT64_C(1) << line[end]);
        if (line[end + 1] < line[end] || dead & between) break;
        end++;
    }
    return end;
}

devlog_status dl_cores_write(devlog_device *device, devlog_cores cores, uint32_t address, const void *src,
                             size_t size, devlog_error *err)
{
    dl_target first = {0, 0, 0, 0}, last = first;
    devlog_status status = dl_device_target(device, (devlog_core){cores.x0, cores.y0}, &first, err);
    if (status == DEVLOG_OK) status = dl_device_target(device, (devlog_core){cores.x1, cores.y1}, &last, err);
    if (status != DEVLOG_OK) return status;
    /* A rectangle of the NoC never covers a tile that is switched off: one write for each part between such.
     */
    const board *b = &device->board;
    for (uint32_t y = cores.y0, y_end; y <= cores.y1; y = y_end + 1) {
        y_end = end_of_run(b->rows, y, cores.y1, b->dead_rows);
        for (uint32_t x = cores.x0, x_end; x <= cores.x1; x = x_end + 1) {
            x_end = end_of_run(b->columns, x, cores.x1, b->dead_columns);
            const dl_target part = {b->columns[x], b->rows[y], b->columns[x_end], b->rows[y_end]};
            status = dl_write(&device->transport, part, address, src, size, err);
            if (status != DEVLOG_OK) return status;
        }
    }
    return DEVLOG_OK;
}

devlog_status dl_core_hold(devlog_device *device, devlog_core core, uint32_t held, devlog_error *err)
{
    dl_target at = {0, 0, 0, 0};
    devlog_status status = dl_device_target(device, core, &at, err);
    if (status != DEVLOG_OK) return status;
    if (!device->transport.ops->hold)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "board %s has no register \"soft_reset\", and transport '%s' cannot start and stop its "
            "cores without one",
            device->board.name, device->transport.ops->name);
    return device->transport.ops->hold(&device->transport, at, held, err);
}

devlog_status dl_device_runs(const devlog_device *device, const char *what, devlog_error *err)
{
    if (!device->attached) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_STATE, "the device is only looked at (devlog_device_options.attach): %s",
                   what);
}

devlog_status dl_device_advance(devlog_device *device, uint32_t cycles, devlog_error *err)
{
    if (!device->transport.ops->advance) return DEVLOG_OK;
    return device->transport.ops->advance(&device->transport, cycles, err);
}

devlog_status devlog_wall_clock(devlog_device *device, devlog_core core, uint64_t *cycles, devlog_error *err)
{
    const board *b = &device->board;
    if (b->clock_kind != BOARD_CLOCK_MMIO)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "the clock of %s cannot be read from outside a core",
                       b->name);
    for (;;) {
        uint32_t before, low, after;
        devlog_status status = dl_core_read(device, core, b->clock_high, &before, 4, err);
        if (status == DEVLOG_OK) status = dl_core_read(device, core, b->clock_low, &low, 4, err);
        if (status == DEVLOG_OK) status = dl_core_read(device, core, b->clock_high, &after, 4, err);
        if (status != DEVLOG_OK) return status;
        if (before == after) {
            *cycles = (uint64_t)before << 32 | low;
            return DEVLOG_OK;
        }
    }
}

void dl_device_free(devlog_device *device)
{
    if (device->linked) device->linked->linked = NULL;
    buffers_free(device);
    dl_transport_close(&device->transport);
    free(device->sim);
    free(device->booted);
    free(device->wishes.postmortem);
    free(device->record_bytes);
    dl_str_free(&device->remarked);
    free(device);
}
