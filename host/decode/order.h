/* Order: the rows of one RISC by time. Reference logs give a RISC's firmware and kernel markers first, from
 * fixed slots of its buffer, and what happened between them afterwards; pairing wants them as they happened.
 * Only the rows of one RISC's one launch that are neighbours in the log are put in order, so memory stays
 * bounded. */
#ifndef DEVLOG_DECODE_ORDER_H
#define DEVLOG_DECODE_ORDER_H

#include <stdbool.h>

#include "decode/row.h"
#include "decode/tables.h"

/* Longer runs than this are put in order in pieces. */
enum { DL_MAX_RUN = 16 * 1024 };

/* Puts rows[0..n) in order, run by run. The last run may go on in rows that are not here yet: unless `all`,
 * it is left alone, and the number of rows before it is returned. rows[0] must begin a run. */
size_t dl_order_rows(const dl_tables *tables, dl_row *rows, size_t n, bool all);

/* Whether a run ends between two neighbours. */
bool dl_order_boundary(const dl_tables *tables, const dl_row *before, const dl_row *after);

#endif
