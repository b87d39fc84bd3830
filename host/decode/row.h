/* A device row: one marker as a device log holds it, before pairing. Readers make rows, the pairing stage
 * and the device-log writer take them. Texts are numbers of dl_tables (decode/tables.h), so that a row is
 * one cache line. */
#ifndef DEVLOG_DECODE_ROW_H
#define DEVLOG_DECODE_ROW_H

#include <stdbool.h>

#include "base/error.h"
#include "decode/mark.h"

typedef struct dl_row {
    uint64_t time; /* cycles since the chip's reset, as recorded */
    uint64_t data;
    uint64_t run_host_id; /* the host's number of the launch; 0 when the log has none */
    uint32_t stream;      /* chip, core, RISC: dl_tables_stream */
    uint32_t site;        /* zone name, source file and line: dl_tables_site */
    uint32_t timer_id;
    uint32_t meta;          /* text of dl_tables; 0: none */
    uint32_t run_id;        /* logs of 2024; otherwise 0 */
    uint32_t trace_id;      /* DL_NO_ID: not part of a trace */
    uint32_t trace_counter; /* DL_NO_ID: not part of a trace */
    uint32_t line;          /* of the input that it came from, for messages; 0: none */
    uint8_t type;           /* dl_row_type */
    uint8_t has_launch : 1; /* 0: the log has no launch ids; launches are counted by firmware starts */
    uint8_t cost : 7;       /* DL_COST_*: what the marker itself cost the RISC, unless .. */
    uint16_t price;         /* .. it is known for its place in the code: 1/16 cycle; 0: it is not */
    uint32_t op; /* the op on whose behalf the launch was made (meta data {"op":N}); of a ZONE_TOTAL how often
                    what is summed up was passed ({"count":N;...}); 0: not said here */
} dl_row;

_Static_assert(sizeof(dl_row) == 64, "a row is one cache line");

/* Adds a row to a batch; false when out of memory, or of numbers. */
bool dl_marks_add_row(dl_marks *m, dl_tables *tables, const dl_row *row);

/* Where rows go. `rows` is valid only during the call; a status other than DEVLOG_OK stops the reader. */
typedef struct dl_row_sink {
    void *ctx;
    devlog_status (*rows)(void *ctx, const dl_row *rows, size_t n, devlog_error *err);
} dl_row_sink;

#endif
