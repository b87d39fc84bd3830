/* TLB windows: reaching any tile through BAR0. What the transports that have a BAR share.
 * Source of the formats: tenstorrent/tt-isa-documentation WormholeB0/PCIExpressTile/TLBs.md, "Configuration";
 * for Blackhole tenstorrent/ttsim v1.10.0 src/libttsim.cpp, tlb_translate. */
#ifndef DEVLOG_TRANSPORT_PCIE_H
#define DEVLOG_TRANSPORT_PCIE_H

#include "transport/transport.h"

/* BAR0 as its owner sees it: offsets from its start, or, when the owner configures the windows, from the
 * first of PCIE_WINDOWS windows of its own, one behind the other. */
typedef struct pcie_bar {
    void *owner;
    devlog_status (*read)(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err);
    devlog_status (*write)(void *owner, uint64_t offset, const void *src, uint32_t size, devlog_error *err);
    /* Makes window `slot` of its own show `base` of the target; NULL: by the registers behind the windows. */
    devlog_status (*configure)(void *owner, uint32_t slot, dl_target at, uint64_t base, devlog_error *err);
} pcie_bar;

enum { PCIE_WINDOWS = 4 }; /* at most in use: so that alternating between few targets reconfigures nothing */

typedef struct pcie_windows {
    pcie_bar bar;
    dl_window_layout layout;
    uint32_t n;           /* windows in use */
    uint32_t first, bits; /* index of the first of them, log2 of their size */
    uint64_t first_offset;
    struct {
        bool valid;
        dl_target at;
        uint64_t base;
        uint64_t used; /* when it was last used, to replace the oldest */
    } windows[PCIE_WINDOWS];
    uint64_t uses;
} pcie_windows;

/* Chooses the windows: the last of the largest class that are not reserved. */
devlog_status pcie_windows_init(pcie_windows *w, const pcie_bar *bar, const dl_window_layout *layout,
                                devlog_error *err);
/* For an owner that configures them, after init: it has got `n` windows of 2^bits bytes, 1 at least. */
void pcie_windows_got(pcie_windows *w, uint32_t n, uint32_t bits);
devlog_status pcie_windows_read(pcie_windows *w, dl_target at, uint64_t addr, void *dst, size_t size,
                                devlog_error *err);
devlog_status pcie_windows_write(pcie_windows *w, dl_target at, uint64_t addr, const void *src, size_t size,
                                 devlog_error *err);

#endif
