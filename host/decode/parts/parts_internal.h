/* What the files of parts share. */
#ifndef DEVLOG_DECODE_PARTS_INTERNAL_H
#define DEVLOG_DECODE_PARTS_INTERNAL_H

#include "decode/parts/parts.h"

/* parts.c: a file begins, or goes on in this part. */
devlog_status parts_begin(dl_decode *d, const char *path, devlog_error *err);
/* parts_capture.c: part i of captures; `goes_on`: the decoder has all that is before it. */
devlog_status parts_captures(const dl_parts *p, uint32_t i, dl_decode *d, bool goes_on, devlog_error *err);
/* parts_capture.c: whether prices of markers can be those of one process; UNSUPPORTED says why not. */
devlog_status parts_check_sets(dl_decode *d, devlog_error *err);

#endif
