/* Firmware of a worker (NCRISC, TRISC0-2): waits for the manager, runs its kernel, reports done. */
#include "records.h"
#include "run.h"

void firmware_main(void)
{
    volatile devlog_mailbox *mailbox = run_mailbox();
    uint32_t launch = mailbox->risc[DEVLOG_RISC].go;
    records_boot();
    mailbox->risc[DEVLOG_RISC].up = DEVLOG_MAGIC;
    for (;;) {
        do
            DEVLOG_FENCE(DEVLOG_ORDER_WORK);
        while (mailbox->risc[DEVLOG_RISC].go == launch);
        launch = mailbox->risc[DEVLOG_RISC].go;
        records_begin(launch, mailbox->host_id);
        run_kernel(mailbox);
        records_mark(DEVLOG_ID_FW_END, DEVLOG_STATE_IDLE);
        mailbox->risc[DEVLOG_RISC].done = launch;
    }
}
