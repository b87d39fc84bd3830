/* A link to a CMSIS-DAP probe: packets out, answers in. usb_probe.c is the real one; a fuzzer has another.
 * Source: CMSIS-DAP 2.1, "Firmware for debug units": every command packet is answered by one packet. */
#ifndef DEVLOG_TRANSPORT_USB_LINK_H
#define DEVLOG_TRANSPORT_USB_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { USB_PACKET_MAX = 1024, USB_DEPTH_MAX = 16 };

typedef struct usb_packet {
    uint16_t n_out, n_in; /* bytes to send; bytes that were answered */
    uint8_t out[USB_PACKET_MAX], in[USB_PACKET_MAX];
} usb_packet;

/* What became of an exchange, as far as the caller can do something about it. */
typedef enum usb_outcome {
    USB_DONE,
    USB_AGAIN,      /* a stall, a time-out, a cut answer: the link was cleared, trying again makes sense */
    USB_GONE,       /* the probe was unplugged */
    USB_IMPOSSIBLE, /* no memory, no permission: trying again does not help */
} usb_outcome;

typedef struct usb_link {
    void *owner;
    char name[160];               /* "CMSIS-DAP probe 1234 (USB 1-2)": what messages call it */
    uint32_t packet_bytes, depth; /* largest packet; packets that may be in flight */
    uint32_t busy_ms;             /* what the packets in flight take on JTAG: added to the time-out */
    uint64_t packets;             /* counted: packets answered */
    /* Sends n packets and takes their answers in order; *done are those answered, also on failure. err is
     * filled unless USB_DONE, without the probe's name. */
    usb_outcome (*exchange)(void *owner, usb_packet *packets, size_t n, size_t *done, devlog_error *err);
} usb_link;

#endif
