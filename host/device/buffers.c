/* The buffers of a device; see buffers.h. */
#include "device/buffers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/str.h"
#include "base/term.h"

enum { FREED_KEPT = 64, HOLDERS_SHOWN = 3 };

/* A buffer that was freed. */
typedef struct freed_buffer {
    uint32_t number, line;
    char file[200];
} freed_buffer;

struct device_buffers {
    allocator memories[BUFFER_MEMORIES];
    device_buffer **live; /* by number */
    size_t n, cap;
    uint32_t made;
    uint32_t mark; /* of this device, in the ids of its buffers */
    freed_buffer freed[FREED_KEPT];
    uint32_t n_freed;
};

const char *buffer_memory_name(devlog_memory memory)
{
    return memory == DEVLOG_MEMORY_DRAM ? "DRAM" : "L1";
}

/* ---- The memories of a device --- */

uint32_t buffer_banks(const devlog_device *device, devlog_memory memory)
{
    const board *b = &device->board;
    return memory == DEVLOG_MEMORY_DRAM ? b->n_dram : b->n_columns * b->n_rows;
}

/* The addresses of a bank that buffers may ever have: whole units of alignment. */
static void range_of(const devlog_device *device, devlog_memory memory, uint64_t *base, uint64_t *bytes)
{
    const board *b = &device->board;
    const uint64_t align = DEVLOG_BUFFER_ALIGN, most = UINT64_C(1) << 32;
    if (memory == DEVLOG_MEMORY_DRAM) {
        *base = 0;
        *bytes = (b->dram_size < most ? b->dram_size : most) / align * align;
        return;
    }
    const uint64_t end = ((uint64_t)b->user.base + b->user.size) / align * align;
    *base = (b->user.base + align - 1) / align * align;
    *bytes = end > *base ? end - *base : 0;
}

uint64_t buffer_limit(const devlog_device *device, devlog_memory memory, uint64_t stream_bytes)
{
    uint64_t base, bytes;
    range_of(device, memory, &base, &bytes);
    if (memory != DEVLOG_MEMORY_DRAM) return bytes;
    return stream_bytes < bytes ? (bytes - stream_bytes) / DEVLOG_BUFFER_ALIGN * DEVLOG_BUFFER_ALIGN : 0;
}

static devlog_status begin(devlog_device *device, devlog_error *err)
{
    if (device->buffers) return DEVLOG_OK;
    struct device_buffers *all = calloc(1, sizeof *all);
    if (!all) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the buffers of the device");
    for (int m = 0; m < BUFFER_MEMORIES; m++) {
        allocator *a = &all->memories[m];
        range_of(device, (devlog_memory)m, &a->base, &a->bytes);
        a->n_banks = buffer_banks(device, (devlog_memory)m);
        a->downwards = m == DEVLOG_MEMORY_L1;
    }
    /* So that a buffer of another device, or of an earlier one, is not taken for one of this one. */
    all->mark = (uint32_t)(dl_hash_u64((uintptr_t)all ^ dl_now_ns()) >> 32);
    device->buffers = all;
    return DEVLOG_OK;
}

const allocator *buffer_allocator(const devlog_device *device, devlog_memory memory)
{
    return device->buffers ? &device->buffers->memories[memory] : NULL;
}

uint64_t buffer_peak_since(devlog_device *device, devlog_memory memory)
{
    if (!device->buffers) return 0;
    allocator *a = &device->buffers->memories[memory];
    const uint64_t peak = a->recent;
    a->recent = a->used;
    return peak;
}

/* ---- Which banks --- */

static devlog_status check_cores(const devlog_device *device, const devlog_buffer_options *o,
                                 devlog_error *err)
{
    const board *b = &device->board;
    if (o->memory == DEVLOG_MEMORY_DRAM)
        return dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "a buffer in DRAM has no cores: its banks are the memory tiles (devlog_buffer_options.cores)");
    for (uint32_t i = 0; i < o->n_cores; i++) {
        const devlog_cores r = o->cores[i];
        if (r.x0 > r.x1 || r.y0 > r.y1 || r.x1 >= b->n_columns || r.y1 >= b->n_rows)
            return dl_fail(
                err, DEVLOG_ERR_ARGUMENT,
                "a buffer on cores (%u,%u) to (%u,%u), which are outside the grid of %s: x 0 to %u, y 0 to %u",
                r.x0, r.y0, r.x1, r.y1, b->name, b->n_columns - 1, b->n_rows - 1);
    }
    return DEVLOG_OK;
}

