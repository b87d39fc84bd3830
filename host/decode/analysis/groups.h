/* Groups: the statistics of zones put together: firmware and kernel durations per RISC, and per launch and
 * RISC; every zone per RISC; every zone per core and RISC. Computed on demand from the decoder's keys. */
#ifndef DEVLOG_DECODE_GROUPS_H
#define DEVLOG_DECODE_GROUPS_H

#include <pthread.h>

#include "decode/decode.h"

typedef struct dl_group {
    uint32_t chip;      /* index into chips */
    uint32_t launch;    /* index into launches; DL_NONE: all */
    uint32_t risc_name; /* text */
    uint32_t site_name; /* text: the zone's name */
    uint32_t stream;    /* DL_NONE: of several cores */
    dl_risc risc;
    dl_role role;
    dl_summary summary;
} dl_group;

typedef struct dl_groups {
    dl_group *items;
    size_t n;
    uint32_t launches_left; /* by_launch: launches with samples behind the first `most` */
} dl_groups;

void dl_groups_free(dl_groups *g);

/* Those by RISC that were made last: several outputs show them, and quantiles take a look at every sample. */
typedef struct dl_groups_kept {
    pthread_mutex_t lock;
    dl_groups groups;
    uint64_t of; /* of which statistics they are, in a number; 0: there are none */
} dl_groups_kept;

/* The decoder's (decode.c). */
dl_groups_kept *dl_decode_groups_kept(dl_decode *d);

/* Per chip, RISC and zone name, over all cores and launches; firmware, then kernel, then user zones by name.
 */
devlog_status dl_groups_by_risc(dl_decode *d, dl_groups *out, devlog_error *err);
/* The same for every core by itself. */
devlog_status dl_groups_by_core(dl_decode *d, dl_groups *out, devlog_error *err);
/* Firmware and kernel zones per chip, launch (in order of their first firmware start) and RISC, over all
 * cores; of the first `most` launches, 0: of all. Their summaries have no `first`: when a sample began is not
 * known here. Takes 12 bytes per sample while it runs. */
devlog_status dl_groups_by_launch(dl_decode *d, uint32_t most, dl_groups *out, devlog_error *err);
/* By RISC, and by launch, for less than both cost by themselves. */
devlog_status dl_groups_by_risc_and_launch(dl_decode *d, uint32_t most, dl_groups *riscs, dl_groups *launches,
                                           devlog_error *err);

#endif
