/* Writes blocks to a DRAM tile, each from the same buffer, which is written anew as soon as the NoC says that it has the last one.
 * Arguments: blocks; the tile, x | y << 6; the address there; the buffer in L1. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "noc.h"

enum { WORDS = 32 };

void kernel_main(void)
{
    uint32_t blocks = devlog_arg(0), tile = devlog_arg(1), to = devlog_arg(2), buffer = devlog_arg(3);
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)buffer;
    for (uint32_t i = 0; i < blocks; i++) {
        DEVLOG_ZONE("block");
        for (uint32_t k = 0; k < WORDS; k++)
            word[k] = i * 0x10001u + k * 0x1000000u;
        noc_write(buffer, buffer + 4 * (WORDS - 1), tile, to + 4 * WORDS * i, 4 * WORDS);
        noc_wait();
    }
}