/* The cores of the options as banks. */
static devlog_status order_of(const devlog_device *device, const devlog_buffer_options *o, device_buffer *to,
                              devlog_error *err)
{
    const board *b = &device->board;
    devlog_status status = check_cores(device, o, err);
    alloc_banks seen = {{0}};
    if (status) return status;
    to->order = malloc((size_t)b->n_columns * b->n_rows * sizeof *to->order);
    if (!to->order) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a buffer");
    for (uint32_t i = 0; i < o->n_cores; i++) {
        for (uint32_t y = o->cores[i].y0; y <= o->cores[i].y1; y++) {
            for (uint32_t x = o->cores[i].x0; x <= o->cores[i].x1; x++) {
                const uint32_t bank = y * b->n_columns + x;
                if (alloc_has_bank(&seen, bank))
                    return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                                   "a buffer has core (%u,%u) twice among its cores", x, y);
                alloc_add_bank(&seen, bank);
                to->order[to->n_order++] = bank;
            }
        }
    }
    return DEVLOG_OK;
}

/* Pages, and the banks that have any of them. */
static devlog_status lay_out(const devlog_device *device, const devlog_buffer_options *o, device_buffer *b,
                             devlog_error *err)
{
    const uint64_t align = DEVLOG_BUFFER_ALIGN, most = UINT64_C(1) << 48;
    uint32_t banks = buffer_banks(device, o->memory);
    if ((unsigned)o->memory >= BUFFER_MEMORIES)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there is no memory %d for a buffer", (int)o->memory);
    if (!banks)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "board %s has no DRAM for buffers", device->board.name);
    if (o->bytes == 0 || o->bytes > most || o->page_bytes > most)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "a buffer of %" PRIu64 " bytes in pages of %" PRIu64 ": both must be 1 to 2^48",
                       o->bytes, o->page_bytes);
    if ((o->cores != NULL) != (o->n_cores > 0))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "devlog_buffer_options has cores and no n_cores, or n_cores and no cores");
    if (o->cores) {
        devlog_status status = order_of(device, o, b, err);
        if (status) return status;
        banks = b->n_order;
    }
    b->memory = o->memory;
    b->bytes = o->bytes;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a page has a byte at least */
    b->page_bytes = o->page_bytes ? o->page_bytes : (o->bytes + banks - 1) / banks;
    b->stride = (b->page_bytes + align - 1) / align * align;
    b->pages = (b->bytes + b->page_bytes - 1) / b->page_bytes;
    b->block.n_banks = b->pages < banks ? (uint32_t)b->pages : banks;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the same */
    const uint64_t each = (b->pages + banks - 1) / banks; /* in the bank that has the most */
    b->block.size = each > most / b->stride ? most : each * b->stride;
    for (uint32_t i = 0; i < b->block.n_banks; i++)
        alloc_add_bank(&b->block.banks, buffer_bank(b, i));
    return DEVLOG_OK;
}

/* ---- Out of memory --- */

typedef struct holder {
    const device_buffer *first;
    uint64_t bytes;
    size_t n;
} holder;

