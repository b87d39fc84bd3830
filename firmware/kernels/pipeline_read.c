/* Pipeline, BRISC: copies the input page by page into circular buffer 0. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "pipeline.h"

void kernel_main(void)
{
    uint32_t pages = devlog_arg(0), cb = devlog_arg(1);
    const uint32_t *in = (const uint32_t *)(uintptr_t)devlog_arg(2);
    for (uint32_t page = 0; page < pages; page++) {
        DEVLOG_ZONE("read page");
        uint32_t *to = (uint32_t *)(uintptr_t)devlog_cb_reserve(cb, PIPELINE_PAGES, PIPELINE_PAGE_BYTES);
        for (uint32_t i = 0; i < PIPELINE_PAGE_WORDS; i++)
            to[i] = *in++;
        devlog_cb_push(cb);
    }
}
