/* What manager and worker have in common: the mailbox, and running a kernel between its two markers. */
#ifndef DEVLOG_FIRMWARE_RUN_H
#define DEVLOG_FIRMWARE_RUN_H

#include <stdint.h>

#include "devlog/order.h"
#include "devlog/record.h"
#include "devlog_board.h"
#include "records.h"

void firmware_main(void);

/* Returns when this is the first start since the host cleared the mailbox. Otherwise the launch that was in
 * flight cannot go on, and what it has recorded is kept: counts the restart, tells the host, and stops. In
 * front of everything else, so it uses neither stack nor variables: it may be another RISC that came here. `from` is
 * where it would return to, which tells the host whose kernel it is in. */
void firmware_see_restart(uint32_t from);

static inline volatile devlog_mailbox *run_mailbox(void)
{
    return (volatile devlog_mailbox *)(uintptr_t)DEVLOG_MAILBOX;
}

/* The host has written new code: what this RISC still holds of the old is to be forgotten. The numbers are
 * fence.i, which not every assembler takes for every architecture. */
static inline void run_see_new_code(void)
{
#if defined(DEVLOG_ICACHE_INVALIDATE) && DEVLOG_WITHOUT_FENCE != DEVLOG_ORDER_PIPELINE
    /* The caches have been emptied, but not the pipelines behind them: 20 instructions may have been fetched before
     * (WormholeB0/TensixTile/BabyRISCV/InstructionCache.md). */
    __asm__ __volatile__(".rept 20\n\tnop\n\t.endr" ::: "memory");
#endif
#if defined(DEVLOG_ICACHE_REWRITE)
    extern volatile uint32_t devlog_kernel_slot[], devlog_kernel_slot_end[];
    for (volatile uint32_t *word = devlog_kernel_slot; word < devlog_kernel_slot_end; word++)
        *word = *word;
#endif
#if defined(DEVLOG_ICACHE_REWRITE) || defined(DEVLOG_ICACHE_FENCE)
    __asm__ __volatile__(".4byte 0x0000100f" ::: "memory");
#endif
}

/* Runs the kernel of this RISC, if the launch has one. */
static inline void run_kernel(volatile devlog_mailbox *mailbox)
{
    uint32_t entry = mailbox->risc[DEVLOG_RISC].entry;
    if (entry == 0) {
        records_finish();
        return;
    }
    run_see_new_code();
    records_mark(DEVLOG_ID_KERNEL_START, DEVLOG_STATE_KERNEL);
    ((void (*)(void))(uintptr_t)entry)();
    records_mark(DEVLOG_ID_KERNEL_END, DEVLOG_STATE_FW);
    records_finish();
}

#endif
