/* What the host's clocks show at one moment, and what the kernel says of how far its time of day may be off. Not for the clocks of
 * chips (decode/clock), nor for what follows from such readings (ranks/). */
#ifndef DEVLOG_BASE_HOST_CLOCK_H
#define DEVLOG_BASE_HOST_CLOCK_H

#include <stdint.h>

#define DL_CLOCK_UNKNOWN UINT64_MAX

/* CLOCK_REALTIME showed `real` at some moment between `before` and `after` of CLOCK_MONOTONIC; all in ns. */
typedef struct dl_clock_reading {
    uint64_t before, after, real;
    /* By how much `real` may be off at most, and is likely to be, as the kernel has it from whoever sets it by others (adjtimex:
     * maxerror, esterror); DL_CLOCK_UNKNOWN: nobody does (STA_UNSYNC). */
    uint64_t most, likely;
} dl_clock_reading;

void dl_clock_read(dl_clock_reading *out);

/* What CLOCK_MONOTONIC of two processes of one boot has to have in common to be one clock: the inode of their time namespace
 * (time_namespaces(7)); 0: the kernel has none. */
uint64_t dl_clock_namespace(void);

#endif
