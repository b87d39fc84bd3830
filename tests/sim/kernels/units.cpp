/* The first of two files that share inline functions with markers. */
#include "units.hpp"

volatile uint32_t sink;

extern "C" void kernel_main(void)
{
    DEVLOG_ZONE("first");
    sink = shared_work(1) + generic_work<uint32_t>(2) + generic_work<int>(3) + little_work(4) + worker(5).work();
    sink = sink + second_unit(6);
}
