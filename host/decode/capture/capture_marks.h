/* Marks of a capture: hands on what a capture holds as the marks that a log of the same launches has, with
 * stamps brought to the counter of each chip's reference core. */
#ifndef DEVLOG_DECODE_CAPTURE_MARKS_H
#define DEVLOG_DECODE_CAPTURE_MARKS_H

#include "decode/capture/capture.h"
#include "decode/capture/capture_index.h"
#include "decode/clock/chip_clock.h"
#include "decode/loss.h"
#include "decode/mark.h"

/* Where marks go. `launch` says when a launch was called and pulled, after its marks. */
typedef struct dl_capture_marks_sink {
    void *ctx;
    /* Those of one RISC and launch, in order of time. */
    devlog_status (*marks)(void *ctx, dl_marks *marks, devlog_error *err);
    devlog_status (*chip_line)(void *ctx, const dl_chip_line *chip, devlog_error *err);
    /* Before the marks of a RISC. */
    devlog_status (*costs)(void *ctx, uint32_t stream, const dl_costs *costs, devlog_error *err);
    void (*launch)(void *ctx, const dl_capture_launch *launch);
    void (*progress)(void *ctx, uint64_t taken); /* bytes of the input so far */
    devlog_status (*grid)(void *ctx, const dl_capture_grid *grid, devlog_error *err);
    devlog_status (*rank)(void *ctx, const dl_capture_rank *rank, devlog_error *err);
} dl_capture_marks_sink;

typedef struct dl_capture_marks_options {
    const char *name;       /* of the input, for messages; borrowed */
    const char *elf_folder; /* where ELF files are looked for that are not at their path; may be NULL */
    bool keep_meta;
    bool learn_clocks; /* `clocks` do not know the whole capture yet: they learn on the way */
    bool two_threads;
    bool one_by_one;       /* no short way for ordinary records: for tests */
    bool recorded;         /* ordinary records may stay as they are (dl_marks.recorded) */
    dl_capture_part *part; /* the input is a part of a capture; NULL: it is all of it */
} dl_capture_marks_options;

/* What a chip's frame says of its clock. */
devlog_status dl_capture_learn_chip(dl_chip_clocks *clocks, const dl_capture_chip *chip, devlog_error *err);
/* Reads the rest of the input for what it says of clocks alone. */
devlog_status dl_capture_learn_clocks(dl_input *in, dl_chip_clocks *clocks, devlog_error *err);
/* Reads the rest of the input. Of a part FORMAT when it is damaged. */
devlog_status dl_capture_marks(dl_input *in, const dl_capture_marks_options *options, dl_tables *tables,
                               dl_losses *losses, dl_chip_clocks *clocks, const dl_capture_marks_sink *sink,
                               devlog_error *err);

#endif
