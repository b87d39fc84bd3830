/* Work of a known length inside zones of every kind, or the same work without them (-DPLAIN), or no work at all
 * (-DNO_WORK). The outermost zone is always there. */
#include "devlog/kernel.h"
#include "devlog/profile.h"

static void work(void)
{
#ifndef NO_WORK
    for (uint32_t i = 0; i < 20; i++)
        __asm__ __volatile__("");
#endif
}

void kernel_main(void)
{
    DEVLOG_ZONE("outer");
    for (uint32_t i = 0; i < 10; i++) {
#ifdef PLAIN
        work();
        work();
        work();
#else
        DEVLOG_ZONE("middle");
        work();
        {
            DEVLOG_ZONE("inner");
            work();
            DEVLOG_EVENT("event");
            DEVLOG_VALUE("value", i);
        }
        {
            DEVLOG_ZONE_COMPLETE("complete");
            work();
        }
#endif
    }
}
