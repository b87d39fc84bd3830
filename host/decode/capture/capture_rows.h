/* Rows of a capture: hands what a capture holds to pairing as the device rows that a log of the same launches
 * has, with stamps brought to the counter of each chip's reference core. */
#ifndef DEVLOG_DECODE_CAPTURE_ROWS_H
#define DEVLOG_DECODE_CAPTURE_ROWS_H

#include "decode/capture/capture.h"
#include "decode/clock/chip_clock.h"
#include "decode/log/columns.h"
#include "decode/loss.h"
#include "decode/pair/pair.h"
#include "decode/row.h"
#include "decode/tables.h"

/* Where rows go. `launch` says when a launch was called and pulled, after its rows. */
typedef struct dl_capture_rows_sink {
    void *ctx;
    devlog_status (*rows)(void *ctx, const dl_row *rows, size_t n, devlog_error *err);
    devlog_status (*chip_line)(void *ctx, const dl_chip_line *chip, devlog_error *err);
    /* Before the rows of a RISC. */
    devlog_status (*costs)(void *ctx, uint32_t stream, const dl_costs *costs, devlog_error *err);
    void (*launch)(void *ctx, const dl_capture_launch *launch);
    void (*progress)(void *ctx, uint64_t taken); /* bytes of the input so far */
    dl_pair *pair; /* where `rows` ends, when ordinary records may go there as they are; or NULL */
} dl_capture_rows_sink;

typedef struct dl_capture_rows_options {
    const char *name;       /* of the input, for messages; borrowed */
    const char *elf_folder; /* where ELF files are looked for that are not at their path; may be NULL */
    bool keep_meta;
    bool learn_clocks; /* `clocks` do not know the whole capture yet: they learn on the way */
    bool two_threads;
} dl_capture_rows_options;

/* Reads the rest of the input for what it says of clocks alone. */
devlog_status dl_capture_learn_clocks(dl_input *in, dl_chip_clocks *clocks, devlog_error *err);
/* Reads the rest of the input. */
devlog_status dl_capture_rows(dl_input *in, const dl_capture_rows_options *options, dl_tables *tables,
                              dl_losses *losses, dl_chip_clocks *clocks, const dl_capture_rows_sink *sink,
                              devlog_error *err);

#endif
