/* The kernel driver of Tenstorrent cards as this program sees it: its requests, and the calls of the system
 * that transport "kmd" makes, so that a test can answer them.
 *
 * Source of numbers and layouts: tenstorrent/tt-kmd 2.10.0 and 4af7192, ioctl.h (the interface that programs
 * are compiled against); equal in 1.34, 2.0.0, 2.3.0, 2.5.0 and 2.9.0 as far as it is used here. 1.32
 * and 1.33 have other layouts under the same numbers (kmd_owner.c tells them apart), 1.31 has no windows. */
#ifndef DEVLOG_TRANSPORT_KMD_H
#define DEVLOG_TRANSPORT_KMD_H

#include <stddef.h>
#include <stdint.h>

/* Requests: magic 0xFA and a number, no direction and no size. Every version answers EINVAL to a number that
 * it does not know. */
enum {
    KMD_GET_DEVICE_INFO = 0xFA00,
    KMD_GET_DRIVER_INFO = 0xFA05,
    KMD_LOCK_CTL = 0xFA08,
    KMD_ALLOCATE_TLB = 0xFA0B,
    KMD_FREE_TLB = 0xFA0C,
    KMD_CONFIGURE_TLB = 0xFA0D,
    KMD_SET_POWER_STATE = 0xFA0F, /* 2.6.0 and newer */
};

/* Each request has one struct for both directions: what goes in, then what comes out. */
typedef struct kmd_device_info {
    uint32_t size_in; /* of what follows */
    uint32_t size_out;
    uint16_t vendor, device, subsystem_vendor, subsystem;
    uint16_t bus_dev_fn, dma_bits, domain, reserved;
} kmd_device_info;

typedef struct kmd_driver_info {
    uint32_t size_in;
    uint32_t size_out;
    uint32_t api;                /* 1 or 2 */
    uint8_t major, minor, patch; /* 2.0.0 and newer; 0 before */
    uint8_t reserved;
} kmd_driver_info;

typedef struct kmd_lock {
    uint32_t size_in, what;
    uint8_t index, reserved_in[3];
    uint8_t value, reserved_out[3];
} kmd_lock;

enum { KMD_LOCK_ACQUIRE, KMD_LOCK_RELEASE, KMD_LOCK_TEST };

typedef struct kmd_allocate_tlb {
    uint64_t size; /* of the window, in bytes */
    uint64_t reserved_in;
    uint32_t id, reserved_out;
    uint64_t offset_uncached, offset_combining; /* for mmap */
    uint64_t reserved_more;                     /* written, with 0, by 1.34 and newer only */
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

/* What this client wants until it closes; the driver asks the chip for what any of them wants. */
typedef struct kmd_power {
    uint32_t size, flags_in;
    uint8_t reserved;
    uint8_t valid; /* how many bits of `flags` count; the others are on */
    uint16_t flags;
    uint16_t settings[14];
} kmd_power;

enum { KMD_POWER_MAX_AICLK = 1, KMD_POWER_MRISC = 2, KMD_POWER_TENSIX = 4, KMD_POWER_VALID = 3 };

_Static_assert(sizeof(kmd_device_info) == 24, "as the driver's");
_Static_assert(sizeof(kmd_driver_info) == 16, "as the driver's");
_Static_assert(sizeof(kmd_lock) == 16, "as the driver's");
_Static_assert(sizeof(kmd_allocate_tlb) == 48, "as the driver's");
_Static_assert(sizeof(kmd_configure_tlb) == 48, "as the driver's");
_Static_assert(sizeof(kmd_power) == 40, "as the driver's");

enum { KMD_ORDERING_STRICT = 1 };

/* Each returns what the call of the same name returns, but a negative errno for -1; map a negative errno,
 * too. */
typedef struct kmd_system {
    void *context;
    int (*open)(void *context, const char *path, int flags);
    int (*close)(void *context, int fd);
    int (*ioctl)(void *context, int fd, uint32_t request, void *argument);
    int (*map)(void *context, int fd, uint64_t offset, size_t size, void **at);
    void (*unmap)(void *context, void *at, size_t size);
    /* One access of the bus to a mapped window: 1, 4 or 16 bytes, aligned. -EIO when the window is not there
     * any more (the driver takes it away when the card is reset or removed). */
    int (*load)(void *context, const void *from, void *to, size_t size);
    int (*store)(void *context, void *to, const void *from, size_t size);
    /* A small file of /proc or /sys: its length, at most size - 1, with a 0 behind. */
    int (*read_text)(void *context, const char *path, char *out, size_t size);
    /* Calls `each` for every name in a folder; how many, or a negative errno. */
    int (*list)(void *context, const char *folder, void (*each)(void *to, const char *name), void *to);
    int (*self)(void *context); /* the number of this process */
    void (*wait_ms)(void *context, uint32_t ms);
    uint64_t (*now_ns)(void *context); /* monotonic */
} kmd_system;

extern const kmd_system kmd_linux;

#endif
