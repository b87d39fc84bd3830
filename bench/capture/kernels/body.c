/* The markers of the bench: their records are made up, their names are from here. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    {
        DEVLOG_ZONE("wait for a block");
        DEVLOG_ZONE("copy");
    }
    {
        DEVLOG_ZONE("compute");
        DEVLOG_ZONE("inner loop");
    }
    {
        DEVLOG_ZONE("write back");
        DEVLOG_ZONE("wait for the NoC");
    }
    DEVLOG_ZONE_COMPLETE("reserve");
    DEVLOG_EVENT("block done");
    DEVLOG_VALUE("bytes", 0);
}
