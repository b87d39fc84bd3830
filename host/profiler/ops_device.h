/* What a device adds to the log of ops (ops/op_log_write.h), and what it shares with the other programs of
 * its run. */
#ifndef DEVLOG_PROFILER_OPS_DEVICE_H
#define DEVLOG_PROFILER_OPS_DEVICE_H

#include "ops/op_log_write.h"
#include "program/program.h"

/* Writes a device to the log, unless it is there. */
void ops_tell_device(ops_thread *t, devlog_device *device);
/* Before a launch: writes it to the log, and makes the op's id the one that the launch carries. */
void ops_launch(devlog_device *device, devlog_program *program);
/* Whether the run of a device has begun the device logs in its folder before; from now on it has. The folder
 * is made when it is missing. */
devlog_status ops_began(devlog_device *device, bool *began, devlog_error *err);
/* The device writes no more. */
void ops_leave(devlog_device *device);

#endif
