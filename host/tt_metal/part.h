/* The part of a device log that a selection of tt-metal's files needs: the launches whose rows stay, and before each of
 * them the one of which its latencies are counted. By what the host says, before the log is read. Not for what stays
 * (select_rows.h). */
#ifndef DEVLOG_TT_METAL_PART_H
#define DEVLOG_TT_METAL_PART_H

#include "ops/select.h"
#include "tt_metal/join.h"

/* An op, or one of its replays, as it would stand in the report. */
typedef struct tt_part_row {
    uint64_t time, id;
    uint32_t device, trace, session; /* session 0: of no replay */
    uint32_t op;
    bool replay, chosen;
    bool captured; /* the first replay of an op of which what the host did at capture stays */
} tt_part_row;

typedef struct tt_part {
    bool any;          /* false: the whole log is needed */
    bool by_trace;     /* of replays only those are read that are asked for, and those before them */
    dl_filter filter;  /* its arrays are the part's own, or the selection's */
    tt_part_row *rows; /* in the report's order */
    size_t n, cap;
    dl_filter_id *ids;
    size_t n_ids, cap_ids;
    dl_filter_id *told; /* of all rows */
    dl_filter_range *ranges;
} tt_part;

/* Fails when memory runs out. `selected`: what the host knows of the selection. */
devlog_status tt_part_make(tt_part *p, const tt_host *h, const op_selection *s, const op_selected *selected,
                           devlog_error *err);
/* Whether a row of the log is of it; rows without a program are. */
bool tt_part_wants(const tt_part *p, const tt_log_row *row);
/* Whether the rows that stay are as they would be if the whole log had been read. */
bool tt_part_is_enough(const tt_part *p, const tt_join *j);
void tt_part_free(tt_part *p);

#endif
