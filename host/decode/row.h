/* A device row: one marker as a device log holds it, before pairing. Readers make rows, the pairing stage
 * and the device-log writer take them. Texts are numbers of dl_tables (decode/tables.h), so that a row is
 * one cache line. */
#ifndef DEVLOG_DECODE_ROW_H
#define DEVLOG_DECODE_ROW_H

#include <stdbool.h>

#include "base/error.h"

typedef enum dl_row_type {
    DL_ROW_ZONE_START,
    DL_ROW_ZONE_END,
    DL_ROW_ZONE_TOTAL,  /* data is a sum over the launch, in cycles */
    DL_ROW_TS_DATA,     /* data is a value of the program */
    DL_ROW_TS_EVENT,    /* a point in time */
    DL_ROW_TS_DATA_16B, /* as TS_DATA; data holds the low 64 bits */
    DL_ROW_TYPES
} dl_row_type;

/* The own cost of a marker, as its RISC's firmware measured it: DEVLOG_KIND_* of devlog/record.h; and what is
 * no kind. */
enum {
    DL_COST_NONE = 0,   /* a default marker, or a log that does not say */
    DL_COST_STALL = 14, /* a zone that is all cost: the RISC waited for a flush */
    DL_COST_TEXT = 16,  /* and how many arguments it has */
    DL_COSTS = 32
};

/* What recording cost a RISC in a launch. */
typedef struct dl_costs {
    uint32_t marker[DL_COSTS]; /* by DL_COST_*, 1/16 cycle; all 0: not measured */
    uint32_t overwritten;      /* records of the kernel that are gone, and cost what the others did */
    uint64_t elsewhere;        /* 1/16 cycle of the kernel: drops, changes of segments, sums */
    bool unknown;              /* not all of it was measured */
} dl_costs;

#define DL_NO_ID UINT32_MAX /* this row has no such id */

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
    uint8_t has_launch;     /* 0: the log has no launch ids; launches are counted by firmware starts */
    uint8_t torn;           /* the stamp was 2^32 off and has been repaired while putting rows in order */
    uint8_t cost;           /* DL_COST_*: what the marker itself cost the RISC */
    uint32_t op; /* the op on whose behalf the launch was made (meta data {"op":N}); of a ZONE_TOTAL how often
                    what is summed up was passed ({"count":N;...}); 0: not said here */
} dl_row;

_Static_assert(sizeof(dl_row) == 64, "a row is one cache line");

/* "ZONE_START" and so on, as the logs of 2025 write it. */
const char *dl_row_type_text(dl_row_type type);

/* Where rows go. `rows` is valid only during the call; a status other than DEVLOG_OK stops the reader. */
typedef struct dl_row_sink {
    void *ctx;
    devlog_status (*rows)(void *ctx, const dl_row *rows, size_t n, devlog_error *err);
} dl_row_sink;

#endif
