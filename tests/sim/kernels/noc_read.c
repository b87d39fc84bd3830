/* Reads 64 bytes of a DRAM tile. Arguments: the tile, x | y << 6; the address there; where they go in L1. */
#include <devlog/kernel.h>

#include "noc.h"

void kernel_main(void)
{
    uint32_t here = *(volatile uint32_t *)(uintptr_t)(NOC_REGS + DEVLOG_NOC_ID) & 0xFFFu;
    uint32_t there = noc_coordinates(devlog_arg(0));
    *noc_register(NOC_TARG_ADDR_LO) = devlog_arg(1);
    *noc_register(NOC_RET_ADDR_LO) = devlog_arg(2);
#if defined(DEVLOG_NOC_HIGH)
    *noc_register(NOC_TARG_ADDR_MID) = 0;
    *noc_register(NOC_TARG_ADDR_HI) = there;
    *noc_register(NOC_RET_ADDR_MID) = 0;
    *noc_register(NOC_RET_ADDR_HI) = here;
#else
    *noc_register(NOC_TARG_ADDR_MID) = there << 4;
    *noc_register(NOC_RET_ADDR_MID) = here << 4;
#endif
    *noc_register(NOC_PACKET_TAG) = NOC_TRANSACTION << 10;
    *noc_register(NOC_CTRL) = 1u << 4; /* a read; ttsim wants the bit for the response */
    *noc_register(NOC_AT_LEN_BE) = 64;
    *noc_register(DEVLOG_NOC_COMMAND) = 1;
    noc_wait();
}
