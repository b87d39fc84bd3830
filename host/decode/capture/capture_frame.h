/* What the two ends of the capture format share: kinds of frames, and versions. Not for others. */
#ifndef DEVLOG_DECODE_CAPTURE_FRAME_H
#define DEVLOG_DECODE_CAPTURE_FRAME_H

#include "decode/capture/capture.h"

#define DL_FRAME_MAGIC 0x31464C44u /* "DLF1" */

enum {
    DL_FRAME_CHIP = 1,
    DL_FRAME_ELF,
    DL_FRAME_LAUNCH,
    DL_FRAME_CORE,  /* control words of the RISCs of a core, and as many of its words as fit */
    DL_FRAME_WORDS, /* further words of the core before it */
    DL_FRAME_SAMPLES,
    DL_FRAME_OFFSETS,
    DL_FRAME_END,
    DL_FRAME_CYCLES,     /* where the cycles of a RISC went, by instruction */
    DL_FRAME_VIOLATION,  /* an expectation that was not met */
    DL_FRAME_HOST_SITES, /* places in the code of the host, and what its threads recorded (host_records.h) */
    DL_FRAME_HOST_RECORDS,
    DL_FRAME_HOST_MEMORY, /* what was wrong with memory of the host */
    DL_FRAME_GRID,        /* where the cores of a chip are */
    DL_FRAME_RANK,        /* what the launcher says of the process */
    DL_FRAME_HOST_CLOCKS, /* what the clocks of the host showed */
    DL_FRAME_EXCHANGES,   /* what the process and another rank saw of one another's clocks */
    DL_FRAME_KINDS
};

/* The newest version of each kind, which is the one that is written. 2: words as in capture_words.h, before
 * that as they were. */
static inline uint8_t dl_frame_version(uint8_t kind)
{
    return kind == DL_FRAME_CORE || kind == DL_FRAME_WORDS ? 2 : 1;
}

/* Words per frame: small enough that a cut costs little, large enough to pack well. */
enum { DL_FRAME_WORDS_MAX = 64 * 1024 };

/* The part of a control block that travels. */
#define DL_CONTROL_WORDS (sizeof(devlog_control) / 4)

#endif
