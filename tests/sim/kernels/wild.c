/* A store to where nothing is, inside a zone. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    DEVLOG_ZONE("before the wild store");
    *(volatile uint32_t *)(uintptr_t)0x00F00000 = 1;
}
