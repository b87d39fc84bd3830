/* Computes: from the first buffer to the second. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "net20.h"

void kernel_main(void)
{
    const uint32_t from = devlog_arg(NET_BUFFERS), to = from + NET_BUFFER_BYTES, room = devlog_arg(NET_ROOM);
    for (uint32_t page = 0; page < devlog_arg(NET_PAGES); page++) {
        const uint32_t *in = (const uint32_t *)(uintptr_t)devlog_cb_front(from, room, NET_PAGE_BYTES);
        uint32_t *out = (uint32_t *)(uintptr_t)devlog_cb_reserve(to, room, NET_PAGE_BYTES);
        {
            DEVLOG_ZONE("math");
            for (uint32_t i = 0; i < NET_PAGE_WORDS; i++)
                out[i] = net_math(in[i]);
        }
        devlog_cb_pop(from);
        devlog_cb_push(to);
    }
}
