/* The meter: when launches ran, and the most that buffers held, between two moments of a program; for devlog_timed. */
#ifndef DEVLOG_PROFILER_METER_H
#define DEVLOG_PROFILER_METER_H

#include "profiler/pull.h"

/* Cycles of the clock of the first core that booted. */
typedef struct meter_span {
    uint64_t start, end;
} meter_span;

typedef struct meter {
    bool on, no_memory;
    bool any;          /* something of the launch in hand */
    meter_span launch; /* in hand */
    meter_span *spans; /* of launches that have been pulled */
    size_t n, cap;
} meter;

/* A RISC of the launch in hand has been pulled: its firmware's start and end. */
void meter_risc(meter *m, const devlog_device *device, const pulled *got);
/* The launch in hand is complete. */
void meter_launch(meter *m);

#endif
