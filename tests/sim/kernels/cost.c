/* One marker alone in a function that is called in a loop, so that its whole cost is in the loop. MARKER is
 * given on the command line; without it the loop is what everything else costs. Argument: rounds. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#ifndef MARKER
#define MARKER
#endif

volatile uint32_t sink;

__attribute__((noinline)) static void marked(uint32_t v)
{
    MARKER;
    sink = v;
}

void kernel_main(void)
{
    uint32_t n = devlog_arg(0);
    for (uint32_t i = 0; i < n; i++)
        marked(i);
}
