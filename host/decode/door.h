/* The public door (devlog/decode.h) for those inside the library who have decoded something themselves. */
#ifndef DEVLOG_DECODE_DOOR_H
#define DEVLOG_DECODE_DOOR_H

#include "decode/decode.h"
#include "devlog/decode.h"

/* A log of which everything has been read and that has no batches left; the decoder, which has finished, is
 * the log's own from then on. */
devlog_status door_of_decoded(dl_decode *decode, devlog_log **out, devlog_error *err);

#endif
