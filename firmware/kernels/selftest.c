/* Argument 0 times a zone around a step of a known computation; its result goes to the address in argument 1.
 * For `devlog selftest`, which knows how many markers that makes and what the result is. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

void kernel_main(void)
{
    uint32_t n = devlog_arg(0), x = devlog_arg(2);
    for (uint32_t i = 0; i < n; i++) {
        DEVLOG_ZONE("selftest step");
        x = x * 1664525u + 1013904223u + x / (i + 3u); /* as step() of host/profiler/selftest.c */
    }
    *(volatile uint32_t *)(uintptr_t)devlog_arg(1) = x;
}
