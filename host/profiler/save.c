/* Saving the state of a device: mailboxes, records and pcs of every core that has been started. Not for the
 * format (transport/saved.h) and not for what it means (look.c). */
#include <stddef.h>
#include <stdlib.h>

#include "profiler/look.h"
#include "profiler/pull.h"
#include "transport/saved.h"

static devlog_status save_memory(devlog_device *device, dl_file_writer *w, dl_target at, uint32_t address,
                                 uint32_t size, devlog_error *err)
{
    void *bytes = malloc(size);
    if (!bytes) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to save a device");
    devlog_status status = dl_read(&device->transport, at, address, bytes, size, err);
    if (status == DEVLOG_OK) saved_memory(w, at, address, bytes, size);
    free(bytes);
    return status;
}

/* Records that were flushed to DRAM: what the control block says, if that can be. */
static devlog_status save_streamed(devlog_device *device, dl_file_writer *w, const devlog_control *c,
                                   devlog_error *err)
{
    const board *b = &device->board;
    dl_target at = {c->stream_target & 63, c->stream_target >> 6 & 63, c->stream_target & 63,
                    c->stream_target >> 6 & 63};
    if (c->magic != DEVLOG_MAGIC || c->mode != DEVLOG_MODE_STREAM || c->streamed == 0 ||
        c->streamed > c->stream_size)
        return DEVLOG_OK;
    for (uint32_t i = 0; i < b->n_dram; i++)
        if (b->dram[i].x == at.x0 && b->dram[i].y == at.y0 &&
            (uint64_t)c->stream_base + c->streamed <= b->dram_size)
            return save_memory(device, w, at, c->stream_base, c->streamed, err);
    return DEVLOG_OK;
}

static devlog_status save_core(devlog_device *device, dl_file_writer *w, devlog_core core, devlog_error *err)
{
    const board *b = &device->board;
    dl_target at;
    devlog_status status = dl_device_target(device, core, &at, err);
    if (status == DEVLOG_OK)
        status = save_memory(device, w, at, b->mailbox.base, sizeof(devlog_mailbox), err);
    uint32_t bytes = DEVLOG_REGION_BYTES(b->segment_bits);
    for (uint32_t i = 0; i < b->n_riscs && status == DEVLOG_OK; i++) {
        devlog_control control;
        uint32_t region = board_profiler_base(b, i), pc;
        status = save_memory(device, w, at, region, bytes, err);
        if (status == DEVLOG_OK)
            status = dl_read(&device->transport, at, region + DEVLOG_CONTROL_OFFSET(b->segment_bits),
                             &control, sizeof control, err);
        if (status == DEVLOG_OK) status = save_streamed(device, w, &control, err);
        if (device->transport.ops->hart_pc && device->transport.ops->hart_pc(&device->transport, at, i, &pc))
            saved_pc(w, at, i, pc);
    }
    uint64_t clock;
    if (status == DEVLOG_OK && b->clock_kind == BOARD_CLOCK_MMIO &&
        devlog_wall_clock(device, core, &clock, NULL) == DEVLOG_OK) {
        const uint32_t low = (uint32_t)clock, high = (uint32_t)(clock >> 32);
        saved_memory(w, at, b->clock_low, &low, 4);
        saved_memory(w, at, b->clock_high, &high, 4);
    }
    return status;
}

devlog_status devlog_save_state(devlog_device *device, const char *path, devlog_error *err)
{
    dl_file_writer w;
    devlog_status status = saved_create(&w, path, device->board_origin, err);
    if (status != DEVLOG_OK) return status;
    if (device->board.dead_columns || device->board.dead_rows)
        saved_grid(&w, device->board.dead_columns, device->board.dead_rows);
    uint32_t saved = 0;
    for (uint32_t y = 0; y < device->board.n_rows && status == DEVLOG_OK; y++) {
        for (uint32_t x = 0; x < device->board.n_columns && status == DEVLOG_OK; x++) {
            bool started;
            status = look_started(device, (devlog_core){x, y}, &started, err);
            if (status == DEVLOG_OK && started) status = save_core(device, &w, (devlog_core){x, y}, err);
            saved += status == DEVLOG_OK && started;
        }
    }
    /* What was read before a device went away is worth keeping. */
    if (status == DEVLOG_OK || saved) {
        devlog_error later;
        devlog_status written = saved_commit(&w, status == DEVLOG_OK ? err : &later);
        return status == DEVLOG_OK ? written : status;
    }
    dl_file_abandon(&w);
    return status;
}
