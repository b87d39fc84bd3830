/* What manager and worker have in common: the mailbox, and running a kernel between its two markers. */
#ifndef DEVLOG_FIRMWARE_RUN_H
#define DEVLOG_FIRMWARE_RUN_H

#include <stdint.h>

#include "devlog/record.h"
#include "devlog_board.h"
#include "records.h"

void firmware_main(void);

static inline volatile devlog_mailbox *run_mailbox(void)
{
    return (volatile devlog_mailbox *)(uintptr_t)DEVLOG_MAILBOX;
}

/* Runs the kernel of this RISC, if the launch has one. */
static inline void run_kernel(volatile devlog_mailbox *mailbox)
{
    uint32_t entry = mailbox->risc[DEVLOG_RISC].entry;
    if (entry == 0) {
        records_finish();
        return;
    }
    records_mark(DEVLOG_ID_KERNEL_START, DEVLOG_STATE_KERNEL);
    ((void (*)(void))(uintptr_t)entry)();
    records_mark(DEVLOG_ID_KERNEL_END, DEVLOG_STATE_FW);
    records_finish();
}

#endif
