/* Copies the second buffer to the output, page by page. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "net20.h"

void kernel_main(void)
{
    const uint32_t buffer = devlog_arg(NET_BUFFERS) + NET_BUFFER_BYTES, room = devlog_arg(NET_ROOM);
    uint32_t *out = (uint32_t *)(uintptr_t)devlog_arg(NET_OUTPUT);
    for (uint32_t page = 0; page < devlog_arg(NET_PAGES); page++) {
        const uint32_t *in = (const uint32_t *)(uintptr_t)devlog_cb_front(buffer, room, NET_PAGE_BYTES);
        {
            DEVLOG_ZONE("write page");
            for (uint32_t i = 0; i < NET_PAGE_WORDS; i++)
                *out++ = in[i] - 3;
        }
        devlog_cb_pop(buffer);
    }
}
