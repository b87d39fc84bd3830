/* ELF files that a capture names, and the prices of their markers: each is opened when the first core that ran it comes. */
#ifndef DEVLOG_DECODE_CAPTURE_ELFS_H
#define DEVLOG_DECODE_CAPTURE_ELFS_H

#include "base/elf.h"
#include "decode/capture/capture_marks.h"
#include "decode/capture/raw_marks.h"
#include "decode/price/price.h"

typedef struct capture_elf {
    uint32_t slot, number;
    char *path, *source;
    uint8_t build_id[DL_BUILD_ID_MAX];
    uint32_t build_id_size;
    bool tried, good;
    dl_elf elf;
    dl_record_codes *codes[DL_PRICE_TABLES]; /* of the ELF file when it is good, by the table of prices */
    bool priced;
    dl_price_book *prices; /* of its markers; may be NULL */
    uint32_t n_sets;       /* of its tables of prices that are among the part's */
    /* Of a part of a capture, whose frame of it is before the part: */
    bool before;
    uint64_t at;          /* where it stands */
    bool searched, found; /* whether a core before the part ran it: it has been looked for, and found, and */
    uint32_t first_cost[16]; /* the first had measured these */
} capture_elf;

/* Zero-initialised, but for the options and the losses, which are borrowed. */
typedef struct capture_elfs {
    const dl_capture_marks_options *options;
    dl_losses *losses;
    capture_elf *items;
    size_t n, cap;
} capture_elfs;

void capture_elfs_free(capture_elfs *all);
/* `before`: its frame stands at byte `at`, before the part that is read. */
devlog_status capture_elfs_add(capture_elfs *all, const dl_capture_elf *elf, bool before, uint64_t at,
                               devlog_error *err);
/* The last of this number; NULL: there is none. */
capture_elf *capture_elfs_of(const capture_elfs *all, uint32_t slot, uint32_t number);
/* NULL: it is not there, or another build, which is told once. */
const dl_elf *capture_elfs_open(const capture_elfs *all, capture_elf *e);
/* The prices of a good one's markers, by the first RISC that ran it, for what this one recorded; NULL: not known. */
const dl_prices *capture_elfs_prices(const capture_elfs *all, capture_elf *e, sim_cores cores,
                                     const dl_capture_risc *risc, const dl_price_counts *counts,
                                     uint32_t *number);

#endif
