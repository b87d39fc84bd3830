/* Getting a card to oneself: opening its node, which driver that is, who else has it. Not for windows
 * (kmd.c). */
#ifndef DEVLOG_TRANSPORT_KMD_OWNER_H
#define DEVLOG_TRANSPORT_KMD_OWNER_H

#include <stdbool.h>

#include "base/error.h"
#include "transport/kmd.h"

enum {
    KMD_LOCK_INDEX = 63, /* of the driver's 64 locks: 0-15 are for Ethernet cores (ioctl.h); devlog's own */
    KMD_HOLDERS_TEXT = 200,
};

/* Who has a card open, besides this process, as "python3 (pid 12), ..."; "" when nobody has. False when the
 * driver does not tell (before 2.5.0). Those who only look (devlog itself) are left out unless `all`. */
bool kmd_holders(const kmd_system *system, const char *path, bool all, char *text, size_t size);

/* Opens the node. To use it (`own`): nobody else must have it, or -EAGAIN comes after `wait_s` seconds; to
 * look at it: at once, whoever has it. *fd is closed again when this fails. */
devlog_status kmd_take(const kmd_system *system, const char *path, bool own, uint64_t wait_s, int *fd,
                       kmd_driver_info *driver, devlog_error *err);

/* True when the driver is of this version or newer. */
bool kmd_at_least(const kmd_driver_info *driver, uint8_t major, uint8_t minor);

#endif
