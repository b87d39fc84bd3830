/* CMSIS-DAP commands: what a probe is, and JTAG sequences packed into its packets.
 * Source: CMSIS-DAP 2.1, "CMSIS-DAP Commands": DAP_Info, DAP_Connect, DAP_SWJ_Clock, DAP_JTAG_Configure,
 * DAP_JTAG_Sequence. */
#ifndef DEVLOG_TRANSPORT_USB_DAP_H
#define DEVLOG_TRANSPORT_USB_DAP_H

#include <stdbool.h>

#include "transport/usb_link.h"

typedef struct usb_dap {
    usb_link *link; /* borrowed */
    usb_outcome outcome;
    uint32_t khz;
} usb_dap;

/* Asks the probe for its packets and lets it drive JTAG at `khz`. */
devlog_status usb_dap_open(usb_dap *d, usb_link *link, uint32_t khz, devlog_error *err);
/* The same without asking again: after a failure that may have left the probe anywhere. */
devlog_status usb_dap_connect(usb_dap *d, uint32_t khz, devlog_error *err);
void usb_dap_close(usb_dap *d);

/* JTAG sequences on their way: runs of clocks with one level of TMS. Zero-initialise, free with
 * usb_batch_free. A group of sequences is never cut by the end of a packet. */
typedef struct usb_batch {
    usb_packet *packets;
    size_t n, cap;
    uint32_t group;     /* where the open group began in the last packet */
    uint32_t *captures; /* packet << 16 | offset of the answer, one per capture */
    uint16_t *answered; /* bytes of captures so far in each packet */
    size_t n_captures, cap_captures;
    uint64_t clocks; /* of JTAG in all of it */
    bool failed;     /* out of memory */
} usb_batch;

void usb_batch_free(usb_batch *b);
void usb_batch_clear(usb_batch *b);
/* Begins a group that needs at most so many bytes in the packet and in its answer, and so many sequences. */
void usb_batch_group(usb_dap *d, usb_batch *b, uint32_t out_bytes, uint32_t in_bytes, uint32_t sequences);
/* Appends `clocks` (1 to 64) with a level of TMS; tdi holds a bit per clock, lowest first. `capture` keeps
 * what comes back; captures are numbered from 0. */
void usb_batch_add(usb_batch *b, uint32_t clocks, bool tms, uint64_t tdi, bool capture);
/* Sends all of it. *captured: how many captures have been answered, also on failure. */
devlog_status usb_batch_run(usb_dap *d, usb_batch *b, size_t *captured, devlog_error *err);
/* Bits of capture number i, lowest first; `clocks` as it was appended. */
uint64_t usb_batch_bits(const usb_batch *b, size_t i, uint32_t clocks);

#endif
