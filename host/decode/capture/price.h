/* What each marker of an ELF file costs where it stands: markers wait for the stores and loads of their
 * neighbours, and these for theirs, so that one and the same marker takes 10 cycles here and 18 there. Worked
 * out from the code by the documented pipeline (price_code.h), along the ways that lead to the marker and
 * from it. Only for devices on which the firmware measures what that pipeline says; others have what it
 * measures. */
#ifndef DEVLOG_DECODE_PRICE_H
#define DEVLOG_DECODE_PRICE_H

#include "decode/capture/records.h"
#include "sim/timing.h"

/* In 1/16 cycle, on average over the places of a site; 0: not known. */
typedef struct dl_price {
    uint16_t recorded, dropped; /* of a complete zone or a sum with what begins it */
} dl_price;

typedef struct dl_prices {
    dl_price *of_site; /* two for each site of the ELF file, in its order: what begins or stands alone (of a
                          sum a pass); ends */
    dl_price pass;     /* through any sum */
    dl_price complete; /* of any complete zone; */
    dl_price other;    /* of any other record */

} dl_prices;

/* What the firmware measures of a kind on the documented pipeline, 1/16 cycle; 0: it is not asked for. */
uint32_t dl_price_documented(sim_cores cores, uint32_t kind);

/* For a RISC of such cores whose firmware has measured `cost` (devlog_control). False: no memory, or nothing can be said.
 */
bool dl_prices_make(const dl_elf *elf, sim_cores cores, const uint32_t cost[16], dl_prices *out);
void dl_prices_free(dl_prices *p);

/* What a kernel lost and did not record, and how much of it. */
typedef struct dl_price_rest {
    uint64_t dropped, complete, passes; /* complete zones among what was dropped */
    uint64_t drop, pass;                /* each, where there are no better prices, 1/16 cycle */
} dl_price_rest;

/* The price of all that: of drops by what was recorded of each site, of passes by the records of sums. */
uint64_t dl_price_of_rest(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                          dl_price_rest rest);

#endif
