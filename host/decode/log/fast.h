/* The fast path: lines exactly as the writers write them, recognised by comparing with what was seen
 * before rather than by splitting. See fast_body.h for how. Anything unusual is declined, line by line, and
 * read by the parser's general path, so that the fast path need not know about errors. */
#ifndef DEVLOG_DECODE_FAST_H
#define DEVLOG_DECODE_FAST_H

#include "decode/log/parser.h"
#include "decode/row.h"

struct dl_fast;

/* Returns NULL when out of memory or when `path` has no fast path here: the parser then does without. */
struct dl_fast *dl_fast_new(dl_parse_path path);
void dl_fast_free(struct dl_fast *f);
/* Tells it the columns, at each header line. */
void dl_fast_header(struct dl_fast *f, const dl_header *header);
/* Parses lines from `at` until the first that it declines, `end`, or until p->marks is
 * full; returns where it stopped, always the beginning of a line. */
const char *dl_fast_rows(dl_parser *p, const char *at, const char *end);
/* Shows it a line that the general path has split at commas and made a row of, so that it knows the next one
 * like it; `code` is that of its mark (dl_mark_code). line[raw_n - 1] is the line feed. */
void dl_fast_learn(dl_parser *p, const char *line, size_t raw_n, const dl_cell *cells, size_t n_cells,
                   const dl_row *row, uint64_t code);

#endif
