/* devlog/kernel.h: what a kernel needs besides markers: its arguments, where it runs, and circular buffers
 * and semaphores in L1 that the RISCs of a core share. Device code only; C11 and C++17. What waits for them, and what ends
 * that, is recorded with -DDEVLOG_WAITS (devlog/waits.h): options of markers are then given with -D, or above this file.
 *
 * A kernel is one source file with `void kernel_main(void)`. It runs on one RISC, to completion. */
#ifndef DEVLOG_KERNEL_H
#define DEVLOG_KERNEL_H

#include <stdint.h>

#include "devlog/order.h"
#include "devlog/record.h"
#include "devlog/waits.h"
#include "devlog_board.h" /* generated from the board file */

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel; defined by its author. */
void kernel_main(void);

static inline volatile devlog_mailbox *devlog_mailbox_of_core(void)
{
    return (volatile devlog_mailbox *)(uintptr_t)DEVLOG_MAILBOX;
}

/* Argument i (0 to 63) that the host set for this kernel on this core. */
static inline uint32_t devlog_arg(uint32_t i)
{
    return devlog_mailbox_of_core()->args[DEVLOG_RISC][i];
}

/* Logical coordinates of this core, and the size of the grid of the launch. */
static inline uint32_t devlog_core_x(void)
{
    return devlog_mailbox_of_core()->core_x;
}
static inline uint32_t devlog_core_y(void)
{
    return devlog_mailbox_of_core()->core_y;
}
static inline uint32_t devlog_grid_x(void)
{
    return devlog_mailbox_of_core()->grid_x;
}
static inline uint32_t devlog_grid_y(void)
{
    return devlog_mailbox_of_core()->grid_y;
}

/* ---- Circular buffers ------------------------------------------------------------------------------
 * One producer RISC, one consumer RISC, `pages` pages of `page_bytes` in L1 behind the two counters. The
 * counters only grow (modulo 2^32), and each is written by one side. The host clears them before a launch. */

typedef struct devlog_cb {
    uint32_t pushed; /* pages, by the producer */
    uint32_t popped; /* pages, by the consumer */
} devlog_cb;

/* Keeps the compiler from moving accesses to a page across the counter that publishes it. The hardware keeps the order of one
 * RISC's accesses to L1 (devlog/order.h). */
#define DEVLOG_CB_ORDER_() DEVLOG_ORDER_COMPILER_()

static inline volatile devlog_cb *devlog_cb_at(uint32_t address)
{
    return (volatile devlog_cb *)(uintptr_t)address;
}

/* Waits for a free page and returns its address. */
static inline uint32_t devlog_cb_reserve(uint32_t address, uint32_t pages, uint32_t page_bytes)
{
    volatile devlog_cb *cb = devlog_cb_at(address);
    uint32_t pushed = cb->pushed;
    DEVLOG_WANTS_("DEVLOG-WAIT-FULL", address + (uint32_t)sizeof cb->pushed, pushed - pages + 1,
                  pushed - cb->popped >= pages, DEVLOG_ORDER_RESERVE);
    /* An old count can only say that there is no room: a fence is needed by who waits, and by nobody else. */
    while (pushed - cb->popped >= pages)
        DEVLOG_FENCE(DEVLOG_ORDER_RESERVE);
    DEVLOG_CB_ORDER_();
    return address + (uint32_t)sizeof(devlog_cb) + (pushed % pages) * page_bytes;
}

/* Hands the reserved page to the consumer. */
static inline void devlog_cb_push(uint32_t address)
{
    DEVLOG_GIVES_(address, devlog_cb_at(address)->pushed + 1);
    DEVLOG_CB_ORDER_();
    devlog_cb_at(address)->pushed = devlog_cb_at(address)->pushed + 1;
}

/* Waits for a page and returns its address. */
static inline uint32_t devlog_cb_front(uint32_t address, uint32_t pages, uint32_t page_bytes)
{
    volatile devlog_cb *cb = devlog_cb_at(address);
    uint32_t popped = cb->popped;
    DEVLOG_WANTS_("DEVLOG-WAIT-EMPTY", address, popped + 1, cb->pushed == popped, DEVLOG_ORDER_FRONT);
    /* Also when the page is there already: what this RISC read at its place a lap ago may still be in the data cache. */
    do
        DEVLOG_FENCE(DEVLOG_ORDER_FRONT);
    while (cb->pushed == popped);
    DEVLOG_CB_ORDER_();
    return address + (uint32_t)sizeof(devlog_cb) + (popped % pages) * page_bytes;
}

/* Gives the page back to the producer. */
static inline void devlog_cb_pop(uint32_t address)
{
    DEVLOG_GIVES_(address + (uint32_t)sizeof(uint32_t), devlog_cb_at(address)->popped + 1);
    DEVLOG_CB_ORDER_();
    devlog_cb_at(address)->popped = devlog_cb_at(address)->popped + 1;
}

/* ---- Semaphores ------------------------------------------------------------------------------------
 * A word in L1 that only grows (modulo 2^32) and that one RISC writes; any number of the core's RISCs may wait for it. The
 * host clears it before a launch. */

/* Waits until it has reached `value`. */
static inline void devlog_semaphore_wait(uint32_t address, uint32_t value)
{
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)address;
    DEVLOG_WANTS_("DEVLOG-WAIT-SEMAPHORE", address, value, (int32_t)(*word - value) < 0, DEVLOG_ORDER_FRONT);
    /* As of a page: what it stands for may be in the data cache. */
    do
        DEVLOG_FENCE(DEVLOG_ORDER_FRONT);
    while ((int32_t)(*word - value) < 0);
    DEVLOG_ORDER_COMPILER_();
}

/* Raises it to `value`, one more than it was: so everybody who waits for that is let go on. */
static inline void devlog_semaphore_post(uint32_t address, uint32_t value)
{
    DEVLOG_GIVES_(address, value);
    DEVLOG_ORDER_COMPILER_();
    *(volatile uint32_t *)(uintptr_t)address = value;
}

#ifdef __cplusplus
}
#endif

#endif
