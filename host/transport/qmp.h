/* The monitor of QEMU: reading registers and the pc of a hart while it runs.
 * Source: QEMU 7.2 docs/interop/qmp-spec.rst; human-monitor-command in qapi/misc.json. */
#ifndef DEVLOG_TRANSPORT_QMP_H
#define DEVLOG_TRANSPORT_QMP_H

#include <stdint.h>

#include "base/error.h"

typedef struct qmp {
    int fd; /* -1: not connected */
    char buffer[16384];
    size_t filled;
} qmp;

void qmp_init(qmp *m);

/* Connects to the socket at `path`, unless it is connected; waits a moment for a process that is starting. */
devlog_status qmp_open(qmp *m, const char *path, devlog_error *err);
void qmp_close(qmp *m);

/* The word at a physical address, device registers included. */
devlog_status qmp_read_word(qmp *m, uint32_t address, uint32_t *value, devlog_error *err);
devlog_status qmp_hart_pc(qmp *m, uint32_t hart, uint32_t *pc, devlog_error *err);

#endif
