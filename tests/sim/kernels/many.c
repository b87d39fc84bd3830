/* The same marker as often as the argument says: a complete zone per pass, or with -DVALUES a value. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    uint32_t n = devlog_arg(0);
    for (uint32_t i = 0; i < n; i++) {
#if defined(VALUES)
        DEVLOG_VALUE("i", i);
#else
        DEVLOG_ZONE_COMPLETE("pass");
#endif
    }
}
