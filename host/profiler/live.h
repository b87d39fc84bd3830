/* Zones of a launch to Tracy, when its records have been pulled (DEVLOG_HOST=tracy). Not for what is sent (outlets/tracy.h). */
#ifndef DEVLOG_PROFILER_LIVE_H
#define DEVLOG_PROFILER_LIVE_H

#include "device/device.h"
#include "profiler/kept.h"

/* Whether zones of devices are wanted; the first call finds Tracy. */
bool live_wanted(void);
/* `launch` is the last one that has been kept. What cannot be decoded is not sent: the capture says what is wrong with it. */
devlog_status live_send(const devlog_device *device, const kept *launch, devlog_error *err);

#endif
