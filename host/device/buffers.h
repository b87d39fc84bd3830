/* The buffers of a device: who holds which addresses, and where their pages are. Not for the public functions, which count
 * calls and write the log of ops (profiler/buffer_api.c). */
#ifndef DEVLOG_DEVICE_BUFFERS_H
#define DEVLOG_DEVICE_BUFFERS_H

#include "device/allocator.h"
#include "device/device.h"

enum { BUFFER_MEMORIES = DEVLOG_MEMORY_DRAM + 1 };

typedef struct device_buffer {
    alloc_block block;
    uint32_t number; /* 1, 2, ... in its device */
    devlog_memory memory;
    uint64_t bytes, page_bytes, stride, pages;
    uint32_t n_order;
    uint32_t *order; /* banks in the order of their pages; NULL: 0, 1, 2, ... */
    char *name;      /* "": none */
    char *file;      /* where it was made */
    uint32_t line;
} device_buffer;

/* "L1" or "DRAM". */
const char *buffer_memory_name(devlog_memory memory);

/* Makes a buffer. `stream_bytes` at the end of each DRAM tile are not for buffers. */
devlog_status buffer_make(devlog_device *device, const devlog_buffer_options *options, const char *file,
                          uint32_t line, uint64_t stream_bytes, device_buffer **out, devlog_error *err);
/* By its id. `what` cannot be done to it when it is none: for the message. */
devlog_status buffer_find(const devlog_device *device, devlog_buffer buffer, const char *what,
                          device_buffer **out, devlog_error *err);
devlog_buffer buffer_handle(const devlog_device *device, const device_buffer *b);
/* Frees one that was found; the place is remembered for who frees it again. */
void buffer_drop(devlog_device *device, device_buffer *b, const char *file, uint32_t line);

uint64_t buffer_address(const devlog_device *device, const device_buffer *b);
/* The n-th of its banks. */
static inline uint32_t buffer_bank(const device_buffer *b, uint32_t n)
{
    return b->order ? b->order[n] : n;
}
/* Where a page is; page < b->pages. */
devlog_page buffer_page(const devlog_device *device, const device_buffer *b, uint64_t page);
devlog_status buffer_copy(devlog_device *device, const device_buffer *b, uint64_t offset, void *to,
                          const void *from, size_t size, devlog_error *err);

/* The allocator of a memory, NULL when nothing has been made in this device yet; and what buffers may have of each bank. */
const allocator *buffer_allocator(const devlog_device *device, devlog_memory memory);
/* The most that a memory has held since the last call, or since the device was opened. What devlog_memory_info says is not changed. */
uint64_t buffer_peak_since(devlog_device *device, devlog_memory memory);
uint64_t buffer_limit(const devlog_device *device, devlog_memory memory, uint64_t stream_bytes);
uint32_t buffer_banks(const devlog_device *device, devlog_memory memory);

/* Those that live, in the order in which they were made. */
const device_buffer *buffer_live(const devlog_device *device, size_t at);
size_t buffer_count(const devlog_device *device);

/* Frees all of it. */
void buffers_free(devlog_device *device);

#endif
