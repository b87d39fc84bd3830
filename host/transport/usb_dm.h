/* The debug module of a RISC-V chip: its harts, their registers, and memory through it.
 * Source: RISC-V External Debug Support 0.13.2 and 1.0, chapter "Debug Module". */
#ifndef DEVLOG_TRANSPORT_USB_DM_H
#define DEVLOG_TRANSPORT_USB_DM_H

#include "transport/usb_dtm.h"

enum { USB_MAX_HARTS = 32 };

/* Registers of the debug module. */
enum {
    DM_DATA0 = 0x04,
    DM_DATA1 = 0x05,
    DM_DMCONTROL = 0x10,
    DM_DMSTATUS = 0x11,
    DM_ABSTRACTCS = 0x16,
    DM_COMMAND = 0x17,
    DM_ABSTRACTAUTO = 0x18,
    DM_PROGBUF0 = 0x20,
    DM_SBCS = 0x38,
    DM_SBADDRESS0 = 0x39,
    DM_SBADDRESS1 = 0x3A,
    DM_SBDATA0 = 0x3C,
};

/* How memory is reached. */
typedef enum usb_access { USB_ACCESS_BUS, USB_ACCESS_ABSTRACT, USB_ACCESS_PROGRAM } usb_access;

typedef struct usb_dm {
    usb_dtm dtm;
    uint32_t timeout_ms;
    uint32_t version; /* of the specification: 13 or 100 */
    uint32_t n_harts, hart;
    usb_access access;
    uint32_t sbcs;       /* as it was last written; 0: unknown */
    uint32_t bus_widths; /* bit i: accesses of 1 << i bytes */
    uint32_t bus_bits;
    uint32_t progbuf_words, data_words;
    bool impebreak;
    uint64_t bus_busy; /* counted: times that the system bus was slower than the scans */
    usb_dmi *ops;      /* of a block of memory on its way */
    size_t cap_ops;
} usb_dm;

/* Examines the chip without disturbing what runs. */
devlog_status usb_dm_open(usb_dm *m, usb_link *link, uint32_t khz, uint32_t idcode, uint32_t timeout_ms,
                          devlog_error *err);
void usb_dm_close(usb_dm *m);

/* One register of the debug module. */
devlog_status usb_dm_set(usb_dm *m, uint8_t address, uint32_t value, devlog_error *err);

devlog_status usb_dm_halted(usb_dm *m, uint32_t hart, bool *halted, devlog_error *err);
devlog_status usb_dm_halt(usb_dm *m, uint32_t hart, devlog_error *err);
devlog_status usb_dm_resume(usb_dm *m, uint32_t hart, devlog_error *err);
/* Resets everything but the debug module; `halt`: every hart stops at its first instruction. */
devlog_status usb_dm_reset(usb_dm *m, bool halt, devlog_error *err);

/* Registers of a halted hart: 0x1000 + n are x0-x31, below are CSRs. */
enum { USB_REG_X0 = 0x1000, USB_REG_S0 = 0x1008, USB_REG_S1 = 0x1009, USB_REG_DPC = 0x7B1 };
devlog_status usb_dm_reg_get(usb_dm *m, uint32_t hart, uint32_t reg, uint32_t *value, devlog_error *err);
devlog_status usb_dm_reg_set(usb_dm *m, uint32_t hart, uint32_t reg, uint32_t value, devlog_error *err);

/* Makes a halted hart see code that was written by others; does nothing without a program buffer. */
devlog_status usb_dm_fence(usb_dm *m, uint32_t hart, devlog_error *err);

/* After a failure that trying again may cure: brings probe and transport back. */
devlog_status usb_dm_recover(usb_dm *m, devlog_error *err);

#endif
