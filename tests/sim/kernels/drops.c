/* Markers without end; the number of the next one is stored in L1 in front of it. Argument: where. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    volatile uint32_t *at = (volatile uint32_t *)(uintptr_t)devlog_arg(0);
    for (uint32_t i = 1;; i++) {
        *at = i;
        DEVLOG_EVENT("e");
    }
}
