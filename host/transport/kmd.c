/* Transport "kmd": a Tenstorrent card on PCIe, through its kernel driver. The driver hands out TLB windows
 * and configures them; this file asks it to, and pcie.c decides which tile each window shows, as for the
 * simulators. See kmd.h for the source of the interface. What has been tried on what: docs/boards.md. */
#include "transport/kmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "transport/pcie.h"

/* ---- The system ---------------------------------------------------------------------------------- */

static int linux_open(void *context, const char *path)
{
    (void)context;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int linux_close(void *context, int fd)
{
    (void)context;
    return close(fd) == 0 ? 0 : -errno;
}

static int linux_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    (void)context;
    return ioctl(fd, (unsigned long)request, argument) == 0 ? 0 : -errno;
}

static int linux_map(void *context, int fd, uint64_t offset, size_t size, void **at)
{
    (void)context;
    *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    return *at == MAP_FAILED ? -errno : 0;
}

static void linux_unmap(void *context, void *at, size_t size)
{
    (void)context;
    munmap(at, size);
}

/* Bytes up to a whole word, words, bytes: every access is one of the bus, and registers take words only. */
static void linux_load(void *context, const void *from, void *to, size_t size)
{
    (void)context;
    const volatile uint8_t *f = from;
    uint8_t *t = to;
    for (; size && (uintptr_t)f % 4; size--)
        *t++ = *f++;
    for (; size >= 4; size -= 4, f += 4, t += 4) {
        uint32_t word = *(const volatile uint32_t *)f;
        memcpy(t, &word, 4);
    }
    for (; size; size--)
        *t++ = *f++;
}

static void linux_store(void *context, void *to, const void *from, size_t size)
{
    (void)context;
    volatile uint8_t *t = to;
    const uint8_t *f = from;
    for (; size && (uintptr_t)t % 4; size--)
        *t++ = *f++;
    for (; size >= 4; size -= 4, f += 4, t += 4) {
        uint32_t word;
        memcpy(&word, f, 4);
        *(volatile uint32_t *)t = word;
    }
    for (; size; size--)
        *t++ = *f++;
}

static const kmd_system linux_system = {
    .open = linux_open,
    .close = linux_close,
    .ioctl = linux_ioctl,
    .map = linux_map,
    .unmap = linux_unmap,
    .load = linux_load,
    .store = linux_store,
};

/* ---- Windows ------------------------------------------------------------------------------------- */

typedef struct kmd_transport {
    const kmd_system *system;
    char path[128];
    int fd;
    uint32_t n; /* windows that are ours */
    uint32_t ids[PCIE_WINDOWS];
    void *at[PCIE_WINDOWS]; /* NULL: not mapped */
    size_t size;            /* of each */
    pcie_windows windows;
} kmd_transport;

static devlog_status failed(const kmd_transport *k, int negative, const char *what, devlog_error *err)
{
    if (negative == -ENOTTY)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%s: the kernel driver does not know how to %s: install tt-kmd 2.0 or newer", k->path,
                       what);
    if (negative == -ENOMEM && strcmp(what, "allocate a TLB window") == 0)
        return dl_fail(err, DEVLOG_ERR_DEVICE,
                       "%s: other programs use all TLB windows of %zu MiB: end one of them", k->path,
                       k->size >> 20);
    return dl_fail_errno(err, -negative, "%s: cannot %s", k->path, what);
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

static devlog_status bar_read(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err)
{
    (void)err;
    const kmd_transport *k = owner;
    k->system->load(k->system->context, (const char *)k->at[offset / k->size] + offset % k->size, dst, size);
    return DEVLOG_OK;
}

static devlog_status bar_write(void *owner, uint64_t offset, const void *src, uint32_t size,
                               devlog_error *err)
{
    (void)err;
    const kmd_transport *k = owner;
    k->system->store(k->system->context, (char *)k->at[offset / k->size] + offset % k->size, src, size);
    return DEVLOG_OK;
}

static devlog_status take_windows(kmd_transport *k, devlog_error *err)
{
    while (k->n < PCIE_WINDOWS) {
        kmd_allocate_tlb a = {.size = k->size};
        int result = k->system->ioctl(k->system->context, k->fd, KMD_ALLOCATE_TLB, &a);
        if (result < 0) return failed(k, result, "allocate a TLB window", err);
        k->ids[k->n++] = a.id;
        result = k->system->map(k->system->context, k->fd, a.offset_uncached, k->size, &k->at[k->n - 1]);
        if (result < 0) {
            k->at[k->n - 1] = NULL;
            return failed(k, result, "map a TLB window", err);
        }
    }
    return DEVLOG_OK;
}

static devlog_status check_device(const kmd_transport *k, const dl_window_layout *layout, devlog_error *err)
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

static devlog_status open_node(kmd_transport *k, devlog_error *err)
{
    k->fd = k->system->open(k->system->context, k->path);
    if (k->fd >= 0) return DEVLOG_OK;
    if (k->fd == -ENOENT)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "there is no %s: is a card in this machine, and the kernel driver tt-kmd loaded?",
                       k->path);
    if (k->fd == -EACCES)
        return dl_fail(err, DEVLOG_ERR_TRANSPORT,
                       "%s may not be opened by this user: the rules of tt-kmd give it to a group", k->path);
    return dl_fail_errno(err, -k->fd, "cannot open %s", k->path);
}

static devlog_status kmd_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    if (!setup->layout) return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "this board has no PCIe windows");
    kmd_transport *k = calloc(1, sizeof *k);
    if (!k) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    t->state = k;
    k->system = setup->kmd ? setup->kmd : &linux_system;
    k->fd = -1;
    const char *name = setup->path && *setup->path ? setup->path : "0";
    const bool number = strspn(name, "0123456789") == strlen(name);
    snprintf(k->path, sizeof k->path, "%s%s", number ? "/dev/tenstorrent/" : "", name);
    const pcie_bar bar = {.owner = k, .read = bar_read, .write = bar_write, .configure = configure};
    devlog_status status = open_node(k, err);
    if (status == DEVLOG_OK) status = check_device(k, setup->layout, err);
    if (status == DEVLOG_OK) status = pcie_windows_init(&k->windows, &bar, setup->layout, err);
    k->size = (size_t)1 << k->windows.bits;
    if (status == DEVLOG_OK) status = take_windows(k, err);
    if (status != DEVLOG_OK) kmd_close(t);
    return status;
}

static devlog_status kmd_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                              devlog_error *err)
{
    kmd_transport *k = t->state;
    return pcie_windows_read(&k->windows, at, addr, dst, size, err);
}

static devlog_status kmd_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                               devlog_error *err)
{
    kmd_transport *k = t->state;
    return pcie_windows_write(&k->windows, at, addr, src, size, err);
}

const dl_transport_ops dl_transport_ops_kmd = {
    .name = "kmd",
    .summary = "a card on PCIe, /dev/tenstorrent/N, by its kernel driver: kmd:N",
    .path_setting = DL_SET_KMD,
    .open = kmd_open,
    .close = kmd_close,
    .read = kmd_read,
    .write = kmd_write,
};
