/* Pipeline: the blocks of an input through reading, parsing and pairing on two threads. Each stage takes the
 * blocks one by one in their order, and keeps what it knows to itself, so the result is that of one thread.
 * Pairing is on the thread that calls. */
#ifndef DEVLOG_DECODE_PIPELINE_H
#define DEVLOG_DECODE_PIPELINE_H

#include "decode/log/blocks.h"

enum { DL_PIPELINE_BLOCKS = 6 };

typedef struct dl_pipeline_stages {
    void *ctx;
    void (*read)(void *ctx, dl_block *b);
    devlog_status (*parse)(void *ctx, dl_block *b, devlog_error *err);
    devlog_status (*pair)(void *ctx, dl_block *b, devlog_error *err);
    /* After a block has been paired, on the same thread. May be NULL. */
    void (*progress)(void *ctx, uint64_t taken, uint64_t rows);
} dl_pipeline_stages;

/* Runs to the last block or to the first stage that fails, whose status is returned. */
devlog_status dl_pipeline_run(dl_block blocks[DL_PIPELINE_BLOCKS], const dl_pipeline_stages *stages,
                              devlog_error *err);

/* The number of threads that are of use here: 1 or 2. */
unsigned dl_pipeline_threads(void);

#endif
