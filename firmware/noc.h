/* Writing from L1 to a DRAM tile through the NoC: what flushing records needs, and no more. */
#ifndef DEVLOG_FIRMWARE_NOC_H
#define DEVLOG_FIRMWARE_NOC_H

#include <stdint.h>

#include "devlog/order.h"
#include "devlog_board.h"

#if defined(DEVLOG_NOC0_REGS)

/* Every RISC has a request initiator and a transaction id of its own (WormholeB0/NoC/MemoryMap.md, "NIU
 * request initiators"), so that five RISCs can flush at the same time and each sees when its own flush has
 * arrived. */
#if DEVLOG_RISC < 4
#define NOC_REGS DEVLOG_NOC0_REGS
#else
#define NOC_REGS DEVLOG_NOC1_REGS
#endif
#define NOC_INITIATOR   (NOC_REGS + (DEVLOG_RISC % 4) * DEVLOG_NOC_STRIDE)
#define NOC_TRANSACTION (DEVLOG_RISC + 1u)
#define NOC_CTRL_WRITE  (2u | 1u << 4) /* NOC_CTRL: write request, with a response */

enum {
    NOC_TARG_ADDR_LO = 0x00,
    NOC_TARG_ADDR_MID = 0x04,
    NOC_TARG_ADDR_HI = 0x08,
    NOC_RET_ADDR_LO = 0x0C,
    NOC_RET_ADDR_MID = 0x10,
    NOC_RET_ADDR_HI = 0x14,
    NOC_PACKET_TAG = 0x18,
    NOC_CTRL = 0x1C,
    NOC_AT_LEN_BE = 0x20,
    NIU_REQS_OUTSTANDING = 0x240, /* + 4 * transaction id; WormholeB0/NoC/Counters.md */
    NOC_MAX_BYTES = 8192,
};

static inline volatile uint32_t *noc_register(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(NOC_INITIATOR + offset);
}

/* Coordinates of a tile as this NoC counts them: NoC 1 counts from the other corner, unless the chip
 * translates coordinates so that both count alike. */
static inline uint32_t noc_coordinates(uint32_t noc0_xy)
{
#if DEVLOG_RISC < 4 || defined(DEVLOG_NOC_UNIFORM)
    return noc0_xy;
#else
    return (DEVLOG_NOC_WIDTH - 1u - (noc0_xy & 63u)) | (DEVLOG_NOC_HEIGHT - 1u - (noc0_xy >> 6)) << 6;
#endif
}

/* Waits for what was commanded some stores ago: at least as many as the store queue holds, so that the last
 * command has reached the NoC. */
static inline void noc_wait_for_old(void)
{
    while (*(volatile uint32_t *)(uintptr_t)(NOC_REGS + NIU_REQS_OUTSTANDING + 4u * NOC_TRANSACTION) &
           0xFFu) {
    }
}

/* Waits for all that was commanded. The counter is raised as the command is written, and the command, whose
 * register is read here, is written before the counter is read (WormholeB0/NoC/Counters.md). */
static inline void noc_wait(void)
{
    if (DEVLOG_ORDERS_(DEVLOG_ORDER_COMMAND)) (void)*noc_register(DEVLOG_NOC_COMMAND);
    noc_wait_for_old();
}

/* `stored` is where the last word of the data was stored: it must have reached L1 before the NIU reads it. */
static inline void noc_write(uint32_t from, uint32_t stored, uint32_t xy, uint32_t to, uint32_t bytes)
{
    DEVLOG_READ_BACK(DEVLOG_ORDER_SOURCE, stored);
    uint32_t here = *(volatile uint32_t *)(uintptr_t)(NOC_REGS + DEVLOG_NOC_ID) & 0xFFFu;
    uint32_t there = noc_coordinates(xy);
    while (bytes > 0) {
        uint32_t n = bytes < NOC_MAX_BYTES ? bytes : NOC_MAX_BYTES;
        while (*noc_register(DEVLOG_NOC_COMMAND) & 1u) {
        }
        *noc_register(NOC_TARG_ADDR_LO) = from;
        *noc_register(NOC_RET_ADDR_LO) = to;
#if defined(DEVLOG_NOC_HIGH)
        *noc_register(NOC_TARG_ADDR_MID) = 0;
        *noc_register(NOC_TARG_ADDR_HI) = here;
        *noc_register(NOC_RET_ADDR_MID) = 0;
        *noc_register(NOC_RET_ADDR_HI) = there;
#else
        *noc_register(NOC_TARG_ADDR_MID) = here << 4;
        *noc_register(NOC_RET_ADDR_MID) = there << 4;
#endif
        *noc_register(NOC_PACKET_TAG) = NOC_TRANSACTION << 10;
        *noc_register(NOC_CTRL) = NOC_CTRL_WRITE;
        *noc_register(NOC_AT_LEN_BE) = n;
        *noc_register(DEVLOG_NOC_COMMAND) = 1;
        from += n;
        to += n;
        bytes -= n;
    }
}

#else
static inline void noc_wait(void) {}
#endif

#endif
