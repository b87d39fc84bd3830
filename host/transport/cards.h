/* Tenstorrent cards as Linux shows them: PCI devices, and the nodes that their driver makes of them. */
#ifndef DEVLOG_TRANSPORT_CARDS_H
#define DEVLOG_TRANSPORT_CARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct card_info {
    char path[280]; /* /dev/tenstorrent/N, or the PCI address when there is no node */
    uint32_t vendor, device;
    bool in_use;
    char wrong[320]; /* what is wrong with it, or who has it, and what to do; "" when it can be had */
} card_info;

struct kmd_system;

/* All of them: by number, then those without a node. Nothing of a card is touched, and its power state stays; at once,
 * whoever has it. `system` NULL: that of Linux. The list is the caller's: free(). */
devlog_status cards_list(const struct kmd_system *system, card_info **list, size_t *n, devlog_error *err);

#endif
