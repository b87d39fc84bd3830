/* Packed logs (host/pack) into marks without their text: a row whose template and RISC are known becomes a
 * mark from its numbers. The parser is shown the line of every other row as text, which is how templates and
 * RISCs become known, so that a packed log says what the log says. */
#ifndef DEVLOG_DECODE_PACKED_H
#define DEVLOG_DECODE_PACKED_H

#include "decode/log/parser.h"
#include "pack/frame.h"

typedef struct dl_packed dl_packed;

/* `cap`: a line longer than that is too long. NULL: out of memory. */
dl_packed *dl_packed_new(size_t cap);
void dl_packed_free(dl_packed *k);
/* Before an input's first block. */
void dl_packed_begin(dl_packed *k);
/* The next block. *damage: what is wrong with it, so that its marks from there on are lost; or NULL. */
devlog_status dl_packed_block(dl_packed *k, dl_parser *p, const pk_header *h, const uint8_t *stored,
                              const dl_parse_sink *sink, const char **damage, devlog_error *err);
/* The end of the input. */
devlog_status dl_packed_last(dl_packed *k, dl_parser *p, const dl_parse_sink *sink, devlog_error *err);

#endif
