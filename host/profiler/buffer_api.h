/* What closing a device does with its buffers. */
#ifndef DEVLOG_PROFILER_BUFFER_API_H
#define DEVLOG_PROFILER_BUFFER_API_H

#include "device/device.h"

/* Says on stderr which buffers were not freed, and writes to the log of ops that the device is closed. */
void buffers_close(devlog_device *device);

#endif
