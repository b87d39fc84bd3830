/* Tenstorrent cards as Linux shows them: PCI devices, and the nodes that their driver makes of them. */
#ifndef DEVLOG_TRANSPORT_CARDS_H
#define DEVLOG_TRANSPORT_CARDS_H

#include <stdbool.h>

#include "base/error.h"

typedef struct card_info {
    char path[280]; /* /dev/tenstorrent/N, or the PCI address when there is no node */
    uint32_t vendor, device;
    char wrong[320]; /* what is wrong with it and what to do; "" when it can be opened */
} card_info;

/* All of them, by path. The list is the caller's: free(). */
devlog_status cards_list(card_info **list, size_t *n, devlog_error *err);

#endif
