/* Eight zones, each of which is passed where a bit of the argument says so: as many ways through the markers as there are arguments. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#define PASS(bit)                                                                                            \
    if (devlog_arg(0) >> (bit)&1) {                                                                          \
        DEVLOG_ZONE("zone " #bit);                                                                           \
        for (volatile uint32_t i = 0; i < 20 + (bit); i++)                                                   \
            ;                                                                                                \
    }

void kernel_main(void)
{
    PASS(0)
    PASS(1)
    PASS(2)
    PASS(3)
    PASS(4)
    PASS(5)
    PASS(6)
    PASS(7)
}
