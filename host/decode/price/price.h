/* What each marker of an ELF file costs where it stands: markers wait for the stores and loads of their
 * neighbours, and these for theirs, so that one and the same marker takes 10 cycles here and 18 there. Worked
 * out from the code by the documented pipeline (price_table.h), along the ways that lead to the marker and
 * from it, as far as the records say that they were gone. Only for devices on which the firmware measures what
 * that pipeline says; others have what it measures. */
#ifndef DEVLOG_DECODE_PRICE_H
#define DEVLOG_DECODE_PRICE_H

#include "decode/capture/records.h"
#include "decode/kinds.h"
#include "sim/timing.h"

/* In 1/16 cycle, on average over the places of a site; 0: not known. */
typedef struct dl_price {
    uint16_t recorded, dropped; /* of a complete zone or a sum with what begins it */
} dl_price;

typedef struct dl_prices {
    sim_cores cores;
    dl_price *of_site; /* two for each site of the ELF file, in its order: what begins or stands alone (of a
                          sum a pass); ends */
    dl_price pass;     /* through any sum */
    dl_price complete; /* of any complete zone; */
    dl_price other;    /* of any other record */
    bool
        loads; /* what else the kernel does may take more or less time for the markers' sake (price_loads.c) */
} dl_prices;

/* What the firmware measures of a kind on the documented pipeline, 1/16 cycle; 0: it is not asked for. */
uint32_t dl_price_documented(sim_cores cores, uint32_t kind);

/* The prices of an ELF file. They depend on which of its markers a kernel passed, so that there are several
 * tables of them. */
typedef struct dl_price_book dl_price_book;

enum { DL_PRICE_TABLES = 33 }; /* the first is for whatever was passed */

/* For a RISC of such cores whose firmware has measured `cost` (devlog_control). NULL: no memory, or nothing can be said. The
 * ELF file must stay. */
dl_price_book *dl_price_book_open(const dl_elf *elf, sim_cores cores, const uint32_t cost[16]);
void dl_price_book_close(dl_price_book *b);

/* The records of a launch by code (raw_look.c). */
typedef struct dl_price_counts {
    uint32_t n[DEVLOG_CODE_END];
    uint64_t seen[DEVLOG_CODE_END / 64]; /* bits */
    uint16_t codes[DEVLOG_CODE_END];     /* the same as a list */
    uint32_t n_codes;
    bool others; /* there are some with the id of their site in a word of its own */
    bool used;
} dl_price_counts;

/* The prices for a launch with these records; `whole`: nothing was lost. *number is that of the table, below
 * DL_PRICE_TABLES. It stays where it is. */
const dl_prices *dl_price_book_for(dl_price_book *b, const dl_price_counts *counts, const record_span *spans,
                                   uint32_t n_spans, bool whole, uint32_t *number);

/* What tells the set of markers that a table is of from those of others. */
uint64_t dl_price_book_set(const dl_price_book *b, uint32_t number);

/* Records of markers, and what they cost, 1/16 cycle: by their prices, or without (NULL) by what was measured. */
typedef struct dl_price_sum {
    uint64_t n, sum, squares;
} dl_price_sum;

dl_price_sum dl_price_of_records(const dl_prices *p, const dl_elf *elf, const dl_costs *costs,
                                 const dl_price_counts *counts, const record_span *spans, uint32_t n_spans);

/* What a kernel lost and did not record, and how much of it. */
typedef struct dl_price_rest {
    uint64_t dropped, complete, passes; /* complete zones among what was dropped */
    uint64_t sites;                     /* of how many codes there are records */
    uint64_t drop, pass;                /* each, where there are no better prices, 1/16 cycle */
} dl_price_rest;

/* The price of all that: of drops by what was recorded of each site, of passes by the records of sums. */
uint64_t dl_price_of_rest(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                          dl_price_rest rest);

/* What is known of the records that the ring wrote over: when the kernel began and ended, and how many. */
typedef struct dl_price_ring {
    uint64_t from, until, overwritten;
} dl_price_ring;

/* What they cost, 1/16 cycle: what those cost on average that are kept, if they came as fast, or it makes no
 * difference of more than 1 % of the kernel; otherwise what the device kept samples of. False: not known. */
bool dl_price_of_ring(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                      dl_price_sum kept, dl_price_ring ring, const devlog_control *control, uint64_t *out);

/* What was spent between records, 1/16 cycle, and the stamps of those behind it, less `ahead`: changes of segments, and,
 * where there are prices, passes through sums. Ascending, *n of them, to be freed; NULL: nothing, or no memory, and then
 * it is the kernel's. All of it is in what the kernel spent elsewhere too. */
dl_spent *dl_price_moments(dl_price_book *b, const dl_prices *p, const dl_elf *elf, const record_span *spans,
                           uint32_t n_spans, dl_price_rest rest, dl_price_ring kernel,
                           const devlog_control *control, uint64_t ahead, uint32_t *n);

/* For it: what the code of a book's ELF file says of passes. */
const struct price_around *dl_price_book_around(dl_price_book *b);

#endif