static bool same_place(const device_buffer *a, const device_buffer *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Of the buffers in a memory, those that were made in the same line together; the greatest first. */
static void add_holders(const struct device_buffers *all, devlog_memory memory, dl_str *out)
{
    holder best[HOLDERS_SHOWN] = {{0}};
    for (size_t i = 0; i < all->n; i++) {
        const device_buffer *b = all->live[i];
        holder h = {.first = b};
        bool earlier = false;
        if (b->memory != memory) continue;
        for (size_t k = 0; k < all->n; k++) {
            const device_buffer *other = all->live[k];
            if (other->memory != memory || !same_place(b, other)) continue;
            earlier |= k < i;
            h.bytes += other->block.size * other->block.n_banks;
            h.n++;
        }
        for (int at = 0; at < HOLDERS_SHOWN && !earlier; at++) {
            if (best[at].bytes >= h.bytes) continue;
            memmove(best + at + 1, best + at, (size_t)(HOLDERS_SHOWN - 1 - at) * sizeof *best);
            best[at] = h;
            break;
        }
    }
    for (int at = 0; at < HOLDERS_SHOWN && best[at].first; at++) {
        char digits[DL_GROUPED_SIZE];
        const device_buffer *b = best[at].first;
        dl_str_fmt(out, "%s%s:%u%s%s (%zu buffer%s, %s bytes)", at ? ", " : "; most is held by ", b->file,
                   b->line, *b->name ? " " : "", b->name, best[at].n, best[at].n == 1 ? "" : "s",
                   dl_u64_grouped(digits, best[at].bytes));
    }
}

static devlog_status no_room(const devlog_device *device, const device_buffer *b, uint64_t limit,
                             devlog_error *err)
{
    const allocator *a = &device->buffers->memories[b->memory];
    const uint64_t all = limit * a->n_banks;
    char asked[DL_GROUPED_SIZE], each[DL_GROUPED_SIZE], free_bytes[DL_GROUPED_SIZE], of[DL_GROUPED_SIZE],
        block[DL_GROUPED_SIZE];
    dl_str s = {0};
    dl_str_fmt(
        &s,
        "no room for a buffer of %s bytes in %s: it needs %s in each of %u bank%s at one address; %s of %s bytes are free, "
        "and the largest block that is free in all %u banks has %s",
        dl_u64_grouped(asked, b->bytes), buffer_memory_name(b->memory), dl_u64_grouped(each, b->block.size),
        b->block.n_banks, b->block.n_banks == 1 ? "" : "s",
        dl_u64_grouped(free_bytes, all > a->used ? all - a->used : 0), dl_u64_grouped(of, all), a->n_banks,
        dl_u64_grouped(block, allocator_largest(a, limit)));
    add_holders(device->buffers, b->memory, &s);
    devlog_status status =
        dl_fail(err, DEVLOG_ERR_MEMORY, "%s", s.text && !s.failed ? s.text : "no room for a buffer");
    dl_str_free(&s);
    return status;
}

/* ---- Making and dropping --- */

static void free_buffer(device_buffer *b)
{
    if (!b) return;
    free(b->order);
    free(b->name);
    free(b->file);
    free(b);
}

devlog_status buffer_make(devlog_device *device, const devlog_buffer_options *o, const char *file,
                          uint32_t line, uint64_t stream_bytes, device_buffer **out, devlog_error *err)
{
    devlog_status status = begin(device, err);
    if (status) return status;
    struct device_buffers *all = device->buffers;
    device_buffer *b = calloc(1, sizeof *b);
    if (!b) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a buffer");
    b->line = line;
    b->file = strdup(file ? file : "");
    b->name = strdup(o->name ? o->name : "");
    status = b->file && b->name ? lay_out(device, o, b, err)
                                : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a buffer");
    if (status) goto fail;
    if (all->n == all->cap) {
        const size_t cap = all->cap ? all->cap * 2 : 64;
        device_buffer **grown = realloc(all->live, cap * sizeof *grown);
        if (!grown) {
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a buffer");
            goto fail;
        }
        all->live = grown;
        all->cap = cap;
    }
    const uint64_t limit = buffer_limit(device, b->memory, stream_bytes);
    switch (allocator_take(&all->memories[b->memory], &b->block, limit)) {
    case ALLOC_OK: break;
    case ALLOC_NO_ROOM: status = no_room(device, b, limit, err); goto fail;
    case ALLOC_NO_MEMORY: status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a buffer"); goto fail;
    }
    b->number = ++all->made;
    all->live[all->n++] = b;
    *out = b;
    return DEVLOG_OK;
fail:
    free_buffer(b);
    return status;
}

devlog_buffer buffer_handle(const devlog_device *device, const device_buffer *b)
{
    return (devlog_buffer){(uint64_t)device->buffers->mark << 32 | b->number};
}

/* The first of the live ones whose number is not less. */
static size_t place_of(const struct device_buffers *all, uint32_t number)
{
    size_t from = 0, to = all->n;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (all->live[mid]->number < number)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

devlog_status buffer_find(const devlog_device *device, devlog_buffer buffer, const char *what,
                          device_buffer **out, devlog_error *err)
{
    const struct device_buffers *all = device->buffers;
    const uint32_t number = (uint32_t)buffer.id;
    if (!buffer.id)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there is no buffer that could be %s: it was not made",
                       what);
    if (!all || buffer.id >> 32 != all->mark || number == 0 || number > all->made)
        return dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "buffer %u cannot be %s: it is none of this device's, which is chip %u (another device's, or of one that was "
            "closed)",
            number, what, device->slot);
    const size_t at = place_of(all, number);
    if (at < all->n && all->live[at]->number == number) {
        *out = all->live[at];
        return DEVLOG_OK;
    }
    for (uint32_t i = 0; i < FREED_KEPT && i < all->n_freed; i++)
        if (all->freed[i].number == number)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "buffer %u cannot be %s: it was freed at %s:%u", number,
                           what, all->freed[i].file, all->freed[i].line);
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "buffer %u cannot be %s: it was freed long before", number,
                   what);
}

