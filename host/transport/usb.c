/* Transport "usb": a chip behind a CMSIS-DAP v2 probe, by JTAG and its RISC-V debug module.
 *
 * One debug module is one tile: its harts are the RISCs of the board file, in that order. Nothing that runs
 * is disturbed as long as the debug module has system bus access. */
#include <stdlib.h>

#include "transport/transport.h"
#include "transport/usb_memory.h"
#include "transport/usb_probe.h"

enum { DEFAULT_KHZ = 4000, DEFAULT_TIMEOUT_MS = 1000 };

typedef struct usb_transport {
    usb_probe *probe;
    usb_dm dm;
    uint32_t n_harts, held; /* of the board; those that are held, one bit each */
    uint32_t reset_pc[USB_MAX_HARTS];
} usb_transport;

static devlog_status usb_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    static const dl_usb_setup none;
    const dl_usb_setup *o = setup->usb ? setup->usb : &none;
    usb_transport *state = calloc(1, sizeof *state);
    if (!state) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    uint32_t timeout_ms = o->timeout_ms ? o->timeout_ms : DEFAULT_TIMEOUT_MS;
    devlog_status status = usb_probe_open(setup->path, timeout_ms, &state->probe, err);
    if (status != DEVLOG_OK) goto fail;
    status = usb_dm_open(&state->dm, usb_probe_link(state->probe), o->khz ? o->khz : DEFAULT_KHZ, o->idcode,
                         timeout_ms, err);
    if (status != DEVLOG_OK) goto fail;
    if (state->dm.n_harts < setup->n_harts) {
        status = dl_fail(err, DEVLOG_ERR_DEVICE,
                         "%s: the chip has %u harts, the board file describes %u: choose the board that fits",
                         usb_probe_link(state->probe)->name, state->dm.n_harts, setup->n_harts);
        usb_dm_close(&state->dm);
        goto fail;
    }
    state->n_harts = setup->n_harts;
    for (uint32_t i = 0; i < setup->n_harts; i++)
        state->reset_pc[i] = setup->harts[i].reset_pc;
    t->state = state;
    return DEVLOG_OK;
fail:
    usb_probe_close(state->probe);
    free(state);
    return status;
}

static void usb_close(dl_transport *t)
{
    usb_transport *state = t->state;
    if (!state) return;
    usb_dm_close(&state->dm);
    usb_probe_close(state->probe);
    free(state);
}

static devlog_status check_address(uint64_t addr, size_t size, devlog_error *err)
{
    if (addr + size <= UINT64_C(1) << 32) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "address 0x%llx is not one of 32 bits",
                   (unsigned long long)addr);
}

static devlog_status usb_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                              devlog_error *err)
{
    (void)at;
    usb_transport *state = t->state;
    t->partial = 0;
    devlog_status status = check_address(addr, size, err);
    if (status != DEVLOG_OK) return status;
    return usb_memory_read(&state->dm, (uint32_t)addr, dst, size, &t->partial, err);
}

static devlog_status usb_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                               devlog_error *err)
{
    (void)at;
    usb_transport *state = t->state;
    devlog_status status = check_address(addr, size, err);
    return status == DEVLOG_OK ? usb_memory_write(&state->dm, (uint32_t)addr, src, size, err) : status;
}

/* A hart is held by halting it, and goes on from its reset pc. */
static devlog_status usb_hold(dl_transport *t, dl_target at, uint32_t held, devlog_error *err)
{
    (void)at;
    usb_transport *state = t->state;
    devlog_status status = DEVLOG_OK;
    /* GCC 12.2 at -O2 makes of a comparison of the two bits a test of the first alone. */
    const uint32_t changes = state->held ^ held;
    for (uint32_t i = 0; i < state->n_harts && status == DEVLOG_OK; i++) {
        if (!(changes >> i & 1)) continue;
        if (held >> i & 1) {
            status = usb_dm_halt(&state->dm, i, err);
        } else {
            status = usb_dm_reg_set(&state->dm, i, USB_REG_DPC, state->reset_pc[i], err);
            /* Code that was written behind its back. */
            if (status == DEVLOG_OK) status = usb_dm_fence(&state->dm, i, err);
            if (status == DEVLOG_OK) status = usb_dm_resume(&state->dm, i, err);
        }
        if (status == DEVLOG_OK) state->held ^= 1u << i;
    }
    return status;
}

/* Only a hart that is halted tells. */
static bool usb_hart_pc(dl_transport *t, dl_target at, uint32_t hart, uint32_t *pc)
{
    (void)at;
    usb_transport *state = t->state;
    bool halted;
    return hart < state->dm.n_harts && usb_dm_halted(&state->dm, hart, &halted, NULL) == DEVLOG_OK &&
           halted && usb_dm_reg_get(&state->dm, hart, USB_REG_DPC, pc, NULL) == DEVLOG_OK;
}

const dl_transport_ops dl_transport_ops_usb = {
    .name = "usb",
    .summary = "a debug probe on USB (CMSIS-DAP v2) and the RISC-V debug module behind it; usb:SERIAL",
    .path_setting = DL_SET_PROBE,
    .open = usb_open,
    .close = usb_close,
    .read = usb_read,
    .write = usb_write,
    .hold = usb_hold,
    .advance = NULL,
    .now_ns = NULL,
    .hart_pc = usb_hart_pc,
};
