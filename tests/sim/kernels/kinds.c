/* A marker of every kind, for tests that make up what they record. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    {
        DEVLOG_ZONE("outer");
        DEVLOG_ZONE("middle");
        DEVLOG_ZONE("inner");
    }
    {
        DEVLOG_ZONE("a zone of its own");
    }
    {
        DEVLOG_ZONE("another one");
    }
    DEVLOG_ZONE_COMPLETE("complete");
    DEVLOG_ZONE_COMPLETE("complete too");
    DEVLOG_EVENT("event");
    DEVLOG_VALUE("value", 1);
    DEVLOG_VALUE("mark_time", 1);
    DEVLOG_VALUE64("value of 64 bits", 1);
    DEVLOG_COUNTER("counter", 1);
    DEVLOG_PRINTF("print %d", 1);
    DEVLOG_ZONE_SUM("sum");
}
