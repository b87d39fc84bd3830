/* A libttsim.so in a process of its own: the library ends its process at a fault, and is one per process. All chips of a library
 * that are open share one such process, and its clock. Not for windows (pcie.h). */
#ifndef DEVLOG_TRANSPORT_TTSIM_CHILD_H
#define DEVLOG_TRANSPORT_TTSIM_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct ttsim_child ttsim_child;

/* The process of the library at `path`; the same for all who ask for the same file. One thread at a time. */
devlog_status ttsim_child_get(const char *path, ttsim_child **out, devlog_error *err);
/* The last one to leave ends it. */
void ttsim_child_leave(ttsim_child *c);

/* libttsim's functions (ttsim_abi.h). After a fault all fail, but for accesses to memory: what the chip holds can still be
 * looked at, if the library is content with it. */
devlog_status ttsim_child_config(ttsim_child *c, uint32_t device, uint32_t offset, uint32_t *value,
                                 devlog_error *err);
devlog_status ttsim_child_read(ttsim_child *c, uint64_t address, void *dst, uint32_t size, devlog_error *err);
devlog_status ttsim_child_write(ttsim_child *c, uint64_t address, const void *src, uint32_t size,
                                devlog_error *err);
devlog_status ttsim_child_clock(ttsim_child *c, uint32_t cycles, devlog_error *err);
/* Its cycles are instructions: nothing says that it knows the time that they take. */
bool ttsim_child_counts_instructions(const ttsim_child *c);
/* Cycles that it was told to do. */
uint64_t ttsim_child_cycles(const ttsim_child *c);

#endif
