/* The public functions of buffers: what they do is in device/buffers.c; here calls are counted and written to the log of ops. */
#include <stdio.h>

#include "base/options.h"
#include "base/term.h"
#include "profiler/api.h"
#include "profiler/buffer_api.h"
#include "profiler/control.h"
#include "profiler/ops_memory.h"

devlog_status devlog_buffer_create_at(const char *file, uint32_t line, devlog_device *device,
                                      const devlog_buffer_options *options, devlog_buffer *out,
                                      devlog_error *err)
{
    devlog_buffer_options taken;
    device_buffer *b = NULL;
    devlog_status status = dl_options_take(&taken, sizeof taken, options, "devlog_buffer_options", err);
    if (!status) status = dl_device_runs(device, "it gives no buffers", err);
    if (!status) status = buffer_make(device, &taken, file, line, stream_bytes_of(device), &b, err);
    if (status) return status;
    ops_buffer_made(device, b, buffer_limit(device, b->memory, stream_bytes_of(device)));
    *out = buffer_handle(device, b);
    return DEVLOG_OK;
}

devlog_status devlog_buffer_free_at(const char *file, uint32_t line, devlog_device *device,
                                    devlog_buffer buffer, devlog_error *err)
{
    device_buffer *b = NULL;
    if (!buffer.id) return DEVLOG_OK;
    const devlog_status status = buffer_find(device, buffer, "freed", &b, err);
    if (status) return status;
    ops_buffer_freed(device, b, file, line);
    buffer_drop(device, b, file, line);
    return DEVLOG_OK;
}

devlog_status devlog_buffer_info(const devlog_device *device, devlog_buffer buffer, devlog_buffer_facts *out,
                                 devlog_error *err)
{
    device_buffer *b = NULL;
    const devlog_status status = buffer_find(device, buffer, "asked about", &b, err);
    if (status) return status;
    *out = (devlog_buffer_facts){.memory = b->memory,
                                 .bytes = b->bytes,
                                 .page_bytes = b->page_bytes,
                                 .pages = b->pages,
                                 .stride = b->stride,
                                 .address = buffer_address(device, b),
                                 .bank_bytes = b->block.size,
                                 .banks = b->block.n_banks};
    return DEVLOG_OK;
}

devlog_status devlog_buffer_page(const devlog_device *device, devlog_buffer buffer, uint64_t page,
                                 devlog_page *out, devlog_error *err)
{
    device_buffer *b = NULL;
    const devlog_status status = buffer_find(device, buffer, "asked for its pages", &b, err);
    if (status) return status;
    if (page >= b->pages)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a buffer of %llu pages (%s:%u) has no page %llu",
                       (unsigned long long)b->pages, b->file, b->line, (unsigned long long)page);
    *out = buffer_page(device, b, page);
    return DEVLOG_OK;
}

devlog_status devlog_buffer_write(devlog_device *device, devlog_buffer buffer, uint64_t offset,
                                  const void *data, size_t size, devlog_error *err)
{
    const uint64_t start = dl_now_ns();
    device_buffer *b = NULL;
    devlog_status status = buffer_find(device, buffer, "written to", &b, err);
    if (!status) status = buffer_copy(device, b, offset, NULL, data, size, err);
    return api_counted(device, DEVLOG_API_WRITE_TO_DEVICE, start, size, status);
}

devlog_status devlog_buffer_read(devlog_device *device, devlog_buffer buffer, uint64_t offset, void *data,
                                 size_t size, devlog_error *err)
{
    const uint64_t start = dl_now_ns();
    device_buffer *b = NULL;
    devlog_status status = buffer_find(device, buffer, "read", &b, err);
    if (!status) status = buffer_copy(device, b, offset, data, NULL, size, err);
    return api_counted(device, DEVLOG_API_READ_FROM_DEVICE, start, size, status);
}

devlog_status devlog_memory_info(const devlog_device *device, devlog_memory memory, devlog_memory_facts *out,
                                 devlog_error *err)
{
    if ((unsigned)memory >= BUFFER_MEMORIES)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there is no memory %d", (int)memory);
    const allocator *a = buffer_allocator(device, memory);
    const uint64_t limit = buffer_limit(device, memory, stream_bytes_of(device));
    devlog_memory_facts f = {
        .banks = buffer_banks(device, memory), .bank_bytes = limit, .largest_block = limit};
    for (size_t i = 0; i < buffer_count(device); i++)
        f.buffers += buffer_live(device, i)->memory == memory;
    if (a) {
        f.used = a->used;
        f.peak = a->peak;
        f.largest_block = allocator_largest(a, limit);
    }
    f.free = f.banks * limit - f.used;
    if (!f.banks) f = (devlog_memory_facts){0};
    *out = f;
    return DEVLOG_OK;
}

void buffers_close(devlog_device *device)
{
    uint64_t bytes = 0;
    const size_t n = buffer_count(device);
    ops_buffers_closed(device);
    for (size_t i = 0; i < n; i++)
        bytes += buffer_live(device, i)->bytes;
    if (!n) return;
    char digits[DL_GROUPED_SIZE];
    const device_buffer *first = buffer_live(device, 0);
    const char *log = devlog_ops_log(device->ops);
    fprintf(
        stderr,
        "devlog: chip %u was closed with %zu buffer%s (%s bytes) that %s not freed; the first was made at %s:%u%s%s\n",
        device->slot, n, n == 1 ? "" : "s", dl_u64_grouped(digits, bytes), n == 1 ? "was" : "were",
        first->file, first->line, *log ? "; all of them: devlog memory " : "", log);
}
