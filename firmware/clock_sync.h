/* Comparing clocks while no program runs: the manager answers messages with its clock, and exchanges messages
 * with another core's manager when the host asks (devlog/record.h, struct devlog_mailbox). Without
 * -DPROFILE_DEVICE all of it is empty. */
#ifndef DEVLOG_FIRMWARE_CLOCK_SYNC_H
#define DEVLOG_FIRMWARE_CLOCK_SYNC_H

#include "devlog/record.h"

#if defined(PROFILE_DEVICE)
void clock_sync_answer(volatile devlog_mailbox *mailbox);
void clock_sync_exchange(volatile devlog_mailbox *mailbox);

/* Looks once whether there is something to do. */
static inline void clock_sync(volatile devlog_mailbox *mailbox)
{
    if (mailbox->link_in[0] != 0) clock_sync_answer(mailbox);
    if (mailbox->sync.go != mailbox->sync.done) clock_sync_exchange(mailbox);
}
#else
static inline void clock_sync(volatile devlog_mailbox *mailbox)
{
    (void)mailbox;
}
#endif

#endif
