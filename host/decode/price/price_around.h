/* Which records may come next to the passes through a sum: price_around.c. */
#ifndef DEVLOG_DECODE_PRICE_AROUND_H
#define DEVLOG_DECODE_PRICE_AROUND_H

#include "decode/price/price_code.h"

enum { PRICE_BEFORE_PASS = 1, PRICE_BEHIND_PASS = 2 };

typedef struct price_around {
    uint8_t *
        places; /* of every sum's site, in the order of the ELF file: PRICE_*_PASS of each place, two for a site as in
                        price.h; of a complete zone the second is where it begins */
    uint32_t n_places, n_sums;
} price_around;

/* For code whose markers have their sites. NULL: no sums, no memory, or too much code. */
price_around *price_around_find(const price_code *c, const dl_elf *elf);
void price_around_free(price_around *a);

#endif
