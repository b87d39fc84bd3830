/* The debug transport of a RISC-V chip on JTAG: registers of its debug module, read and written in batches.
 * Source: RISC-V External Debug Support 0.13.2 and 1.0, chapter "JTAG Debug Transport Module". */
#ifndef DEVLOG_TRANSPORT_USB_DTM_H
#define DEVLOG_TRANSPORT_USB_DTM_H

#include "transport/usb_dap.h"

typedef struct usb_dtm {
    usb_dap dap;
    usb_batch batch;
    uint32_t khz, idcode, expected; /* expected 0: any */
    uint32_t abits;                 /* bits of an address of the debug module */
    uint32_t idle;                  /* clocks between two scans that it was found to need */
    uint32_t ir_bits;               /* of our TAP's instruction register */
    uint32_t ir_before, ir_after;   /* bits of other TAPs, nearer to TDO and further away */
    uint32_t dr_before, dr_after;
    uint32_t least_idle;      /* what it says itself */
    uint32_t step;            /* by which they grew last */
    uint32_t quiet, patience; /* batches since that changed; so many, and fewer are tried again */
    bool lowered;             /* the last change was to fewer */
    uint64_t busy;            /* counted: times that it was still busy */
} usb_dtm;

typedef enum usb_dmi_kind { USB_DMI_NOP = 0, USB_DMI_READ = 1, USB_DMI_WRITE = 2 } usb_dmi_kind;

typedef struct usb_dmi {
    uint8_t kind, address;
    uint32_t data;  /* to write */
    uint32_t value; /* what was read */
} usb_dmi;

/* Finds the chip: IDCODE, position among other TAPs, address width. A failure frees what it took. */
devlog_status usb_dtm_open(usb_dtm *t, usb_link *link, uint32_t khz, uint32_t expected_idcode,
                           devlog_error *err);
void usb_dtm_close(usb_dtm *t);
/* Resets probe, TAP and transport after a failure that leaves open where they stand. */
devlog_status usb_dtm_recover(usb_dtm *t, devlog_error *err);

/* Runs accesses in order. *done: how many are known to be complete, also on failure. */
devlog_status usb_dtm_run(usb_dtm *t, usb_dmi *ops, size_t n, size_t *done, devlog_error *err);

/* Lets more time pass between scans, for a chip that turned out to be slower. False when that is hopeless. */
bool usb_dtm_slower(usb_dtm *t);

#endif
