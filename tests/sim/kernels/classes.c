/* Markers of four classes. Argument: rounds. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    uint32_t n = devlog_arg(0);
    for (uint32_t i = 0; i < n; i++) {
        DEVLOG_ZONE("class 0");
        {
#undef DEVLOG_CLASS
#define DEVLOG_CLASS 1
            DEVLOG_ZONE("class 1");
            DEVLOG_EVENT("event 1");
        }
#undef DEVLOG_CLASS
#define DEVLOG_CLASS 2
        DEVLOG_VALUE("value 2", i);
        DEVLOG_PRINTF("print 2: %d of %u, 0x%04x %c", -(int)i, n, i, 'x');
        {
#undef DEVLOG_CLASS
#define DEVLOG_CLASS 31
            DEVLOG_ZONE_COMPLETE("class 31");
        }
    }
}
