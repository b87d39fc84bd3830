/* The kernel driver of Tenstorrent cards as this program sees it: the calls of the system that transport
 * "kmd" makes, so that a test can answer them.
 *
 * Source of numbers and layouts: tenstorrent/tt-kmd 2.9.0, ioctl.h (the interface that programs are compiled
 * against). */
#ifndef DEVLOG_TRANSPORT_KMD_H
#define DEVLOG_TRANSPORT_KMD_H

#include <stddef.h>
#include <stdint.h>

/* Requests: magic 0xFA and a number, no direction and no size. */
enum {
    KMD_GET_DEVICE_INFO = 0xFA00,
    KMD_ALLOCATE_TLB = 0xFA0B,
    KMD_FREE_TLB = 0xFA0C,
    KMD_CONFIGURE_TLB = 0xFA0D,
};

/* Each request has one struct for both directions: what goes in, then what comes out. */
typedef struct kmd_device_info {
    uint32_t size_in; /* of what follows */
    uint32_t size_out;
    uint16_t vendor, device, subsystem_vendor, subsystem;
    uint16_t bus_dev_fn, dma_bits, domain, reserved;
} kmd_device_info;

typedef struct kmd_allocate_tlb {
    uint64_t size; /* of the window, in bytes */
    uint64_t reserved_in;
    uint32_t id, reserved_out;
    uint64_t offset_uncached, offset_combining; /* for mmap */
    uint64_t reserved_more;
} kmd_allocate_tlb;

typedef struct kmd_free_tlb {
    uint32_t id;
} kmd_free_tlb;

typedef struct kmd_configure_tlb {
    uint32_t id, reserved_in;
    uint64_t address; /* a multiple of the window's size */
    uint16_t x_end, y_end, x_start, y_start;
    uint8_t noc, multicast, ordering, linked, static_vc, reserved[3];
    uint32_t reserved_more[2];
    uint64_t reserved_out;
} kmd_configure_tlb;

_Static_assert(sizeof(kmd_device_info) == 24, "as the driver's");
_Static_assert(sizeof(kmd_allocate_tlb) == 48, "as the driver's");
_Static_assert(sizeof(kmd_configure_tlb) == 48, "as the driver's");

enum { KMD_ORDERING_STRICT = 1 };

/* Each returns what the call of the same name returns, but a negative errno for -1; map a negative errno,
 * too. load and store access a mapped window: words, and single bytes at the ends. */
typedef struct kmd_system {
    void *context;
    int (*open)(void *context, const char *path);
    int (*close)(void *context, int fd);
    int (*ioctl)(void *context, int fd, uint32_t request, void *argument);
    int (*map)(void *context, int fd, uint64_t offset, size_t size, void **at);
    void (*unmap)(void *context, void *at, size_t size);
    void (*load)(void *context, const void *from, void *to, size_t size);
    void (*store)(void *context, void *to, const void *from, size_t size);
} kmd_system;

#endif
