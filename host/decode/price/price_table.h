/* The prices of the markers of an ELF file where they stand, worked out from its code. For price.c, which says
 * which of them were passed. */
#ifndef DEVLOG_DECODE_PRICE_TABLE_H
#define DEVLOG_DECODE_PRICE_TABLE_H

#include "decode/price/price.h"
#include "decode/price/price_code.h"

/* The prices of all markers, as unlikely as they are marked; the first time it is found which site each one has
 * (`first`). False: no memory. */
bool price_table_make(price_code *c, const dl_elf *elf, double scale, bool first, dl_prices *out);

#endif