void buffer_drop(devlog_device *device, device_buffer *b, const char *file, uint32_t line)
{
    struct device_buffers *all = device->buffers;
    freed_buffer *note = &all->freed[all->n_freed++ % FREED_KEPT];
    note->number = b->number;
    note->line = line;
    snprintf(note->file, sizeof note->file, "%s", file ? file : "");
    allocator_give(&all->memories[b->memory], &b->block);
    const size_t at = place_of(all, b->number);
    all->n--;
    memmove(all->live + at, all->live + at + 1, (all->n - at) * sizeof *all->live);
    free_buffer(b);
}

void buffers_free(devlog_device *device)
{
    struct device_buffers *all = device->buffers;
    if (!all) return;
    for (size_t i = 0; i < all->n; i++)
        free_buffer(all->live[i]);
    for (int m = 0; m < BUFFER_MEMORIES; m++)
        allocator_free(&all->memories[m]);
    free(all->live);
    free(all);
    device->buffers = NULL;
}

const device_buffer *buffer_live(const devlog_device *device, size_t at)
{
    return device->buffers->live[at];
}

size_t buffer_count(const devlog_device *device)
{
    return device->buffers ? device->buffers->n : 0;
}

/* ---- Where it is, and what is in it --- */

uint64_t buffer_address(const devlog_device *device, const device_buffer *b)
{
    return allocator_address(&device->buffers->memories[b->memory], &b->block);
}

devlog_page buffer_page(const devlog_device *device, const device_buffer *b, uint64_t page)
{
    const board *bd = &device->board;
    const uint32_t bank = buffer_bank(b, (uint32_t)(page % b->block.n_banks));
    const uint64_t before = page * b->page_bytes;
    devlog_page p = {.address = buffer_address(device, b) + page / b->block.n_banks * b->stride,
                     .bytes = b->bytes - before < b->page_bytes ? b->bytes - before : b->page_bytes,
                     .bank = bank,
                     .noc = -1};
    if (b->memory == DEVLOG_MEMORY_DRAM) {
        p.noc_x = bd->dram[bank].x;
        p.noc_y = bd->dram[bank].y;
        if (bd->dram_noc[bank] != BOARD_ANY_NOC) p.noc = bd->dram_noc[bank];
        return p;
    }
    p.core = (devlog_core){bank % bd->n_columns, bank / bd->n_columns};
    board_xy at = {0, 0};
    (void)board_core_noc(bd, p.core.x, p.core.y, &at);
    p.noc_x = at.x;
    p.noc_y = at.y;
    return p;
}

devlog_status buffer_copy(devlog_device *device, const device_buffer *b, uint64_t offset, void *to,
                          const void *from, size_t size, devlog_error *err)
{
    if (offset > b->bytes || size > b->bytes - offset)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%zu bytes from byte %" PRIu64 " on go beyond the end of a buffer of %" PRIu64
                       " (%s:%u)",
                       size, offset, b->bytes, b->file, b->line);
    for (size_t done = 0; done < size;) {
        const uint64_t at = offset + done, inside = at % b->page_bytes;
        const devlog_page p = buffer_page(device, b, at / b->page_bytes);
        const size_t n = p.bytes - inside < size - done ? (size_t)(p.bytes - inside) : size - done;
        const dl_target tile = {(uint8_t)p.noc_x, (uint8_t)p.noc_y, (uint8_t)p.noc_x, (uint8_t)p.noc_y};
        devlog_status status =
            to ? dl_read(&device->transport, tile, p.address + inside, (uint8_t *)to + done, n, err)
               : dl_write(&device->transport, tile, p.address + inside, (const uint8_t *)from + done, n, err);
        if (status) return status;
        done += n;
    }
    return DEVLOG_OK;
}
