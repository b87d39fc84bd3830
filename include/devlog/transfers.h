/* devlog/transfers.h: reading and writing over the NoC by a kernel, on boards that have one. Device code only; C11 and C++17. Transfers, and
 * how long a barrier waited for which of them, are recorded with -DDEVLOG_WAITS (docs/causes.md). Not for firmware, which has a
 * header of its own for flushing records; registers and transaction ids are the same: a barrier waits for all of the RISC's.
 *
 * A tile is named by its NoC 0 coordinates, x | y << 6. */
#ifndef DEVLOG_TRANSFERS_H
#define DEVLOG_TRANSFERS_H

#include "devlog/kernel.h"
#include "noc.h"

#if defined(DEVLOG_NOC0_REGS)

#ifdef __cplusplus
extern "C" {
#endif

/* What a record of a transfer holds: 32 bits of the address there, 15 of bytes, 12 of the tile. */
#define DEVLOG_NOC_TRANSFER_(tile, address, bytes)                                                           \
    ((uint64_t)((bytes) | (uint32_t)(tile) << 16) << 32 | (uint32_t)(address))

/* This core's own tile, as the others name it. */
static inline uint32_t devlog_noc_here(void)
{
    return noc_coordinates(*(volatile uint32_t *)(uintptr_t)(NOC_REGS + DEVLOG_NOC_ID) & 0xFFFu);
}

/* Commands a read of up to 8192 bytes from a tile to L1. Addresses and bytes: multiples of 16, DRAM 32. The data are there
 * behind the next barrier. */
static inline void devlog_noc_read(uint32_t tile, uint32_t from, uint32_t to, uint32_t bytes)
{
    const uint32_t here = *(volatile uint32_t *)(uintptr_t)(NOC_REGS + DEVLOG_NOC_ID) & 0xFFFu;
    const uint32_t there = noc_coordinates(tile);
    DEVLOG_TRANSFERS_("DEVLOG-NOC-READ", DEVLOG_NOC_TRANSFER_(tile, from, bytes));
    while (*noc_register(DEVLOG_NOC_COMMAND) & 1u) {
    }
    *noc_register(NOC_TARG_ADDR_LO) = from;
    *noc_register(NOC_RET_ADDR_LO) = to;
#if defined(DEVLOG_TRANSFERS_HIGH)
    *noc_register(NOC_TARG_ADDR_MID) = 0;
    *noc_register(NOC_TARG_ADDR_HI) = there;
    *noc_register(NOC_RET_ADDR_MID) = 0;
    *noc_register(NOC_RET_ADDR_HI) = here;
#else
    *noc_register(NOC_TARG_ADDR_MID) = there << 4;
    *noc_register(NOC_RET_ADDR_MID) = here << 4;
#endif
    *noc_register(NOC_PACKET_TAG) = NOC_TRANSACTION << 10;
    *noc_register(NOC_CTRL) = 1u << 4; /* a read, with its response */
    *noc_register(NOC_AT_LEN_BE) = bytes;
    *noc_register(DEVLOG_NOC_COMMAND) = 1;
}

/* Commands a write from L1; `stored`: where the last word of the data was stored. The place in L1 may be used anew behind the next
 * barrier. */
static inline void devlog_noc_write(uint32_t from, uint32_t stored, uint32_t tile, uint32_t to,
                                    uint32_t bytes)
{
    DEVLOG_TRANSFERS_("DEVLOG-NOC-WRITE", DEVLOG_NOC_TRANSFER_(tile, to, bytes));
    noc_write(from, stored, tile, to, bytes);
}

/* Waits for all that this RISC has commanded. */
static inline void devlog_noc_barrier(void)
{
    DEVLOG_WAITS_FOR_NOC_();
    noc_wait();
    DEVLOG_FENCE(DEVLOG_ORDER_FRONT); /* what was read may be in the data cache as it was before */
    DEVLOG_ORDER_COMPILER_();
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

#endif
