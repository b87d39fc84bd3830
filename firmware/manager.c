/* Firmware of the manager (BRISC): takes launch messages from the mailbox, starts the workers, runs its own
 * kernel, waits for the workers, reports done. */
#include "clock_sync.h"
#include "records.h"
#include "run.h"

static void wait_for_workers(volatile devlog_mailbox *mailbox, uint32_t launch)
{
    for (uint32_t i = 1; i < DEVLOG_RISC_COUNT; i++) {
        while (mailbox->risc[i].done != launch)
            DEVLOG_FENCE(DEVLOG_ORDER_DONE);
    }
}

/* The host has written new code: no RISC may run what its cache still holds. The register cannot be read, but others of its region
 * can: the store has been processed when one that is read behind it has its value. For the load to be behind the store there is a
 * fence on Blackhole, and on Wormhole three further stores (MemoryOrdering.md, "Enforcing stronger ordering"). */
static void forget_old_code(volatile devlog_mailbox *mailbox, uint32_t launch)
{
#if defined(DEVLOG_ICACHE_INVALIDATE)
    *(volatile uint32_t *)(uintptr_t)DEVLOG_ICACHE_INVALIDATE = (1u << DEVLOG_RISC_COUNT) - 1u;
#if defined(DEVLOG_DATA_CACHE)
    DEVLOG_FENCE(DEVLOG_ORDER_CODE);
#else
    for (uint32_t i = 0; i < 3; i++)
        mailbox->risc[DEVLOG_RISC].go = launch;
#endif
    DEVLOG_READ_BACK(DEVLOG_ORDER_CODE, DEVLOG_ICACHE_INVALIDATE & 0xFFFF0000u);
#endif
    (void)mailbox, (void)launch;
}

void firmware_main(void)
{
    volatile devlog_mailbox *mailbox = run_mailbox();
    uint32_t launch = mailbox->done;
    records_boot();
#if defined(DEVLOG_WORKER_RESETS)
    volatile uint32_t *reset = (volatile uint32_t *)(uintptr_t)DEVLOG_SOFT_RESET;
    *reset = *reset & ~DEVLOG_WORKER_RESETS;
#endif
    for (uint32_t i = 1; i < DEVLOG_RISC_COUNT; i++) {
        while (mailbox->risc[i].up != DEVLOG_MAGIC)
            DEVLOG_FENCE(DEVLOG_ORDER_UP);
    }
    mailbox->risc[DEVLOG_RISC].up = DEVLOG_MAGIC;
    mailbox->ready = DEVLOG_MAGIC;

    for (;;) {
        for (;;) {
            DEVLOG_FENCE(DEVLOG_ORDER_GO);
            if (mailbox->go != launch) break;
            clock_sync(mailbox);
        }
        launch = mailbox->go;
        records_begin(launch, mailbox->host_id);
        forget_old_code(mailbox, launch);
        for (uint32_t i = 1; i < DEVLOG_RISC_COUNT; i++)
            mailbox->risc[i].go = launch;
        run_kernel(mailbox);
        mailbox->risc[DEVLOG_RISC].done = launch;
        wait_for_workers(mailbox, launch);
        records_mark(DEVLOG_ID_FW_END, DEVLOG_STATE_IDLE);
        mailbox->done = launch;
    }
}
