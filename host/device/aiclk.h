/* How fast an opened card runs: waits until its clock has settled, and measures it. */
#ifndef DEVLOG_DEVICE_AICLK_H
#define DEVLOG_DEVICE_AICLK_H

#include "device/device.h"

/* Cards only, after their grid is known; sets device->aiclk_khz and device->measured_khz. Nothing of a program runs yet. */
devlog_status aiclk_settle(devlog_device *device, devlog_error *err);

#endif
