/* What a device's buffers add to the log of ops: each allocation and each free, with the op that is open and the line of the
 * program. docs/op-reports.md, "The op log". */
#ifndef DEVLOG_PROFILER_OPS_MEMORY_H
#define DEVLOG_PROFILER_OPS_MEMORY_H

#include "device/buffers.h"

/* Each does nothing when the device logs no ops. */
void ops_buffer_made(devlog_device *device, const device_buffer *b, uint64_t limit);
void ops_buffer_freed(devlog_device *device, const device_buffer *b, const char *file, uint32_t line);
/* The device is closed: what still lives goes with it. Nothing when it has made no buffers. */
void ops_buffers_closed(devlog_device *device);

#endif
