/* sync_device_info.csv: how tt-metal compared its devices' clocks with the host's (TT_METAL_PROFILER_SYNC=1;
 * tt_metal_profiler.cpp). A device beside the host was compared by samples, to which a line was fitted: cycles = delay +
 * frequency * ns of the host since host_start; another one with a device before it: its scale and shift. */
#ifndef DEVLOG_TT_METAL_SYNC_H
#define DEVLOG_TT_METAL_SYNC_H

#include "tt_metal/lines.h"

#define TT_SYNC_NAME "sync_device_info.csv"

typedef struct tt_sync_device {
    uint32_t device;
    bool by_host;        /* the fit is its own; otherwise that of the device which is */
    double frequency;    /* cycles per ns */
    double delay;        /* cycles */
    double origin;       /* of the fit, ns since Tracy's beginning */
    double scale, shift; /* its cycles * scale + shift are cycles of the device by host */
    uint64_t samples;
} tt_sync_device;

typedef struct tt_sync {
    tt_sync_device *items;
    size_t n;
} tt_sync;

devlog_status tt_sync_read(tt_sync *s, const char *path, tt_found *found, devlog_error *err);
devlog_status tt_sync_parse(tt_sync *s, const void *bytes, size_t n, tt_found *found, devlog_error *err);
void tt_sync_free(tt_sync *s);
/* When a cycle of a device was, in ns of the host as tracy_ops_times.csv has them. False: not known. */
bool tt_sync_host(const tt_sync *s, uint32_t device, uint64_t cycle, double *ns);

#endif
