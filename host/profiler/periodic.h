/* Periodic capture: of every Nth launch on, for some launches or some time, what markers record is pulled into a folder of its own,
 * "capture-000001" and on; in the launches between, markers are switched off and nothing is pulled. Old folders make room for new
 * ones, but for those in which something was not as a kernel expects. */
#ifndef DEVLOG_PROFILER_PERIODIC_H
#define DEVLOG_PROFILER_PERIODIC_H

#include "device/device.h"

typedef struct dl_periodic dl_periodic;

/* Whether captures of this device are periodic. */
bool periodic_on(const devlog_device *device);
/* Whether the launch in hand is one of those between captures. */
bool periodic_between(const devlog_device *device);
/* Before any launch: what is there when captures are periodic. */
devlog_status periodic_open(devlog_device *device, devlog_error *err);
/* Before a launch: begins a capture, or goes on with one, or switches markers off. */
devlog_status periodic_before(devlog_device *device, devlog_error *err);
/* Before a launch that failed between captures is pulled: it has a capture, whatever was asked for. */
devlog_status periodic_failed(devlog_device *device, devlog_error *err);
/* When the launch has been pulled: ends the capture when it has all that it should have. */
devlog_status periodic_after(devlog_device *device, devlog_error *err);
/* Something was not as expected: `text` says it, and the capture stays. */
devlog_status periodic_violated(devlog_device *device, const devlog_violation *v, devlog_error *err);
/* Ends the capture in hand; later ones are below another folder. */
devlog_status periodic_move(devlog_device *device, const char *folder, devlog_error *err);
/* Ends the capture in hand, when the device is closed. */
devlog_status periodic_close(devlog_device *device, devlog_error *err);

#endif
