/* TLB windows: reaching any tile through BAR0. Not for finding BAR0: its owner does that. */
#include "transport/pcie.h"

#include <string.h>

devlog_status pcie_windows_init(pcie_windows *w, const pcie_bar *bar, const dl_window_layout *layout,
                                devlog_error *err)
{
    memset(w, 0, sizeof *w);
    w->bar = *bar;
    w->layout = *layout;
    uint32_t index = 0;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < layout->n_classes; i++) {
        uint32_t count = layout->classes[i].count;
        if (i + 1 == layout->n_classes) count -= count < layout->reserved ? count : layout->reserved;
        if (count >= PCIE_WINDOWS && layout->classes[i].bits > w->bits) {
            w->bits = layout->classes[i].bits;
            w->first = index + count - PCIE_WINDOWS;
            w->first_offset = offset + ((uint64_t)(count - PCIE_WINDOWS) << w->bits);
        }
        index += layout->classes[i].count;
        offset += (uint64_t)layout->classes[i].count << layout->classes[i].bits;
    }
    if (w->bits == 0) return dl_fail(err, DEVLOG_ERR_FORMAT, "the board file has too few TLB windows");
    w->n = PCIE_WINDOWS;
    if (bar->configure) w->first_offset = 0;
    return DEVLOG_OK;
}

void pcie_windows_got(pcie_windows *w, uint32_t n, uint32_t bits)
{
    w->n = n;
    w->bits = bits;
}

static bool same_target(dl_target a, dl_target b)
{
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

/* 64 bits: local_offset (36 - bits), x_end 6, y_end 6, x_start 6, y_start 6, noc_sel, mcast, ordering 2.
 * Ordering 1, strict AXI: a launch message must not overtake the program that it starts. */
static devlog_status configure_wormhole(pcie_windows *w, uint32_t index, dl_target at, uint64_t base,
                                        devlog_error *err)
{
    unsigned n = 36 - w->bits;
    bool mcast = at.x0 != at.x1 || at.y0 != at.y1;
    uint64_t config = base >> w->bits;
    config |= (uint64_t)at.x1 << n | (uint64_t)at.y1 << (n + 6);
    if (mcast) config |= (uint64_t)at.x0 << (n + 12) | (uint64_t)at.y0 << (n + 18) | 1ull << (n + 25);
    config |= 1ull << (n + 26);
    return w->bar.write(w->bar.owner, w->layout.config_offset + 8ull * index, &config, 8, err);
}

/* 96 bits: address 43, x_end 6, y_end 6, x_start 6, y_start 6, noc 2, mcast, ordering 2. */
static devlog_status configure_blackhole(pcie_windows *w, uint32_t index, dl_target at, uint64_t base,
                                         devlog_error *err)
{
    bool mcast = at.x0 != at.x1 || at.y0 != at.y1;
    uint64_t page = base >> w->bits;
    uint32_t words[3];
    words[0] = (uint32_t)page;
    words[1] = (uint32_t)(page >> 32 & 0x7FF) | (uint32_t)at.x1 << 11 | (uint32_t)at.y1 << 17;
    words[2] = 1u << 6;
    if (mcast) {
        words[1] |= (uint32_t)at.x0 << 23 | (uint32_t)at.y0 << 29;
        words[2] |= (uint32_t)at.y0 >> 3 | 1u << 5;
    }
    for (uint32_t i = 0; i < 3; i++) {
        devlog_status status =
            w->bar.write(w->bar.owner, w->layout.config_offset + 12ull * index + 4 * i, &words[i], 4, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

/* Makes a window show `addr` of the target; returns its offset in BAR0 and how many bytes follow in it. */
static devlog_status show(pcie_windows *w, dl_target at, uint64_t addr, uint64_t *offset, uint64_t *room,
                          devlog_error *err)
{
    uint64_t size = 1ull << w->bits, base = addr & ~(size - 1);
    uint32_t slot = 0;
    bool found = false;
    for (uint32_t i = 0; i < w->n && !found; i++) {
        if (w->windows[i].valid && w->windows[i].base == base && same_target(w->windows[i].at, at)) {
            slot = i;
            found = true;
        } else if (w->windows[i].used < w->windows[slot].used) {
            slot = i;
        }
    }
    if (!found) {
        devlog_status status = w->bar.configure ? w->bar.configure(w->bar.owner, slot, at, base, err)
                               : w->layout.format == DL_WINDOWS_WORMHOLE
                                   ? configure_wormhole(w, w->first + slot, at, base, err)
                                   : configure_blackhole(w, w->first + slot, at, base, err);
        w->windows[slot].valid = false; /* until it shows the new target */
        if (status != DEVLOG_OK) return status;
        w->windows[slot].valid = true;
        w->windows[slot].at = at;
        w->windows[slot].base = base;
    }
    w->windows[slot].used = ++w->uses;
    *offset = w->first_offset + slot * size + (addr - base);
    *room = size - (addr - base);
    return DEVLOG_OK;
}

devlog_status pcie_windows_read(pcie_windows *w, dl_target at, uint64_t addr, void *dst, size_t size,
                                devlog_error *err)
{
    uint8_t *to = dst;
    while (size > 0) {
        uint64_t offset, room;
        devlog_status status = show(w, at, addr, &offset, &room, err);
        if (status != DEVLOG_OK) return status;
        uint32_t n = (uint32_t)(size < room ? size : room);
        status = w->bar.read(w->bar.owner, offset, to, n, err);
        if (status != DEVLOG_OK) return status;
        to += n;
        addr += n;
        size -= n;
    }
    return DEVLOG_OK;
}

devlog_status pcie_windows_write(pcie_windows *w, dl_target at, uint64_t addr, const void *src, size_t size,
                                 devlog_error *err)
{
    const uint8_t *from = src;
    while (size > 0) {
        uint64_t offset, room;
        devlog_status status = show(w, at, addr, &offset, &room, err);
        if (status != DEVLOG_OK) return status;
        uint32_t n = (uint32_t)(size < room ? size : room);
        status = w->bar.write(w->bar.owner, offset, from, n, err);
        if (status != DEVLOG_OK) return status;
        from += n;
        addr += n;
        size -= n;
    }
    return DEVLOG_OK;
}
