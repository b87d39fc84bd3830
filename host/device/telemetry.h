/* Asking the management core of a chip (ARC): its telemetry table, and which columns or rows are switched
 * off. Reads and writes nothing but that core's tile. Not for what is made of the answers (harvest.c).
 * Sources: see telemetry.c. */
#ifndef DEVLOG_DEVICE_TELEMETRY_H
#define DEVLOG_DEVICE_TELEMETRY_H

#include "device/board.h"
#include "transport/transport.h"

/* Tags of the table. 4, HARVESTING_STATE, is none of them: it reads 0 whatever is switched off. */
enum {
    TELEMETRY_AICLK = 14,
    TELEMETRY_ENABLED_COLUMNS = 34,
    TELEMETRY_ENABLED_DRAM = 36,
    TELEMETRY_TRANSLATION = 40,
    TELEMETRY_AICLK_MAX = 63,
};

enum { TELEMETRY_MAX_TAGS = 256 };

typedef struct telemetry {
    bool there;
    char why[96]; /* when it is not there */
    uint32_t n;
    uint32_t tags[TELEMETRY_MAX_TAGS]; /* tag in the low half, place of its value in the high half */
    uint64_t values;                   /* address */
} telemetry;

/* Finds the table. A chip without one is no failure: `there` is false, and `why` says what was found. */
devlog_status telemetry_find(dl_transport *t, const board *b, telemetry *out, devlog_error *err);

/* The value of a tag now; *found false when the table has not got it. */
devlog_status telemetry_read(dl_transport *t, const board *b, const telemetry *table, uint32_t tag,
                             uint32_t *value, bool *found, devlog_error *err);

/* By message: one bit for each fuse that is blown. *found false, and `why`, when the core does not answer. */
devlog_status telemetry_harvested(dl_transport *t, const board *b, uint32_t *bits, bool *found, char *why,
                                  size_t why_size, devlog_error *err);

#endif
