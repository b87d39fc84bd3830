/* What a device's buffers add to the log of ops; see ops_memory.h. */
#include "profiler/ops_memory.h"

#include "base/term.h"
#include "profiler/ops_device.h"

/* Begins a line about memory of a device, which the log knows of from then on. */
static ops_thread *begin(devlog_device *device, const char *event, uint64_t entered)
{
    ops_thread *t = device->ops ? ops_thread_of(device->ops) : NULL;
    if (!t) return NULL;
    const uint32_t op = ops_current(device->ops);
    ops_tell_device(t, device);
    ops_line(t, event);
    ops_number(t, "id", op);
    ops_number(t, "t", entered);
    ops_number(t, "chip", device->slot);
    ops_number(t, "boot", device->boot);
    return t;
}

static void end(ops_thread *t, uint64_t entered)
{
    ops_write(t);
    if (t->depth) t->frames[t->depth - 1].own_ns += dl_now_ns() - entered;
}

/* How much there is, before the first buffer in it and when that has changed: streams of records take some of the DRAM. */
static void tell_memory(devlog_device *device, devlog_memory memory, uint64_t limit)
{
    if (device->memory_told[memory] == limit) return;
    ops_thread *t = begin(device, "memory", dl_now_ns());
    if (!t) return;
    device->memory_told[memory] = limit;
    ops_text_if(t, "kind", buffer_memory_name(memory));
    ops_number(t, "banks", buffer_banks(device, memory));
    ops_number(t, "bytes", limit);
    ops_number(t, "address", buffer_allocator(device, memory)->base);
    if (memory == DEVLOG_MEMORY_L1) ops_number(t, "columns", device->board.n_columns);
    ops_write(t);
}

/* Banks in the order of their pages as runs "0-3,8", where they are not 0, 1, 2, ... */
static void banks_of(ops_thread *t, const device_buffer *b)
{
    if (!b->order) return;
    dl_str_add(&t->line, ",\"at\":\"");
    for (uint32_t i = 0, end; i < b->block.n_banks; i = end) {
        for (end = i + 1; end < b->block.n_banks && b->order[end] == b->order[end - 1] + 1;)
            end++;
        dl_str_fmt(&t->line, "%s%u", i ? "," : "", b->order[i]);
        if (end > i + 1) dl_str_fmt(&t->line, "-%u", b->order[end - 1]);
    }
    dl_str_char(&t->line, '"');
}

void ops_buffer_made(devlog_device *device, const device_buffer *b, uint64_t limit)
{
    if (!device->ops) return;
    const uint64_t entered = dl_now_ns();
    tell_memory(device, b->memory, limit);
    ops_thread *t = begin(device, "alloc", entered);
    if (!t) return;
    ops_number(t, "buffer", b->number);
    ops_text_if(t, "kind", buffer_memory_name(b->memory));
    ops_number(t, "address", buffer_address(device, b));
    ops_number(t, "held", b->block.size);
    ops_number(t, "banks", b->block.n_banks);
    ops_number(t, "bytes", b->bytes);
    ops_number(t, "page", b->page_bytes);
    banks_of(t, b);
    ops_text_if(t, "name", b->name);
    ops_text_if(t, "file", b->file);
    ops_number(t, "line", b->line);
    end(t, entered);
}

void ops_buffer_freed(devlog_device *device, const device_buffer *b, const char *file, uint32_t line)
{
    if (!device->ops) return;
    const uint64_t entered = dl_now_ns();
    ops_thread *t = begin(device, "free", entered);
    if (!t) return;
    ops_number(t, "buffer", b->number);
    ops_text_if(t, "file", file);
    ops_number(t, "line", line);
    end(t, entered);
}

void ops_buffers_closed(devlog_device *device)
{
    if (!device->ops || (!device->memory_told[DEVLOG_MEMORY_L1] && !device->memory_told[DEVLOG_MEMORY_DRAM]))
        return;
    const uint64_t entered = dl_now_ns();
    ops_thread *t = begin(device, "device_close", entered);
    if (!t) return;
    ops_number(t, "live", buffer_count(device));
    end(t, entered);
}
