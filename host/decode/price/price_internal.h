/* What price_records.c shows of records to the other parts of price.h. */
#ifndef DEVLOG_DECODE_PRICE_INTERNAL_H
#define DEVLOG_DECODE_PRICE_INTERNAL_H

#include "decode/price/price.h"

/* The site of the record at w, of so many words. */
const dl_elf_site *price_recorded_site(const dl_elf *elf, const uint32_t *w, uint32_t words, bool *ends);

/* What all passes through a sum cost, by its record. */
uint64_t price_of_passes(const dl_prices *p, const dl_elf *elf, const dl_elf_site *site, const uint32_t *w,
                         dl_price_rest rest);

#endif
