/* What the host tells the profiler of each RISC before a launch: mode, where to stream, frozen or not. */
#ifndef DEVLOG_PROFILER_CONTROL_H
#define DEVLOG_PROFILER_CONTROL_H

#include "program/program.h"

/* Where a RISC streams its records: NoC 0 coordinates of a DRAM tile, address in it. */
typedef struct stream_place {
    uint8_t x, y;
    uint32_t base;
} stream_place;

/* False when the device does not stream. */
bool stream_place_of(const devlog_device *device, devlog_core core, uint32_t risc, stream_place *out);

/* Bytes at the end of each DRAM tile that streams of records take, or will when profiling begins; 0: none. */
uint64_t stream_bytes_of(const devlog_device *device);

/* Tells the cores of a program, unless they have been told. */
devlog_status control_arm(devlog_device *device, devlog_program *program, devlog_error *err);

#endif
