/* The pipeline example: five kernels on the five RISCs of a core, connected by circular buffers in L1.
 *
 *     BRISC reads -> cb 0 -> TRISC0 unpacks -> cb 1 -> TRISC1 computes -> cb 2 -> TRISC2 packs -> cb 3 ->
 * NCRISC writes
 *
 * Arguments of every kernel: number of pages, address of cb 0, address of the input or the output. */
#ifndef DEVLOG_KERNELS_PIPELINE_H
#define DEVLOG_KERNELS_PIPELINE_H

#define PIPELINE_PAGE_WORDS 32u
#define PIPELINE_PAGE_BYTES (4u * PIPELINE_PAGE_WORDS)
#define PIPELINE_PAGES      2u /* in each circular buffer: one is filled while the other is used */
#define PIPELINE_CB_BYTES   (8u + PIPELINE_PAGES * PIPELINE_PAGE_BYTES)

/* What each stage does to a word. */
#define PIPELINE_UNPACK(w)  ((w) ^ 0x80000000u)
#define PIPELINE_COMPUTE(w) ((w) * (w) + 7u)
#define PIPELINE_PACK(w)    ((w) >> 3)

#endif
