/* CMSIS-DAP v2 probes on USB: finding and opening them. */
#ifndef DEVLOG_TRANSPORT_USB_PROBE_H
#define DEVLOG_TRANSPORT_USB_PROBE_H

#include <stdbool.h>

#include "transport/usb_link.h"

typedef enum usb_probe_state {
    USB_PROBE_READY,
    USB_PROBE_NO_ACCESS, /* this user may not open it */
    USB_PROBE_BUSY,      /* another program has it */
    USB_PROBE_OLD,       /* it speaks only CMSIS-DAP v1 (HID) */
    USB_PROBE_BROKEN,
} usb_probe_state;

typedef struct usb_probe_info {
    char path[40]; /* as Linux names it: bus-port.port */
    char serial[80], product[80];
    uint16_t vendor, device;
    usb_probe_state state;
    char wrong[320]; /* what is wrong with it and what to do; "" when ready */
} usb_probe_info;

/* Everything on the USB that calls itself CMSIS-DAP. The list is the caller's: free(). */
devlog_status usb_probes_list(usb_probe_info **list, size_t *n, devlog_error *err);

typedef struct usb_probe usb_probe;

/* Opens the probe with this serial number or bus path; NULL or "": the only one there is. Several and no
 * choice, or none, is an error that lists them. */
devlog_status usb_probe_open(const char *which, uint32_t timeout_ms, usb_probe **out, devlog_error *err);
void usb_probe_close(usb_probe *p);
usb_link *usb_probe_link(usb_probe *p);

#endif
