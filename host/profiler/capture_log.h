/* The capture of a device: what was pulled, as it was pulled, with the clocks' samples, in the log folder
 * beside the CSV (decode/capture/capture.h). Not for pulling (pull.c) or sampling (clock_sync.c). */
#ifndef DEVLOG_PROFILER_CAPTURE_LOG_H
#define DEVLOG_PROFILER_CAPTURE_LOG_H

#include "decode/capture/capture.h"
#include "profiler/clock_sync.h"
#include "profiler/kept.h"
#include "profiler/pull.h"

typedef struct capture_log capture_log;

/* Opens it in the device's log folder; `append`: the device has written there before. What is written is also
 * handed to `memory`, which is borrowed. When neither file nor memory is wanted, *out is NULL, which every
 * function here takes. */
devlog_status capture_log_open(capture_log **out, devlog_device *device, bool append, kept *memory,
                               devlog_error *err);

/* One core of the launch in hand: what its RISCs have recorded, and the event stream of its tile. */
devlog_status capture_log_core(capture_log *log, const devlog_program *program, const pulled *riscs,
                               uint32_t n_riscs, const pulled_events *events, uint64_t events_from,
                               devlog_error *err);
/* Where the cycles of that core's RISCs went, if the device knows. */
devlog_status capture_log_cycles(capture_log *log, const devlog_program *program, devlog_core core,
                                 devlog_error *err);
/* An expectation that a core did not meet, before that core. */
devlog_status capture_log_violation(capture_log *log, const dl_capture_violation *v, devlog_error *err);
/* The launch is complete: writes it, and what is new of the clocks. */
devlog_status capture_log_commit(capture_log *log, const dl_capture_launch *launch, devlog_error *err);
/* Writes what is left of the clocks, and closes. */
devlog_status capture_log_close(capture_log *log, devlog_error *err);

#endif
