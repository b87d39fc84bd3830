/* What the system says of processes by number. Not for running them (process.h). */
#ifndef DEVLOG_BASE_PIDS_H
#define DEVLOG_BASE_PIDS_H

#include <stdint.h>

/* When a process started, in ticks since boot: it and the number tell processes apart. 0: there is none, or it has ended. */
uint64_t dl_process_started(uint64_t pid);
/* Who started it, or has taken it over; 0: not known. */
uint64_t dl_process_parent(uint64_t pid);

#endif
