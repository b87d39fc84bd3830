/* A zone as often as it is told, which fills the records; then work that nobody marks. */
#include "devlog/kernel.h"
#include "devlog/profile.h"

void kernel_main(void)
{
    for (uint32_t i = 0; i < devlog_arg(0); i++) {
        DEVLOG_ZONE("iteration");
        __asm__ __volatile__("nop");
    }
    for (uint32_t i = 0; i < devlog_arg(1); i++)
        __asm__ __volatile__("nop");
}
