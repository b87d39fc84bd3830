/* Pulling: reading what one RISC has recorded, control words first, then just the words that were written. */
#ifndef DEVLOG_PROFILER_PULL_H
#define DEVLOG_PROFILER_PULL_H

#include "decode/capture/records.h"
#include "device/device.h"

typedef struct pulled {
    devlog_core core;
    uint32_t risc;
    devlog_control control;
    bool alive;    /* the control block belongs to the launch that was asked for */
    bool finished; /* the kernel has returned: where its records end is known */
    bool damaged;  /* control words that cannot be, or something behind the records: control.damage says */
    bool stray;    /* words behind the end of the records that were read as if they belonged to them */
    uint32_t record_bytes; /* of every one of its records but sums, with gaps behind those that need fewer; 0:
                              packed */
    bool cut;              /* the device failed before all of them were read */
    uint32_t *words;       /* all spans, one after the other; freed by pulled_free */
    uint32_t n_words;
    record_span spans[DEVLOG_SEGMENTS +
                      1]; /* what was streamed, then segments; in the order in which they were written */
    uint32_t n_spans;
} pulled;

/* Reads the records of one RISC for launch number `launch`. With `clear`, overwrites them with zeros on the
 * device, so that the end of the next ones can be found even when the core hangs. After a failure, what had
 * been read until then is in *out; it is the caller's in any case (pulled_free). */
devlog_status pull_risc(devlog_device *device, devlog_core core, uint32_t risc, uint32_t launch, bool clear,
                        pulled *out, devlog_error *err);
void pulled_free(pulled *p);

/* The event stream of a core's tile, whose manager has been pulled. */
typedef struct pulled_events {
    uint32_t *words; /* freed by the caller */
    uint32_t n_words;
    bool overflow; /* there were more, and the hardware does not say how many */
} pulled_events;

devlog_status pull_events(devlog_device *device, const pulled *manager, pulled_events *out,
                          devlog_error *err);

#endif
