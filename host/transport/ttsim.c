/* Transport "ttsim": any shared library with the C ABI of libttsim (ttsim_abi.h), in a process of its own (ttsim_child.h).
 *
 * PATH, or PATH:N for chip N of a library that has several: they are devices of one PCI bus, and share a clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/pcie.h"
#include "transport/ttsim_child.h"

enum { MOST_CHIPS = 32, BLOCK = 1 << 16 };

typedef struct ttsim_transport {
    ttsim_child *child;
    uint32_t mhz;
    uint64_t bar0;
    pcie_windows windows;
} ttsim_transport;

static devlog_status bar_read(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err)
{
    const ttsim_transport *t = owner;
    devlog_status status = DEVLOG_OK;
    for (uint32_t done = 0, n; done < size && status == DEVLOG_OK; done += n) {
        n = size - done < BLOCK ? size - done : BLOCK;
        status = ttsim_child_read(t->child, t->bar0 + offset + done, (char *)dst + done, n, err);
    }
    return status;
}

static devlog_status bar_write(void *owner, uint64_t offset, const void *src, uint32_t size,
                               devlog_error *err)
{
    const ttsim_transport *t = owner;
    devlog_status status = DEVLOG_OK;
    for (uint32_t done = 0, n; done < size && status == DEVLOG_OK; done += n) {
        n = size - done < BLOCK ? size - done : BLOCK;
        status = ttsim_child_write(t->child, t->bar0 + offset + done, (const char *)src + done, n, err);
    }
    return status;
}

static void ttsim_close(dl_transport *t)
{
    ttsim_transport *state = t->state;
    ttsim_child_leave(state->child);
    free(state);
}

/* PATH or PATH:N. */
static void split(const char *path, char *file, size_t size, uint32_t *chip, bool *named)
{
    const char *colon = strrchr(path, ':');
    *named = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) && strlen(colon) < 4;
    *chip = *named ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    snprintf(file, size, "%.*s", *named ? (int)(colon - path) : (int)strlen(path), path);
}

static devlog_status count_chips(ttsim_child *c, uint32_t *n, devlog_error *err)
{
    for (*n = 0; *n < MOST_CHIPS; ++*n) {
        uint32_t id;
        devlog_status status = ttsim_child_config(c, *n, 0, &id, err);
        if (status != DEVLOG_OK || id == UINT32_MAX) return status;
    }
    return DEVLOG_OK;
}

/* Chip `chip` of the library is what the board file describes: where its BAR is. */
static devlog_status find_chip(ttsim_transport *t, const char *file, uint32_t chip, uint32_t n,
                               const dl_window_layout *layout, devlog_error *err)
{
    uint32_t id = 0, low = 0, high = 0;
    if (chip >= n)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s has %u chip%s on its PCI bus: there is no number %u",
                       file, n, n == 1 ? "" : "s", chip);
    devlog_status status = ttsim_child_config(t->child, chip, 0, &id, err);
    if (status == DEVLOG_OK) status = ttsim_child_config(t->child, chip, 0x10, &low, err);
    if (status == DEVLOG_OK) status = ttsim_child_config(t->child, chip, 0x14, &high, err);
    if (status != DEVLOG_OK) return status;
    t->bar0 = (low & ~0xFu) | (uint64_t)high << 32;
    if (id == (layout->pci_vendor | layout->pci_device << 16)) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_TRANSPORT,
        "%s simulates the PCI device %04x:%04x, the board file describes %04x:%04x: choose the board "
        "that fits",
        file, id & 0xFFFF, id >> 16, layout->pci_vendor, layout->pci_device);
}

static devlog_status ttsim_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    char file[4096];
    uint32_t chip, n = 0;
    bool named;
    if (!setup->path || !*setup->path)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "no simulator library: set TT_METAL_SIMULATOR to a libttsim.so");
    if (!setup->layout) return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "this board has no PCIe windows");
    split(setup->path, file, sizeof file, &chip, &named);
    ttsim_transport *state = calloc(1, sizeof *state);
    if (!state) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    state->mhz = setup->mhz ? setup->mhz : 1000;
    devlog_status status = ttsim_child_get(file, &state->child, err);
    if (status != DEVLOG_OK) {
        free(state);
        return status;
    }
    status = count_chips(state->child, &n, err);
    if (status == DEVLOG_OK) status = find_chip(state, file, chip, n, setup->layout, err);
    const pcie_bar bar = {.owner = state, .read = bar_read, .write = bar_write};
    if (status == DEVLOG_OK) status = pcie_windows_init(&state->windows, &bar, setup->layout, err);
    t->state = state;
    if (status != DEVLOG_OK) {
        ttsim_close(t);
        return status;
    }
    t->instructions = ttsim_child_counts_instructions(state->child);
    if (n > 1 && !named)
        snprintf(t->note, sizeof t->note,
                 "the simulator has %u chips, and this is number 0 of them; ttsim:PATH:N is number N", n);
    return DEVLOG_OK;
}

static devlog_status ttsim_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                                devlog_error *err)
{
    ttsim_transport *state = t->state;
    return pcie_windows_read(&state->windows, at, addr, dst, size, err);
}

static devlog_status ttsim_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                                 devlog_error *err)
{
    ttsim_transport *state = t->state;
    return pcie_windows_write(&state->windows, at, addr, src, size, err);
}

static devlog_status ttsim_advance(dl_transport *t, uint32_t cycles, devlog_error *err)
{
    const ttsim_transport *state = t->state;
    return ttsim_child_clock(state->child, cycles, err);
}

/* Its time stands still but for the cycles that it is told to do, by whoever uses one of its chips. */
static uint64_t ttsim_now(dl_transport *t)
{
    const ttsim_transport *state = t->state;
    return ttsim_child_cycles(state->child) * 1000 / state->mhz;
}

const dl_transport_ops dl_transport_ops_ttsim = {
    .name = "ttsim",
    .summary = "a libttsim.so, such as tenstorrent/ttsim; TT_METAL_SIMULATOR is its path",
    .path_setting = DL_SET_SIMULATOR,
    .open = ttsim_open,
    .close = ttsim_close,
    .read = ttsim_read,
    .write = ttsim_write,
    .advance = ttsim_advance,
    .now_ns = ttsim_now,
    .hart_pc = NULL,
};
