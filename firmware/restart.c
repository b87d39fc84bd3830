/* The firmware was started again without the host: see run.h. */
#include "run.h"

void firmware_see_restart(void)
{
    volatile devlog_mailbox *mailbox = run_mailbox();
    if (mailbox->risc[DEVLOG_RISC].up == 0) return;
    records_restarted();
    mailbox->risc[DEVLOG_RISC].up = DEVLOG_RESTARTED;
    for (;;) {
    }
}
