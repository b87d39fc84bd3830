/* The firmware was started again without the host: see run.h. */
#include "run.h"

void firmware_see_restart(uint32_t from)
{
    volatile devlog_mailbox *mailbox = run_mailbox();
    if (mailbox->risc[DEVLOG_RISC].up == 0) return;
    records_restarted();
    mailbox->restarted_from = from;
    mailbox->risc[DEVLOG_RISC].up = DEVLOG_RESTARTED;
    for (;;) {
    }
}
