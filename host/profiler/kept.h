/* What a device keeps in memory of its launches, for results by call (devlog/results.h): the frames of its
 * capture (decode/capture/capture.h), as they are written. Not for what they mean (ops/results.c). */
#ifndef DEVLOG_PROFILER_KEPT_H
#define DEVLOG_PROFILER_KEPT_H

#include "base/str.h"
#include "devlog/devlog.h"

/* Frames of a launch, and the frames before them that it needs. */
typedef struct kept_launch {
    size_t from, to; /* from == to: there was none */
    size_t context_from, context_to;
} kept_launch;

/* Zero-initialised but for `keep` is empty. */
typedef struct kept {
    devlog_keep keep;
    dl_str context; /* chips, ELF files, offsets of the cores' counters */
    size_t capture; /* in the context: where the last capture begins, whose ELF files are numbered anew */
    dl_str frames;  /* all, or those of the last two launches */
    kept_launch before, last;
} kept;

/* Takes the frames that are being written. */
devlog_status kept_take(kept *k, const char *frames, size_t n, devlog_error *err);

typedef enum kept_which { KEPT_LATEST, KEPT_LATEST_TWO, KEPT_ALL } kept_which;

/* A whole capture of these launches; empty when there was none. Without samples of the clocks unless it is of
 * all. */
devlog_status kept_capture(const kept *k, kept_which which, uint32_t slot, dl_str *out, devlog_error *err);
void kept_free(kept *k);

#endif
