/* Expectations of kernels that a launch did not meet: into its logs, and when it has been pulled to the user's function; the ring
 * is frozen then, so that what led there is kept. What is expected is judged by expect.h. */
#ifndef DEVLOG_PROFILER_VIOLATIONS_H
#define DEVLOG_PROFILER_VIOLATIONS_H

#include "decode/log/log_write.h"
#include "profiler/capture_log.h"
#include "profiler/expect.h"

/* Of the launch in hand. */
typedef struct violations {
    struct violation_kept *items;
    size_t n, cap;
    uint64_t all; /* since the device was opened */
} violations;

/* What one RISC's records are held against, and where it is said. */
typedef struct violations_of {
    devlog_device *device;
    const devlog_kernel *kernel; /* NULL: none ran */
    const pulled *got;
    dl_tables *tables;
    const dl_marks *marks;
    bool complete; /* no record is missing */
    dl_device_log *log;
    capture_log *capture;
    const dl_row *like; /* where and when, for rows of the log */
} violations_of;

devlog_status violations_find(violations *v, const violations_of *of, devlog_error *err);
/* The launch has been pulled and written: freezes a ring, and calls the user's function for each. */
devlog_status violations_tell(violations *v, devlog_device *device, devlog_error *err);
void violations_free(violations *v);

#endif
