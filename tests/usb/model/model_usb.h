/* Device models on the USB of a test bed: the real libusb finds them, in this process (which must be linked
 * with or preload libumockdev-preload) and in those that it starts with the environment that model_bus_env
 * sets. */
#ifndef DEVLOG_TESTS_USB_MODEL_USB_H
#define DEVLOG_TESTS_USB_MODEL_USB_H

#include "usb/model/model.h"

typedef struct model_bus model_bus;

model_bus *model_bus_new(void);
void model_bus_free(model_bus *b);
/* Plugs a probe into port 1, 2, .. of bus 1. `hid_only`: an old one that speaks only CMSIS-DAP v1. The model
 * is borrowed. */
void model_bus_plug(model_bus *b, model *m, bool hid_only);
/* Lets only root open them, and the program of model_bus_env look at the bus under any user. */
void model_bus_forbid(model_bus *b);
/* Another program has claimed the interfaces of all of them. */
void model_bus_take(model_bus *b, bool taken);
/* Plugs all probes that were unplugged in again. */
void model_bus_replug(model_bus *b);
/* Holds the models still while a test looks at them or arms a fault. */
void model_bus_lock(model_bus *b);
void model_bus_unlock(model_bus *b);
/* URBs that were submitted and neither completed nor cancelled. */
uint32_t model_bus_in_flight(model_bus *b);
/* Sets LD_PRELOAD, UMOCKDEV_DIR and what sanitizers need, for programs started from here. */
void model_bus_env(model_bus *b);

#endif
