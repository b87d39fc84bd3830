/* The second of two files that share inline functions with markers. A marker of its own comes first, so that the
 * markers of the header do not have the numbers that they have in the first. */
#include <devlog/profile.h>

static inline void own() { DEVLOG_EVENT("second's own"); }

#include "units.hpp"

extern "C" uint32_t second_unit(uint32_t n)
{
    DEVLOG_ZONE("second");
    own();
    uint32_t (*little)(uint32_t) = little_work;
    __asm__ volatile("" : "+r"(little));
    return shared_work(n) + generic_work<uint32_t>(n) + generic_work<int>(2) + little(n) + worker(n).work();
}
