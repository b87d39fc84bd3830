/* NoC traces of tt-metal (noc_trace_dev<D>[_<OP>]_ID<N>[_traceID<T>].json), one file for each program that ran:
 * what it moved and for how long its RISCs waited at barriers. */
#ifndef DEVLOG_TT_METAL_NOC_H
#define DEVLOG_TT_METAL_NOC_H

#include "tt_metal/found.h"
#include "tt_metal/noc_links.h"

typedef enum tt_noc_sum {
    TT_NOC_BYTES, /* of all transfers */
    TT_NOC_READ,
    TT_NOC_WRITE,
    TT_NOC_FABRIC,
    TT_NOC_0, /* by the NoC that carried them */
    TT_NOC_1,
    TT_NOC_TRANSFERS,
    TT_NOC_READ_WAIT, /* cycles at read barriers, over all RISCs */
    TT_NOC_WRITE_WAIT,
    TT_NOC_PLAIN, /* the columns of every report with traces; those below where the grid is known */
    TT_NOC_LINK_BYTES = TT_NOC_PLAIN, /* over the busiest link */
    TT_NOC_UNROUTED, /* bytes whose way is not known: of fabric, of nodes outside of the grid */
    TT_NOC_SUMS,
    TT_NOC_LINK = TT_NOC_SUMS, /* the busiest link, a text */
    TT_NOC_COLUMNS
} tt_noc_sum;

typedef struct tt_noc {
    uint64_t id;
    uint32_t device, session; /* session TT_NONE: none */
    uint64_t sums[TT_NOC_SUMS];
    uint64_t written; /* all "num_bytes" of the file, as tt-metal adds them up: NOC BYTES FROM COUNTERS */
    uint32_t zones, n_zones; /* in tt_nocs.zones; none where no zones stand in the file */
    uint8_t way, x, y;       /* of the busiest link, when TT_NOC_LINK_BYTES is not 0 */
} tt_noc;

/* A zone of a RISC, over all cores, without the zones inside it. */
typedef struct tt_noc_zone {
    uint32_t name; /* in tt_nocs.names: RISC, tab, zone */
    uint64_t entered;
    uint64_t sums[TT_NOC_PLAIN];
} tt_noc_zone;

typedef struct tt_nocs {
    tt_noc *items; /* by device, id, session */
    size_t n, cap;
    tt_noc_grid grid; /* of topology.json */
    tt_noc_zone *zones;
    size_t n_zones, cap_zones;
    struct dl_intern *names;
} tt_nocs;

/* Reads all that are in a folder; none is no failure. */
devlog_status tt_nocs_read(tt_nocs *n, const char *folder, tt_found *found, devlog_error *err);
/* One trace from memory, by the name of its file; a name that is none is left out. For tests. */
devlog_status tt_nocs_parse(tt_nocs *n, const char *name, const void *bytes, size_t size, tt_found *found,
                            devlog_error *err);
void tt_nocs_free(tt_nocs *n);
/* NULL: none. */
const tt_noc *tt_nocs_of(const tt_nocs *n, uint32_t device, uint64_t id, uint32_t session);
/* Of a program that ran: `counted`, its session as the log has it, which may be none. */
const tt_noc *tt_nocs_of_run(const tt_nocs *n, uint32_t device, uint64_t id, uint32_t session,
                             uint32_t counted);
const char *tt_noc_header(tt_noc_sum sum);

#endif
