/* Counting calls of the public functions, by the names of tt-metal. */
#ifndef DEVLOG_PROFILER_API_H
#define DEVLOG_PROFILER_API_H

#include "device/device.h"

/* Counts a call that began at `start` (dl_now_ns), and the bytes that a read or a write moved, when it succeeded; returns
 * `status`. */
devlog_status api_counted(devlog_device *device, devlog_api api, uint64_t start, size_t bytes,
                          devlog_status status);

#endif
