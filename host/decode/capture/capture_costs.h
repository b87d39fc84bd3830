/* What recording took of a RISC in a launch, by the words of its control block, its records and the prices of its kernel's
 * markers. */
#ifndef DEVLOG_DECODE_CAPTURE_COSTS_H
#define DEVLOG_DECODE_CAPTURE_COSTS_H

#include "decode/capture/capture.h"
#include "decode/price/price.h"

/* The kernel that it ran. */
typedef struct capture_priced {
    const dl_elf *elf; /* NULL: not known, and no more is the rest */
    dl_price_book *book;
    const dl_prices *prices;
    uint64_t ahead; /* cycles that are taken from all stamps */
} capture_priced;

/* `counts`: of the records. Returns out->between, which is the caller's to free, or NULL. */
dl_spent *capture_costs(const dl_price_counts *counts, const dl_capture_core *core,
                        const dl_capture_risc *risc, const capture_priced *of, dl_costs *out);

#endif
