/* What a program wants of its device beyond how to reach it. */
#ifndef DEVLOG_DEVICE_WISHES_H
#define DEVLOG_DEVICE_WISHES_H

#include "device/device.h"

/* Members that are AUTO or NULL are as the environment says. *profile: whether the device is profiled.
 * out->postmortem is to be freed, also after a failure. */
devlog_status device_wish(const devlog_device_options *options, device_wishes *out, bool *profile,
                          devlog_error *err);

#endif
