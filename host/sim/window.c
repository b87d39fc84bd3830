/* BAR0: TLB windows and their configuration. What it is not: tiles and their registers (tile.c).
 * Section names are those of WormholeB0/PCIExpressTile/TLBs.md; the 96-bit format of Blackhole is that of
 * tt-kmd and ttsim (there is no public document). */
#include "sim/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/noc.h"
#include "sim/tile.h"

enum {
    PCI_ID = 0x00,
    PCI_BAR0_LOW = 0x10,
    PCI_BAR0_HIGH = 0x14,
    PCI_BAR_IS_64_BIT = 4,
    ORDERING_RESERVED = 3
};

/* Bytes of configuration per window. */
static uint32_t entry_size(const sim_config *c)
{
    return c->window_format == SIM_WINDOW_BLACKHOLE ? 12 : 8;
}

static uint32_t count_windows(const sim_config *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_window_classes; i++)
        n += c->windows[i].count;
    return n;
}

const char *sim_window_check(const sim_config *c)
{
    enum { MAX_WINDOWS = 4096 };
    if (c->n_window_classes > SIM_MAX_WINDOW_CLASSES) return "n_window_classes is out of range";
    if (c->n_window_classes == 0) return NULL;
    if (c->window_format != SIM_WINDOW_WORMHOLE && c->window_format != SIM_WINDOW_BLACKHOLE)
        return "the window format is not known";
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->n_window_classes; i++) {
        if (c->windows[i].bits < 12 || c->windows[i].bits > 32)
            return "the size of a window is not in 2^12 to 2^32";
        if (c->windows[i].count > MAX_WINDOWS) return "there are too many windows";
        end += (uint64_t)c->windows[i].count << c->windows[i].bits;
    }
    uint64_t config_end = c->window_config_offset + (uint64_t)count_windows(c) * entry_size(c);
    if (c->window_config_offset < end || config_end > c->bar0_size)
        return "windows, their configuration and the size of BAR0 do not fit together";
    if (c->window_config_offset & 7) return "the window configuration is not aligned to 8 bytes";
    return NULL;
}

bool sim_window_init(sim *s)
{
    s->n_windows = count_windows(&s->config);
    s->windows = calloc(s->n_windows + 1u, sizeof *s->windows * 2);
    return s->windows != NULL;
}

uint32_t sim_config_read(sim *s, uint32_t offset)
{
    switch (offset) {
    case PCI_ID: return s->config.pci_id;
    case PCI_BAR0_LOW: return (uint32_t)s->config.bar0_base | PCI_BAR_IS_64_BIT;
    case PCI_BAR0_HIGH: return (uint32_t)(s->config.bar0_base >> 32);
    }
    return UINT32_MAX;
}

/* ---- Where a window points ------------------------------------------------------------------------- */

typedef struct target {
    uint64_t addr; /* in the tile(s) */
    uint32_t noc;
    bool multicast;
    uint32_t x, y;
    sim_rect rect;
} target;

static uint64_t field(const uint64_t *words, uint32_t first, uint32_t count)
{
    uint64_t low = first < 64 ? words[0] >> first : words[1] >> (first - 64);
    if (first < 64 && first + count > 64) low |= words[1] << (64 - first);
    return low & ((UINT64_C(1) << count) - 1);
}

/* The fields after the address, in both formats; "Configuration". NULL, or what is wrong. */
static const char *parse(const uint64_t *words, sim_window_format format, uint32_t window_bits,
                         uint64_t offset, target *out)
{
    uint32_t n = (format == SIM_WINDOW_WORMHOLE ? 36 : 64) - window_bits;
    uint32_t noc_bits = format == SIM_WINDOW_WORMHOLE ? 1 : 2, at = n + 24 + noc_bits;
    *out = (target){.addr = field(words, 0, n) << window_bits | offset,
                    .x = (uint32_t)field(words, n, 6),
                    .y = (uint32_t)field(words, n + 6, 6),
                    .noc = (uint32_t)field(words, n + 24, noc_bits),
                    .multicast = field(words, at, 1)};
    out->rect = (sim_rect){.x_end = (uint8_t)out->x,
                           .y_end = (uint8_t)out->y,
                           .x_start = (uint8_t)field(words, n + 12, 6),
                           .y_start = (uint8_t)field(words, n + 18, 6)};
    if (out->noc > 1) return "the NoC it selects does not exist";
    if (field(words, at + 1, 2) == ORDERING_RESERVED) return "ordering mode 3 does not exist";
    if (field(words, at + 3, 1)) return "linked transactions are not modelled";
    return NULL;
}

/* Everything that an access needs; false after a refusal. */
static bool locate(sim *s, uint64_t bar_offset, uint32_t size, const char *verb, target *out)
{
    const sim_config *c = &s->config;
    uint64_t base = 0;
    uint32_t index = 0;
    for (uint32_t i = 0; i < c->n_window_classes; i++) {
        const sim_window_class *w = &c->windows[i];
        uint64_t in_class = bar_offset - base, class_size = (uint64_t)w->count << w->bits;
        if (in_class >= class_size) {
            base += class_size;
            index += w->count;
            continue;
        }
        uint64_t offset = in_class & ((UINT64_C(1) << w->bits) - 1);
        index += (uint32_t)(in_class >> w->bits);
        const char *why = NULL;
        if (size > (UINT64_C(1) << w->bits) - offset) why = "the access crosses the end of the window";
        if (!why) why = parse(&s->windows[2 * index], c->window_format, w->bits, offset, out);
        if (!why) return true;
        return sim_refuse_host(s, "host %s of %u bytes at bus address 0x%llx: TLB window %u: %s", verb, size,
                               (unsigned long long)(c->bar0_base + bar_offset), index, why);
    }
    return sim_refuse_host(s, "host %s of %u bytes at bus address 0x%llx: nothing is mapped there in BAR0",
                           verb, size, (unsigned long long)(c->bar0_base + bar_offset));
}

