/* Reads a tensor over the NoC, page by page, into the first buffer. */
#include <devlog/profile.h>
#include <devlog/transfers.h>

#include "net20.h"

void kernel_main(void)
{
    const uint32_t pages = devlog_arg(NET_PAGES), step = devlog_arg(NET_READ_BYTES);
    const uint32_t buffer = devlog_arg(NET_BUFFERS), room = devlog_arg(NET_ROOM);
    const uint32_t landing = buffer + 2 * NET_BUFFER_BYTES, here = devlog_noc_here();
    {
        DEVLOG_ZONE("prepare table");
        volatile uint32_t *table = (volatile uint32_t *)(uintptr_t)(landing + NET_PAGE_BYTES);
        for (uint32_t i = 0; i < devlog_arg(NET_TABLE_WORDS); i++)
            *table = i * i;
    }
    for (uint32_t page = 0; page < pages; page++) {
        const uint32_t from = devlog_arg(NET_INPUT) + page * NET_PAGE_BYTES;
        uint32_t *to = (uint32_t *)(uintptr_t)devlog_cb_reserve(buffer, room, NET_PAGE_BYTES);
        {
            DEVLOG_ZONE("read page");
            for (uint32_t at = 0; at < NET_PAGE_BYTES; at += step) {
                devlog_noc_read(here, from + at, landing + at, step);
                devlog_noc_barrier();
            }
            const uint32_t *in = (const uint32_t *)(uintptr_t)landing;
            for (uint32_t i = 0; i < NET_PAGE_WORDS; i++)
                to[i] = in[i] + 1;
        }
        devlog_cb_push(buffer);
    }
}
