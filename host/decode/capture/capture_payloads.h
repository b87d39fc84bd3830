/* Payloads of a capture's frames but cores and their words: taken apart and handed on. The format is in capture.h. */
#ifndef DEVLOG_DECODE_CAPTURE_PAYLOADS_H
#define DEVLOG_DECODE_CAPTURE_PAYLOADS_H

#include "decode/capture/capture.h"
#include "decode/capture/capture_cursor.h"

enum { CAPTURE_MAX_CHIPS = 64 };

/* Chips that have begun and not ended. */
typedef struct capture_open {
    uint32_t slots[CAPTURE_MAX_CHIPS], n;
    bool any_chip; /* there was one */
} capture_open;

/* A payload that is malformed sets the cursor's `bad` and is not handed on. */
devlog_status capture_payload(unsigned kind, cursor *c, const dl_capture_sink *sink, capture_open *open,
                              devlog_error *err);

#endif
