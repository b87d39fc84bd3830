/* Transport "kmd": a Tenstorrent card on PCIe, through its kernel driver. The driver hands out TLB windows
 * and configures them; this file asks it to, and pcie.c decides which tile each window shows, as for the
 * simulators. See kmd.h for the interface, kmd_owner.c for who may use a card, docs/boards.md for what has
 * been tried on what. */
#include "transport/kmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/kmd_owner.h"
#include "transport/pcie.h"

enum { LINE = 16 };
#define REGISTERS 0xFF000000u /* from here on, and in the management core's tile, words only */
#define CANARY    UINT64_C(0x5A5A5A5A5A5A5A5A)

typedef struct kmd_transport {
    const kmd_system *system;
    char path[128];
    int fd;
    uint32_t n; /* windows that are ours */
    uint32_t ids[PCIE_WINDOWS];
    void *at[PCIE_WINDOWS]; /* NULL: not mapped */
    size_t size;            /* of each */
    bool wide;              /* the access that is being made is one to memory */
    dl_target alive;
    uint64_t alive_at;
    bool can_tell;  /* whether the link is alive, by these two */
    char gone[320]; /* why nothing can be reached any more; "": it can */
    char driver[32];
    pcie_windows windows;
} kmd_transport;

static devlog_status is_gone(kmd_transport *k, const char *what, devlog_error *err)
{
    if (!k->gone[0]) snprintf(k->gone, sizeof k->gone, "%s: %s", k->path, what);
    return dl_fail(err, DEVLOG_ERR_DEVICE, "%s", k->gone);
}

/* The windows are not there any more. */
static devlog_status was_reset(kmd_transport *k, devlog_error *err)
{
    return is_gone(
        k,
        "the card was reset or removed while this program used it: what was pulled before is kept; start "
        "the program again when the card is back",
        err);
}

static devlog_status failed(kmd_transport *k, int negative, const char *what, devlog_error *err)
{
    if (negative == -ENODEV) return was_reset(k, err);
    return dl_fail_errno(err, -negative, "%s (tt-kmd %s): cannot %s", k->path, k->driver, what);
}

static devlog_status configure(void *owner, uint32_t slot, dl_target at, uint64_t base, devlog_error *err)
{
    kmd_transport *k = owner;
    const bool many = at.x0 != at.x1 || at.y0 != at.y1;
    kmd_configure_tlb c = {
        .id = k->ids[slot],
        .address = base,
        .x_end = at.x1,
        .y_end = at.y1,
        .x_start = many ? at.x0 : 0,
        .y_start = many ? at.y0 : 0,
        .multicast = many,
        .ordering = KMD_ORDERING_STRICT,
    };
    int result = k->system->ioctl(k->system->context, k->fd, KMD_CONFIGURE_TLB, &c);
    return result < 0 ? failed(k, result, "configure a TLB window", err) : DEVLOG_OK;
}

/* How much the next access of the bus takes: registers take words only, memory whole lines; bytes up to a
 * whole word. */
static size_t step(const kmd_transport *k, uintptr_t at, size_t left)
{
    if (k->wide && at % LINE == 0 && left >= LINE) return LINE;
    return at % 4 == 0 && left >= 4 ? 4 : 1;
}

static devlog_status bar_read(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err)
{
    kmd_transport *k = owner;
    const char *from = (const char *)k->at[offset / k->size] + offset % k->size;
    for (size_t done = 0, n; done < size; done += n) {
        n = step(k, (uintptr_t)(from + done), size - done);
        if (k->system->load(k->system->context, from + done, (char *)dst + done, n) < 0)
            return was_reset(k, err);
    }
    return DEVLOG_OK;
}

