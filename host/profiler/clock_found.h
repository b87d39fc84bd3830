/* What the reader of this run's capture will find about the clock, for the device log, which has no samples of it. */
#ifndef DEVLOG_PROFILER_CLOCK_FOUND_H
#define DEVLOG_PROFILER_CLOCK_FOUND_H

#include "profiler/clock_sync.h"

/* How many findings (decode/clock/clock_findings.h) the samples so far give. */
devlog_status clocks_found(const devlog_device *device, uint64_t *n, devlog_error *err);

#endif
