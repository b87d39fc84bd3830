/* Memory behind a debug module: any size and alignment, and trying again after what the link may do. */
#include "transport/usb_memory.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 };

typedef devlog_status block_read(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *done,
                                 devlog_error *err);

/* Whether a failed access is worth another try; if so the link is brought back. `progress`: it got further.
 */
static bool again(usb_dm *m, int *tries, bool progress, devlog_error *err)
{
    if (progress) *tries = 0;
    if (m->dtm.dap.outcome != USB_AGAIN || ++*tries >= TRIES) return false;
    devlog_error why;
    if (usb_dm_recover(m, &why) == DEVLOG_OK) return true;
    if (err) *err = why;
    return false;
}

static devlog_status read_words(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *got,
                                devlog_error *err)
{
    block_read *read = m->access == USB_ACCESS_BUS ? usb_bus_read : usb_abstract_read;
    int tries = 0;
    *got = 0;
    while (*got < n) {
        size_t done, block = n - *got < USB_BLOCK_WORDS ? n - *got : USB_BLOCK_WORDS;
        devlog_status status = read(m, address + 4 * (uint32_t)*got, words + *got, block, &done, err);
        *got += done;
        if (status != DEVLOG_OK && !again(m, &tries, done > 0, err)) return status;
    }
    return DEVLOG_OK;
}

static devlog_status write_words(usb_dm *m, uint32_t address, const uint32_t *words, size_t n,
                                 devlog_error *err)
{
    int tries = 0;
    size_t put = 0;
    while (put < n) {
        size_t done, block = n - put < USB_BLOCK_WORDS ? n - put : USB_BLOCK_WORDS;
        devlog_status status = (m->access == USB_ACCESS_BUS ? usb_bus_write : usb_abstract_write)(
            m, address + 4 * (uint32_t)put, words + put, block, &done, err);
        put += done;
        if (status != DEVLOG_OK && !again(m, &tries, done > 0, err)) return status;
    }
    return DEVLOG_OK;
}

devlog_status usb_memory_read(usb_dm *m, uint32_t address, void *dst, size_t size, size_t *got,
                              devlog_error *err)
{
    *got = 0;
    if (size == 0) return DEVLOG_OK;
    uint32_t skip = address & 3;
    size_t n = (skip + size + 3) / 4, n_got;
    uint32_t *words = malloc(4 * n);
    if (!words) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a block of a device's memory");
    devlog_status status = read_words(m, address - skip, words, n, &n_got, err);
    if (4 * n_got > skip) *got = 4 * n_got - skip < size ? 4 * n_got - skip : size;
    memcpy(dst, (uint8_t *)words + skip, *got);
    free(words);
    return status;
}

/* Part of one word: byte by byte on the bus where that can be, else by reading the word before. */
static devlog_status write_part(usb_dm *m, uint32_t address, const uint8_t *src, size_t size,
                                devlog_error *err)
{
    if (m->access == USB_ACCESS_BUS && m->bus_widths & 1) {
        devlog_status status = DEVLOG_OK;
        for (size_t i = 0; i < size && status == DEVLOG_OK; i++) {
            int tries = 0;
            do
                status = usb_bus_write_narrow(m, address + (uint32_t)i, src[i], 1, err);
            while (status != DEVLOG_OK && again(m, &tries, false, err));
        }
        return status;
    }
    uint32_t word, skip = address & 3;
    size_t got;
    devlog_status status = read_words(m, address - skip, &word, 1, &got, err);
    if (status != DEVLOG_OK) return status;
    memcpy((uint8_t *)&word + skip, src, size);
    return write_words(m, address - skip, &word, 1, err);
}

devlog_status usb_memory_write(usb_dm *m, uint32_t address, const void *src, size_t size, devlog_error *err)
{
    const uint8_t *from = src;
    devlog_status status = DEVLOG_OK;
    size_t head = address & 3 ? 4 - (address & 3) : 0;
    if (head > size) head = size;
    if (head) status = write_part(m, address, from, head, err);
    size_t whole = (size - head) / 4, tail = size - head - 4 * whole;
    if (whole && status == DEVLOG_OK) {
        uint32_t *words = malloc(4 * whole);
        if (!words) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a block of a device's memory");
        memcpy(words, from + head, 4 * whole);
        status = write_words(m, address + (uint32_t)head, words, whole, err);
        free(words);
    }
    if (tail && status == DEVLOG_OK)
        status = write_part(m, address + (uint32_t)(head + 4 * whole), from + head + 4 * whole, tail, err);
    return status;
}
