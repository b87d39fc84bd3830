/* Memory behind a debug module. What was verified before a failure counts as done. */
#ifndef DEVLOG_TRANSPORT_USB_MEMORY_H
#define DEVLOG_TRANSPORT_USB_MEMORY_H

#include "transport/usb_dm.h"

/* Any size and alignment. *got: bytes from the start that were read and are known to be right. */
devlog_status usb_memory_read(usb_dm *m, uint32_t address, void *dst, size_t size, size_t *got,
                              devlog_error *err);
devlog_status usb_memory_write(usb_dm *m, uint32_t address, const void *src, size_t size, devlog_error *err);

/* ---- For usb_memory.c: whole aligned words, one way each ------------------------------------------- */

enum { USB_BLOCK_WORDS = 4096 }; /* at most so many at a time */

/* *done: words that are known to be read or written, also on failure. Errors of the bus that more time cures
 * are cured inside. */
devlog_status usb_bus_read(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *done,
                           devlog_error *err);
devlog_status usb_bus_write(usb_dm *m, uint32_t address, const uint32_t *words, size_t n, size_t *done,
                            devlog_error *err);
/* One access of 1 or 2 bytes. */
devlog_status usb_bus_write_narrow(usb_dm *m, uint32_t address, uint32_t value, uint32_t bytes,
                                   devlog_error *err);
/* Through a hart, which is halted meanwhile. */
devlog_status usb_abstract_read(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *done,
                                devlog_error *err);
devlog_status usb_abstract_write(usb_dm *m, uint32_t address, const uint32_t *words, size_t n, size_t *done,
                                 devlog_error *err);

/* Room for n accesses in m->ops. */
devlog_status usb_ops_reserve(usb_dm *m, size_t n, devlog_error *err);

#endif
