/* Reads from a tile of the DRAM to L1, so many transfers between two barriers. Arguments: the tile, x | y << 6; the address there; where they
 * go, which lies alike; transfers; bytes of each; from one to the next; transfers before a barrier. */
#include <devlog/profile.h>
#include <devlog/transfers.h>

void kernel_main(void)
{
    const uint32_t tile = devlog_arg(0), from = devlog_arg(1), to = devlog_arg(2), times = devlog_arg(3);
    const uint32_t bytes = devlog_arg(4), step = devlog_arg(5), per_barrier = devlog_arg(6);
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < times; i++) {
        DEVLOG_ZONE("fetch");
        devlog_noc_read(tile, from + i * step, to + i * step, bytes);
        if (++under_way < per_barrier) continue;
        devlog_noc_barrier();
        under_way = 0;
    }
}
