/* The self test of a board: memory, clock, a kernel on every RISC, its markers, and the count of those that
 * find no place. */
#ifndef DEVLOG_PROFILER_SELFTEST_H
#define DEVLOG_PROFILER_SELFTEST_H

#include "device/device.h"

typedef struct selftest_line {
    const char *check; /* "memory", "start", "results", "clock", "markers", "drops" */
    bool ok;
    char found[256]; /* what was found, or what is wrong and where */
} selftest_line;

typedef struct selftest_options {
    uint32_t cores; /* the first so many; 0: all */
} selftest_options;

/* Calls fn for every check, in order; the rest is left out when one fails that it depends on. The device must
 * be profiled. *failed: how many checks have failed. DEVLOG_OK means that the test could be made. */
typedef devlog_status selftest_fn(void *context, const selftest_line *line, devlog_error *err);
devlog_status selftest_run(devlog_device *device, const selftest_options *options, selftest_fn *fn,
                           void *context, uint32_t *failed, devlog_error *err);

#endif
