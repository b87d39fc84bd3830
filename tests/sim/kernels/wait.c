/* Zones around waiting for the host, which sets a word in L1. Argument: address of the word, number of waits.
 */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)devlog_arg(0);
    for (uint32_t i = 1; i <= devlog_arg(1); i++) {
        DEVLOG_ZONE("wait");
        DEVLOG_ZONE_COMPLETE("short before");
        while (*word < i) {
        }
    }
}
