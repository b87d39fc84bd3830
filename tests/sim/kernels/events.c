/* Zones and events in the event stream of the tile; argument: rounds. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    uint32_t n = devlog_arg(0);
    DEVLOG_ZONE("all rounds");
    for (uint32_t i = 0; i < n; i++) {
        DEVLOG_ZONE("round");
        DEVLOG_EVENT("middle");
        for (volatile uint32_t k = 0; k < 5 + DEVLOG_RISC; k++) {
        }
        DEVLOG_VALUE("i", i);
    }
}