/* ---- Configuration --------------------------------------------------------------------------------- */

/* Bytes [offset, offset + size) of the configuration array, or NULL if the access is not allowed. */
static uint8_t *config_bytes(sim *s, uint64_t offset, uint32_t size)
{
    uint32_t entry = entry_size(&s->config);
    bool fits = size == 4 || (size == 8 && s->config.window_format == SIM_WINDOW_WORMHOLE);
    if (!fits || offset & (size - 1)) return NULL;
    return (uint8_t *)&s->windows[offset / entry * 2] + offset % entry;
}

/* ---- Access ---------------------------------------------------------------------------------------- */

static bool refuse_tile(sim *s, const char *verb, uint64_t addr, uint32_t size, const target *to,
                        const sim_tile *t, const char *why)
{
    return sim_refuse_host(s, "host %s of %u bytes at bus address 0x%llx: tile (%u,%u) at 0x%llx: %s", verb,
                           size, (unsigned long long)addr, t->config->x, t->config->y,
                           (unsigned long long)to->addr, why);
}

/* Whether [addr, addr + size) is in BAR0, and in which part of it. */
static bool in_bar0(sim *s, uint64_t addr, uint32_t size, const char *verb, uint64_t *offset, bool *is_config)
{
    const sim_config *c = &s->config;
    if (s->faulted && !s->looked_at) return false;
    *offset = addr - c->bar0_base;
    if (size == 0 || addr < c->bar0_base || *offset >= c->bar0_size || size > c->bar0_size - *offset)
        return sim_refuse_host(s, "host %s of %u bytes at bus address 0x%llx: this is outside of BAR0", verb,
                               size, (unsigned long long)addr);
    uint64_t in_config = *offset - c->window_config_offset;
    *is_config = s->n_windows && in_config < (uint64_t)s->n_windows * entry_size(c);
    if (*is_config) *offset = in_config;
    return true;
}

static bool refuse_config(sim *s, uint64_t addr, uint32_t size, const char *verb)
{
    return sim_refuse_host(s,
                           "host %s of %u bytes at bus address 0x%llx: window configuration takes aligned %s",
                           verb, size, (unsigned long long)addr,
                           s->config.window_format == SIM_WINDOW_WORMHOLE ? "4 or 8 bytes" : "4 bytes");
}

static sim_tile *unicast_tile(sim *s, const target *to, uint64_t addr, uint32_t size, const char *verb)
{
    sim_tile *t = sim_noc_tile(s, to->noc, to->x, to->y);
    if (!t)
        sim_refuse_host(s, "host %s of %u bytes at bus address 0x%llx: there is no tile at (%u,%u) of NoC %u",
                        verb, size, (unsigned long long)addr, to->x, to->y, to->noc);
    return t;
}

bool sim_bus_read(sim *s, uint64_t addr, void *dst, uint32_t size)
{
    static const char verb[] = "read";
    uint64_t offset = 0;
    bool is_config = false;
    target to = {0};
    if (!in_bar0(s, addr, size, verb, &offset, &is_config)) return false;
    if (is_config) {
        const uint8_t *p = config_bytes(s, offset, size);
        if (!p) return refuse_config(s, addr, size, verb);
        memcpy(dst, p, size);
        return true;
    }
    if (!locate(s, offset, size, verb, &to)) return false;
    if (to.multicast)
        return sim_refuse_host(
            s, "host read of %u bytes at bus address 0x%llx: a multicast window cannot be read", size,
            (unsigned long long)addr);
    sim_tile *t = unicast_tile(s, &to, addr, size, verb);
    if (!t) return false;
    sim_by by = {.now = s->clock, .hart = SIM_NO_HART};
    const char *why = sim_tile_fetch_bytes(t, by, to.addr, dst, size);
    return why ? refuse_tile(s, verb, addr, size, &to, t, why) : true;
}

bool sim_bus_write(sim *s, uint64_t addr, const void *src, uint32_t size)
{
    static const char verb[] = "write";
    uint64_t offset = 0;
    bool is_config = false;
    target to = {0};
    if (!in_bar0(s, addr, size, verb, &offset, &is_config)) return false;
    if (is_config) {
        uint8_t *p = config_bytes(s, offset, size);
        if (!p) return refuse_config(s, addr, size, verb);
        memcpy(p, src, size);
        return true;
    }
    if (s->faulted || !locate(s, offset, size, verb, &to)) return false;
    sim_by by = {.now = s->clock, .hart = SIM_NO_HART};
    if (!to.multicast) {
        sim_tile *t = unicast_tile(s, &to, addr, size, verb);
        const char *why = t ? sim_tile_store_bytes(t, by, to.addr, src, size) : NULL;
        return why ? refuse_tile(s, verb, addr, size, &to, t, why) : t != NULL;
    }
    /* Tiles other than compute tiles opt out of broadcasts. */
    uint32_t reached = 0;
    for (uint32_t i = 0; i < s->n_tiles; i++) {
        sim_tile *t = &s->tiles[i];
        if (!sim_noc_in_rect(t, to.noc, to.rect)) continue;
        const char *why = sim_tile_store_bytes(t, by, to.addr, src, size);
        if (why) return refuse_tile(s, verb, addr, size, &to, t, why);
        reached++;
    }
    if (reached) return true;
    return sim_refuse_host(s,
                           "host write of %u bytes at bus address 0x%llx: no compute tile is in the "
                           "rectangle (%u,%u) to (%u,%u)",
                           size, (unsigned long long)addr, to.rect.x_start, to.rect.y_start, to.rect.x_end,
                           to.rect.y_end);
}