static devlog_status bar_write(void *owner, uint64_t offset, const void *src, uint32_t size,
                               devlog_error *err)
{
    kmd_transport *k = owner;
    char *to = (char *)k->at[offset / k->size] + offset % k->size;
    for (size_t done = 0, n; done < size; done += n) {
        n = step(k, (uintptr_t)(to + done), size - done);
        if (k->system->store(k->system->context, to + done, (const char *)src + done, n) < 0)
            return was_reset(k, err);
    }
    return DEVLOG_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

/* Windows of one size, until there are enough or no more. *result is what the driver said last. */
static devlog_status take_class(kmd_transport *k, uint32_t bits, int *result, devlog_error *err)
{
    k->size = (size_t)1 << bits;
    for (*result = 0; k->n < PCIE_WINDOWS;) {
        kmd_allocate_tlb a = {.size = k->size, .reserved_more = CANARY};
        *result = k->system->ioctl(k->system->context, k->fd, KMD_ALLOCATE_TLB, &a);
        if (*result == -ENODEV) return failed(k, *result, "allocate a TLB window", err);
        if (*result < 0) return DEVLOG_OK;
        k->ids[k->n++] = a.id;
        k->at[k->n - 1] = NULL;
        /* 1.32 and 1.33 have the same numbers, and call themselves the same, but read another struct: a
         * window would show another tile than the one that was asked for. They do not write this far. */
        if (a.reserved_more == CANARY)
            return dl_fail(
                err, DEVLOG_ERR_UNSUPPORTED,
                "%s: its driver is a tt-kmd before 1.34, with other windows than this program knows: install "
                "tt-kmd 2.0 or newer",
                k->path);
        int mapped = k->system->map(k->system->context, k->fd, a.offset_uncached, k->size, &k->at[k->n - 1]);
        if (mapped == 0) continue;
        k->at[k->n - 1] = NULL;
        return failed(k, mapped, "map a TLB window", err);
    }
    return DEVLOG_OK;
}

/* One window is enough to work; four spare requests. The largest first, since memory is large. */
static devlog_status take_windows(kmd_transport *k, const dl_window_layout *layout, devlog_error *err)
{
    char who[KMD_HOLDERS_TEXT];
    int result = -EINVAL, full = 0;
    for (uint32_t below = 64; k->n == 0;) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < layout->n_classes; i++)
            if (layout->classes[i].bits < below && layout->classes[i].bits > bits)
                bits = layout->classes[i].bits;
        if (bits == 0) break;
        devlog_status status = take_class(k, bits, &result, err);
        if (status != DEVLOG_OK) return status;
        if (result == -ENOMEM) full = result;
        if (k->n) pcie_windows_got(&k->windows, k->n, bits);
        below = bits;
    }
    if (k->n) return DEVLOG_OK;
    if (full) {
        kmd_holders(k->system, k->path, true, who, sizeof who);
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: no TLB window is free; %s has the card open", k->path,
                       who[0] ? who : "another program");
    }
    if (result == -EINVAL)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%s: its driver (tt-kmd %s) hands out no TLB windows: install tt-kmd 2.0 or newer",
                       k->path, k->driver);
    return failed(k, result, "allocate a TLB window", err);
}

static devlog_status check_device(kmd_transport *k, const dl_window_layout *layout, devlog_error *err)
{
    kmd_device_info info = {.size_in = sizeof info - sizeof info.size_in};
    int result = k->system->ioctl(k->system->context, k->fd, KMD_GET_DEVICE_INFO, &info);
    if (result < 0) return failed(k, result, "ask which device it is", err);
    if (info.vendor == layout->pci_vendor && info.device == layout->pci_device) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_DEVICE,
        "%s is the PCI device %04x:%04x, the board file describes %04x:%04x: choose the board that fits",
        k->path, info.vendor, info.device, layout->pci_vendor, layout->pci_device);
}

/* Full clock, memory and tiles, for as long as the device is open. The driver forgets it when this program ends, however
 * that happens. */
static devlog_status ask_for_power(kmd_transport *k, const kmd_driver_info *driver, char *note, size_t size,
                                   devlog_error *err)
{
    kmd_power p = {.size = sizeof p,
                   .valid = KMD_POWER_VALID,
                   .flags = KMD_POWER_MAX_AICLK | KMD_POWER_MRISC | KMD_POWER_TENSIX};
    int result = kmd_at_least(driver, 2, 6)
                     ? k->system->ioctl(k->system->context, k->fd, KMD_SET_POWER_STATE, &p)
                     : -EINVAL;
    if (result == -ENODEV) return was_reset(k, err);
    if (result < 0)
        snprintf(note, size, "%s: the chip could not be asked for its full clock: %s (tt-kmd %s%s)", k->path,
                 result == -EINVAL ? "its driver cannot do that" : strerror(-result), k->driver,
                 result == -EINVAL ? "; 2.6.0 can" : "");
    return DEVLOG_OK;
}

/* ---- The transport ------------------------------------------------------------------------------- */

static void kmd_close(dl_transport *t)
{
    kmd_transport *k = t->state;
    if (!k) return;
    for (uint32_t i = 0; i < k->n; i++) {
        kmd_free_tlb f = {.id = k->ids[i]};
        if (k->at[i]) k->system->unmap(k->system->context, k->at[i], k->size);
        k->system->ioctl(k->system->context, k->fd, KMD_FREE_TLB, &f);
    }
    if (k->fd >= 0) k->system->close(k->system->context, k->fd);
    free(k);
    t->state = NULL;
}

