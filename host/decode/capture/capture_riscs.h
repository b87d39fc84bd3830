/* RISCs that have come in a capture, with what is known of each. Not for others than capture_marks.c. */
#ifndef DEVLOG_DECODE_CAPTURE_RISCS_H
#define DEVLOG_DECODE_CAPTURE_RISCS_H

#include "decode/capture/capture.h"
#include "decode/capture/raw_marks.h"

/* Zero to begin with. */
typedef struct capture_riscs {
    struct known_risc *items; /* by stream */
    uint32_t n, last;
} capture_riscs;

/* What is known of a RISC: mostly it is the one that came behind the one before last time. Good until the next call. NULL: there
 * are too many, or no memory. */
raw_known *capture_riscs_of(capture_riscs *all, dl_tables *tables, const dl_capture_core *core,
                            const char *name);
void capture_riscs_free(capture_riscs *all);

#endif
