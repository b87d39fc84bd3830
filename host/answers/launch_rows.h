/* Which row of an op report a launch of a log is of. A log that says ops settles it. Where it does not, ops and launches may be
 * numbered together (tt-metal's are), or each on their own: then another op has the launch's number. A report with rows of launches
 * without op is of the second kind, and only the device's time tells whose a launch is. Not for reading either. */
#ifndef DEVLOG_ANSWERS_LAUNCH_ROWS_H
#define DEVLOG_ANSWERS_LAUNCH_ROWS_H

#include "devlog/decode.h"
#include "ops/op_table.h"

/* Rows of a report, each with what is wanted of it. Zero-initialised; free with launch_rows_free. */
typedef struct launch_row {
    uint64_t id;
    double start, end; /* cycles of its firmware; NAN: the report does not say */
    uint32_t chip, value;
    bool ran; /* the report has device times of it */
} launch_row;

typedef struct launch_rows {
    launch_row *items; /* by id and chip */
    size_t n, cap;
    bool made;            /* of the log's own launches: rows have their ids */
    bool device_times;    /* some row has some */
    bool apart;           /* ops and launches are not numbered together: */
    launch_row *by_start; /* rows with times, by chip and start */
    size_t n_by_start;
} launch_rows;

/* What a log knows of a launch. */
typedef struct launch_key {
    uint64_t op,
        own; /* the op that asked for it, as the log says or as its own number has it; its own number */
    uint64_t start; /* of something in it; UINT64_MAX: unknown */
    uint32_t chip;
    bool told; /* the log says the op */
} launch_key;

/* Points are no rows. False: no memory. */
bool launch_rows_add(launch_rows *l, const op_table_row *row, double start, double end, uint32_t value);
/* After the last; `t`: the whole report, also where only some of its rows are wanted. */
bool launch_rows_end(launch_rows *l, const op_table *t);
void launch_rows_free(launch_rows *l);

launch_key launch_key_of(const devlog_log *log, uint32_t launch, uint64_t start);
/* The value of the launch's row; where it may be of several, which happens only where nothing but time tells, UINT32_MAX unless
 * they have the same. UINT32_MAX: it is of none. */
uint32_t launch_rows_find(const launch_rows *l, const launch_key *key);

#endif
