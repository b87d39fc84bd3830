/* The time of a launch's RISCs cut into parts, each of the innermost zone; and its path as segments of such parts. For
 * causes_sums.c. */
#ifndef DEVLOG_ANSWERS_CAUSES_PARTS_H
#define DEVLOG_ANSWERS_CAUSES_PARTS_H

#include "answers/causes_sums.h"

typedef struct causes_part {
    uint64_t from, until;
    uint32_t site; /* DL_NONE: in no zone */
} causes_part;

typedef struct causes_parts {
    causes_part *items; /* lane by lane, in order of time */
    size_t *first;      /* of each lane, and behind the last */
    size_t n, cap;
} causes_parts;

typedef struct causes_segments {
    causes_segment *items;
    size_t n, cap;
} causes_segments;

/* False: no memory. Free both in any case; they may be used again. */
bool causes_cut(causes_parts *p, const causes_launch *l);
bool causes_segment_path(causes_segments *s, const causes_parts *p, const causes_launch *l);
void causes_parts_free(causes_parts *p);

/* The index of a lane's first part that ends behind a time; first[lane + 1]: there is none. */
size_t causes_part_at(const causes_parts *p, uint32_t lane, uint64_t time);

/* Adds the barriers of a launch that has been cut. False: no memory. (causes_noc.c) */
bool causes_sum_noc(causes_sums *s, const causes_parts *p, const causes_launch *l);

/* Adds to less[] the work of a lane between two times. */
void causes_take_out(const causes *c, uint32_t lane, uint64_t from, uint64_t until, uint64_t *less);

#endif
