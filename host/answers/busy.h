/* How long something ran that may have run beside itself: the union of spans of time. The one place where busy time is worked
 * out: of chips for reports and `devlog time`, of launches for devlog_timed
 * and diffs of logs. */
#ifndef DEVLOG_ANSWERS_BUSY_H
#define DEVLOG_ANSWERS_BUSY_H

#include <stddef.h>

typedef struct busy_span {
    double start, end;
} busy_span;

/* In the unit of the spans, which it sorts. Those that end before they start count for nothing. */
double busy_union(busy_span *spans, size_t n);

#endif
