/* Pipeline: the batches of an input through reading, parsing, pairing and consuming on two threads. Each stage takes the
 * batches one by one in their order, and keeps what it knows to itself, so the result is that of one thread.
 * Pairing is on the thread that calls. What a batch is, is the stages' own: they are told in which of their
 * slots it is. */
#ifndef DEVLOG_DECODE_PIPELINE_H
#define DEVLOG_DECODE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "decode/input.h"

enum { DL_PIPELINE_SLOTS = 6 };

typedef struct dl_pipeline_stages {
    void *ctx;
    /* *last: it was the last batch. */
    devlog_status (*read)(void *ctx, unsigned slot, bool *last, devlog_error *err);
    devlog_status (*parse)(void *ctx, unsigned slot, devlog_error *err);
    devlog_status (*pair)(void *ctx, unsigned slot, devlog_error *err);
    /* What consumers make of what has been paired, on either thread; NULL: there is no such stage. */
    devlog_status (*consume)(void *ctx, unsigned slot, devlog_error *err);
    bool parse_apart; /* batches are parsed each by itself: in any order, and two at the same time */
} dl_pipeline_stages;

/* That this program may use. */
unsigned dl_pipeline_processors(void);

/* Runs to the last batch or to the first stage that fails, whose status is returned. On one thread one slot
 * is enough, otherwise there are DL_PIPELINE_SLOTS. */
devlog_status dl_pipeline_run(const dl_pipeline_stages *stages, bool two_threads, devlog_error *err);

/* Whether two threads are of use here: the machine has them, and the input is not smaller than `from` bytes.
 * `wanted`: how many the user wants; 0: nothing was said. */
bool dl_pipeline_two(unsigned wanted, const dl_input *in, uint64_t from);

#endif