static devlog_status kmd_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    if (!setup->layout) return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "this board has no PCIe windows");
    uint64_t wait_s;
    devlog_status status = dl_setting_number(DL_SET_CARD_WAIT, 0, &wait_s, err);
    if (status != DEVLOG_OK) return status;
    kmd_transport *k = calloc(1, sizeof *k);
    if (!k) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    t->state = k;
    k->system = setup->kmd ? setup->kmd : &kmd_linux;
    k->fd = -1;
    k->alive = (dl_target){setup->alive.x, setup->alive.y, setup->alive.x, setup->alive.y};
    k->alive_at = setup->alive.at;
    k->can_tell = setup->alive.size != 0;
    const char *name = setup->path && *setup->path ? setup->path : "0";
    const bool number = strspn(name, "0123456789") == strlen(name);
    snprintf(k->path, sizeof k->path, "%s%s", number ? "/dev/tenstorrent/" : "", name);
    const pcie_bar bar = {.owner = k, .read = bar_read, .write = bar_write, .configure = configure};
    kmd_driver_info driver;
    status = kmd_take(k->system, k->path, !setup->attach, wait_s, &k->fd, &driver, err);
    if (status == DEVLOG_OK) {
        if (driver.major)
            snprintf(k->driver, sizeof k->driver, "%u.%u.%u", driver.major, driver.minor, driver.patch);
        else
            snprintf(k->driver, sizeof k->driver, "1.x");
        status = check_device(k, setup->layout, err);
    }
    if (status == DEVLOG_OK) status = pcie_windows_init(&k->windows, &bar, setup->layout, err);
    if (status == DEVLOG_OK) status = take_windows(k, setup->layout, err);
    if (status == DEVLOG_OK && !setup->attach)
        status = ask_for_power(k, &driver, t->note, sizeof t->note, err);
    if (status != DEVLOG_OK) kmd_close(t);
    return status;
}

/* A link that dies in the middle of a read leaves ones at its end. */
static bool ends_in_ones(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (size_t i = size > 4 ? size - 4 : 0; i < size; i++)
        if (p[i] != 0xFF) return false;
    return size > 0;
}

/* A dead link answers every load with ones, and stores vanish. Ones can be data, too: a register that never
 * reads so decides. */
static devlog_status check_link(kmd_transport *k, devlog_error *err)
{
    uint32_t word = 0;
    k->wide = false;
    devlog_status status = pcie_windows_read(&k->windows, k->alive, k->alive_at, &word, sizeof word, err);
    if (status != DEVLOG_OK || word != UINT32_MAX) return status;
    return is_gone(
        k,
        "the card does not answer: everything reads as ones, so its PCIe link is dead, or the chip has hung; "
        "reset it (tt-smi -r), or restart the machine",
        err);
}

static bool is_memory(const kmd_transport *k, dl_target at, uint64_t addr)
{
    bool arc = k->can_tell && at.x0 == k->alive.x0 && at.y0 == k->alive.y0;
    return addr < REGISTERS && !arc;
}

static devlog_status kmd_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                              devlog_error *err)
{
    kmd_transport *k = t->state;
    if (k->gone[0]) return dl_fail(err, DEVLOG_ERR_DEVICE, "%s", k->gone);
    k->wide = is_memory(k, at, addr);
    devlog_status status = pcie_windows_read(&k->windows, at, addr, dst, size, err);
    return status == DEVLOG_OK && k->can_tell && ends_in_ones(dst, size) ? check_link(k, err) : status;
}

static devlog_status kmd_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                               devlog_error *err)
{
    kmd_transport *k = t->state;
    if (k->gone[0]) return dl_fail(err, DEVLOG_ERR_DEVICE, "%s", k->gone);
    k->wide = is_memory(k, at, addr);
    return pcie_windows_write(&k->windows, at, addr, src, size, err);
}

static void kmd_wait_ms(dl_transport *t, uint32_t ms)
{
    const kmd_transport *k = t->state;
    k->system->wait_ms(k->system->context, ms);
}

static uint64_t kmd_now(dl_transport *t)
{
    const kmd_transport *k = t->state;
    return k->system->now_ns(k->system->context);
}

const dl_transport_ops dl_transport_ops_kmd = {
    .name = "kmd",
    .summary = "a card on PCIe, /dev/tenstorrent/N, by its kernel driver: kmd:N",
    .path_setting = DL_SET_KMD,
    .card = true,
    .open = kmd_open,
    .close = kmd_close,
    .read = kmd_read,
    .write = kmd_write,
    .now_ns = kmd_now,
    .wait_ms = kmd_wait_ms,
};
