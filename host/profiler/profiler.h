/* The profiler of a device: after each launch, pulls the records of every core that ran and writes the log.
 */
#ifndef DEVLOG_PROFILER_PROFILER_H
#define DEVLOG_PROFILER_PROFILER_H

#include "device/device.h"
#include "profiler/kept.h"
#include "profiler/meter.h"
#include "profiler/pull.h"
#include "program/program.h"

/* Totals over the life of a device. */
typedef struct profiler_totals {
    uint64_t launches;
    uint64_t records;       /* decoded, without the default markers */
    uint64_t dropped;       /* counted by the device as found no place */
    uint64_t overwritten;   /* counted by the device as overwritten in the ring */
    uint64_t damaged_words; /* words that belong to no record */
    uint64_t record_bytes;  /* bytes of the records that were pulled */
    uint64_t bytes_read;    /* bytes that pulling them read, control words included */
} profiler_totals;

/* Makes the log ready, so that a folder that cannot be written is said before anything runs. */
devlog_status profiler_prepare(devlog_device *device, devlog_error *err);

/* Closes the logs that are open; they are opened anew in the device's log folder when there is something to write. */
devlog_status profiler_end_log(devlog_device *device, devlog_error *err);

/* Pulls the records of the last launch and appends them to the log. Does nothing when there was no launch
 * since. */
devlog_status profiler_dump(devlog_device *device, devlog_error *err);

/* A capture of the launches that the device keeps in memory; empty when none has been pulled yet.
 * DEVLOG_ERR_STATE when it does not keep them. */
devlog_status profiler_kept(const devlog_device *device, kept_which which, dl_str *out, devlog_error *err);

/* Between the two the meter is on (meter.h). What it has measured is the caller's, who frees out->spans. */
typedef struct profiler_metered {
    meter_span *spans;
    size_t n;
    bool missing;     /* launches that were not measured */
    bool has[2];      /* by devlog_memory: there is such a memory */
    uint64_t peak[2]; /* the most that buffers held, bytes */
} profiler_metered;
devlog_status profiler_meter_begin(devlog_device *device, devlog_error *err);
void profiler_meter_end(devlog_device *device, profiler_metered *out);

const profiler_totals *profiler_totals_of(const devlog_device *device);

/* Closes the logs, and frees what the profiler attached to the device in any case. Fails when not everything
 * could be written: the first failure is told. */
devlog_status profiler_free(devlog_device *device, devlog_error *err);

#endif
