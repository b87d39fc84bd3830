/* Pipeline, NCRISC: copies circular buffer 3 page by page to the output. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "pipeline.h"

void kernel_main(void)
{
    uint32_t pages = devlog_arg(0), cb = devlog_arg(1) + 3u * PIPELINE_CB_BYTES;
    uint32_t *out = (uint32_t *)(uintptr_t)devlog_arg(2);
    for (uint32_t page = 0; page < pages; page++) {
        DEVLOG_ZONE("write page");
        const uint32_t *from =
            (const uint32_t *)(uintptr_t)devlog_cb_front(cb, PIPELINE_PAGES, PIPELINE_PAGE_BYTES);
        for (uint32_t i = 0; i < PIPELINE_PAGE_WORDS; i++)
            *out++ = from[i];
        devlog_cb_pop(cb);
    }
}
