/* Transport "ttsim": any shared library with the C ABI of libttsim (ttsim_abi.h), loaded when asked for.
 *
 * The library is a singleton: one open device per process. A violation of its rules ends the process with a
 * message of its own; nothing here can catch that. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "transport/pcie.h"
#include "transport/ttsim_abi.h"

typedef struct ttsim_transport {
    void *library;
    ttsim_init_fn *init;
    ttsim_exit_fn *exit;
    ttsim_pci_config_rd32_fn *config_rd32;
    ttsim_pci_mem_rd_bytes_fn *mem_rd_bytes;
    ttsim_pci_mem_wr_bytes_fn *mem_wr_bytes;
    ttsim_clock_fn *clock;
    uint64_t cycles; /* that it was told to do */
    uint32_t mhz;
    uint64_t bar0;
    pcie_windows windows;
} ttsim_transport;

/* dlsym gives an object pointer; C11 has no cast to a function pointer, POSIX promises that the copy works.
 */
static devlog_status find(void *library, const char *path, const char *name, void *fn, devlog_error *err)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "%s has no function %s: it is not a libttsim, or too old",
                       path, name);
    memcpy(fn, &symbol, sizeof symbol);
    return DEVLOG_OK;
}

static devlog_status bar_read(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err)
{
    (void)err;
    ttsim_transport *t = owner;
    t->mem_rd_bytes(t->bar0 + offset, dst, size);
    return DEVLOG_OK;
}

static devlog_status bar_write(void *owner, uint64_t offset, const void *src, uint32_t size,
                               devlog_error *err)
{
    (void)err;
    ttsim_transport *t = owner;
    t->mem_wr_bytes(t->bar0 + offset, src, size);
    return DEVLOG_OK;
}

static void ttsim_close(dl_transport *t)
{
    ttsim_transport *state = t->state;
    state->exit();
    dlclose(state->library);
    free(state);
}

static devlog_status load(ttsim_transport *t, const char *path, devlog_error *err)
{
    const struct {
        const char *name;
        void *fn;
    } symbols[] = {
        {"libttsim_init", &t->init},
        {"libttsim_exit", &t->exit},
        {"libttsim_pci_config_rd32", &t->config_rd32},
        {"libttsim_pci_mem_rd_bytes", &t->mem_rd_bytes},
        {"libttsim_pci_mem_wr_bytes", &t->mem_wr_bytes},
        {"libttsim_clock", &t->clock},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        devlog_status status = find(t->library, path, symbols[i].name, symbols[i].fn, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

static devlog_status ttsim_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    if (!setup->path || !*setup->path)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "no simulator library: set TT_METAL_SIMULATOR to a libttsim.so");
    if (!setup->layout) return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "this board has no PCIe windows");
    ttsim_transport *state = calloc(1, sizeof *state);
    if (!state) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    state->mhz = setup->mhz ? setup->mhz : 1000;
    state->library = dlopen(setup->path, RTLD_NOW | RTLD_LOCAL);
    if (!state->library) {
        free(state);
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "cannot load the simulator: %s", dlerror());
    }
    devlog_status status = load(state, setup->path, err);
    if (status != DEVLOG_OK) goto fail;
    state->init();
    uint32_t id = state->config_rd32(0, 0);
    if (id != (setup->layout->pci_vendor | setup->layout->pci_device << 16)) {
        state->exit();
        status = dl_fail(
            err, DEVLOG_ERR_TRANSPORT,
            "%s simulates the PCI device %04x:%04x, the board file describes %04x:%04x: choose the board "
            "that fits",
            setup->path, id & 0xFFFF, id >> 16, setup->layout->pci_vendor, setup->layout->pci_device);
        goto fail;
    }
    state->bar0 = (state->config_rd32(0, 0x10) & ~0xFu) | (uint64_t)state->config_rd32(0, 0x14) << 32;
    pcie_bar bar = {.owner = state, .read = bar_read, .write = bar_write};
    status = pcie_windows_init(&state->windows, &bar, setup->layout, err);
    if (status != DEVLOG_OK) {
        state->exit();
        goto fail;
    }
    t->state = state;
    return DEVLOG_OK;
fail:
    dlclose(state->library);
    free(state);
    return status;
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
    (void)err;
    ttsim_transport *state = t->state;
    state->clock(cycles);
    state->cycles += cycles;
    return DEVLOG_OK;
}

/* Its time stands still but for the cycles that it is told to do. */
static uint64_t ttsim_now(dl_transport *t)
{
    const ttsim_transport *state = t->state;
    return state->cycles * 1000 / state->mhz;
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
