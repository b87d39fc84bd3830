/* A middle stage of the pipeline: takes pages from one circular buffer, changes every word, puts them into
 * the next. The three TRISC kernels include this with their number, operation and names. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "pipeline.h"

void kernel_main(void)
{
    uint32_t pages = devlog_arg(0);
    uint32_t from = devlog_arg(1) + STAGE * PIPELINE_CB_BYTES, to = from + PIPELINE_CB_BYTES;
    for (uint32_t page = 0; page < pages; page++) {
        DEVLOG_ZONE_BEGIN(wait, "wait for page");
        const uint32_t *in =
            (const uint32_t *)(uintptr_t)devlog_cb_front(from, PIPELINE_PAGES, PIPELINE_PAGE_BYTES);
        uint32_t *out = (uint32_t *)(uintptr_t)devlog_cb_reserve(to, PIPELINE_PAGES, PIPELINE_PAGE_BYTES);
        DEVLOG_ZONE_END(wait);
        DEVLOG_ZONE(STAGE_NAME);
        for (uint32_t i = 0; i < PIPELINE_PAGE_WORDS; i++)
            out[i] = STAGE_OPERATION(in[i]);
        devlog_cb_pop(from);
        devlog_cb_push(to);
    }
}
