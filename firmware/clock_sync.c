/* Comparing clocks: see the header. */
#include "clock_sync.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile.h"
#include "noc.h"

/* Looks at link_in before an exchange is given up: some milliseconds. */
#define PATIENCE 1000000u

static void send(volatile devlog_mailbox *mailbox, uint32_t peer)
{
#if defined(DEVLOG_NOC0_REGS)
    const uint32_t base = DEVLOG_MAILBOX;
    if (peer == DEVLOG_PEER_HOST || peer == DEVLOG_PEER_LINK) return;
    const uint32_t out =
        base + __builtin_offsetof(devlog_mailbox, link_out); /* its first word is stored last */
    noc_write(out, out, peer, base + __builtin_offsetof(devlog_mailbox, link_in), sizeof mailbox->link_out);
    noc_wait();
#else
    (void)mailbox;
    (void)peer;
#endif
}

static uint32_t here(void)
{
#if defined(DEVLOG_NOC0_REGS)
    return *(volatile uint32_t *)(uintptr_t)(NOC_REGS + DEVLOG_NOC_ID) & 0xFFFu;
#else
    return DEVLOG_PEER_LINK;
#endif
}

void clock_sync_answer(volatile devlog_mailbox *mailbox)
{
    uint64_t clock = devlog_clock();
    uint32_t number = mailbox->link_in[0], peer = mailbox->link_in[1];
    mailbox->link_in[0] = 0;
    if (number & 1u) return; /* an answer that came too late */
    mailbox->link_out[1] = peer;
    mailbox->link_out[2] = (uint32_t)clock;
    mailbox->link_out[3] = (uint32_t)(clock >> 32);
    mailbox->link_out[0] = number | 1u; /* last: now it is whole */
    send(mailbox, peer);
}

void clock_sync_exchange(volatile devlog_mailbox *mailbox)
{
    uint32_t go = mailbox->sync.go, peer = mailbox->sync.peer, best = 0xFFFFFFFFu;
    mailbox->sync.there[0] = mailbox->sync.there[1] = 0;
    mailbox->sync.sent[0] = mailbox->sync.sent[1] = 0;
    mailbox->sync.back[0] = mailbox->sync.back[1] = 0;
    for (uint32_t round = 0; round < mailbox->sync.rounds; round++) {
        uint32_t number = (go << 6 | (round & 31u) << 1) & ~1u, patience = PATIENCE;
        mailbox->link_out[1] = peer == DEVLOG_PEER_LINK ? peer : here();
        uint64_t sent = devlog_clock();
        mailbox->link_out[0] = number;
        send(mailbox, peer);
        while (mailbox->link_in[0] != (number | 1u) && --patience)
            DEVLOG_FENCE(DEVLOG_ORDER_ANSWER);
        uint64_t back = devlog_clock();
        uint32_t low = mailbox->link_in[2], high = mailbox->link_in[3];
        mailbox->link_in[0] = 0;
        if (patience == 0) break;
        if ((uint32_t)(back - sent) >= best) continue;
        best = (uint32_t)(back - sent);
        mailbox->sync.sent[0] = (uint32_t)sent;
        mailbox->sync.sent[1] = (uint32_t)(sent >> 32);
        mailbox->sync.there[0] = low;
        mailbox->sync.there[1] = high;
        mailbox->sync.back[0] = (uint32_t)back;
        mailbox->sync.back[1] = (uint32_t)(back >> 32);
    }
    mailbox->sync.done = go;
}

#endif
