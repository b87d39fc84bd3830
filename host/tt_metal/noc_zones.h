/* What NoC traces tell by zone: each event belongs to the innermost zone that is open on its RISC, by the zones that stand in
 * the trace between its events. And the table of it. */
#ifndef DEVLOG_TT_METAL_NOC_ZONES_H
#define DEVLOG_TT_METAL_NOC_ZONES_H

#include "tt_metal/join.h"

#define TT_NOC_ZONES_NAME "noc_zones.csv"

/* Zones of one file, while it is read; zeros to begin with. */
typedef struct tt_noc_zoner {
    uint32_t *open; /* names of the zones of the RISC in hand, the innermost last */
    size_t n_open, cap_open;
    size_t first;   /* of the file's in tt_nocs.zones */
    uint32_t *slot; /* by name: number + 1 from `first` on; of other files where it names another */
    size_t n_slots;
    bool any; /* zones stand in the file */
} tt_noc_zoner;

void tt_noc_zoner_begin(tt_noc_zoner *z, const tt_nocs *all);
/* Another RISC: nothing is open. */
void tt_noc_zoner_risc(tt_noc_zoner *z);
/* A zone begins or ends. An end of which the zone is not open is none. False: no memory. */
bool tt_noc_zoner_begins(tt_noc_zoner *z, tt_nocs *all, const char *risc, const char *zone, size_t n);
bool tt_noc_zoner_ends(tt_noc_zoner *z, tt_nocs *all, const char *risc, const char *zone, size_t n);
/* The zone that is open, or what stands for none; NULL: no memory. Until the next call. */
tt_noc_zone *tt_noc_zoner_here(tt_noc_zoner *z, tt_nocs *all, const char *risc);
/* After the file: what its zones are is in *from and *n. */
void tt_noc_zoner_end(tt_noc_zoner *z, tt_nocs *all, uint32_t *from, uint32_t *n);

/* The table, as tt_report_write writes the report. */
devlog_status tt_noc_zones_write(const tt_join *j, dl_str *out,
                                 devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                                 devlog_error *err);

#endif
