/* zone_src_locations.log: the zones that tt-metal's kernels were compiled with. Its profiler knows a zone by 16 bits, a
 * hash of its name, file and line; two with one hash stand under one name. */
#ifndef DEVLOG_TT_METAL_ZONES_H
#define DEVLOG_TT_METAL_ZONES_H

#include "tt_metal/lines.h"

#define TT_ZONES_NAME     "zone_src_locations.log"
#define TT_NEW_ZONES_NAME "new_zone_src_locations.log"

typedef struct tt_zones tt_zones;

/* Files of one run are read into one. Free with tt_zones_free; NULL: out of memory. */
tt_zones *tt_zones_new(tt_found *found);
void tt_zones_free(tt_zones *z);
devlog_status tt_zones_read(tt_zones *z, const char *path, devlog_error *err);
devlog_status tt_zones_parse(tt_zones *z, const void *bytes, size_t n, devlog_error *err);

#endif
