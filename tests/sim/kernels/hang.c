/* Does argument 0 times a little work inside two nested zones, and some more work than anybody waits for when
 * that is the largest number: for tests of what hangs. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    uint32_t n = devlog_arg(0);
    {
        DEVLOG_ZONE("done before");
    }
    DEVLOG_ZONE("outer");
    DEVLOG_EVENT("on the way");
    DEVLOG_ZONE("stuck here");
    for (volatile uint32_t i = 0; i != n; i = n == UINT32_MAX ? i ^ 1 : i + 1) {
    }
}
