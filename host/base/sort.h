/* Sorting numbers, without a call per comparison. */
#ifndef DEVLOG_BASE_SORT_H
#define DEVLOG_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending; n log n whatever the values are. */
void dl_sort_u64(uint64_t *values, size_t n);

#endif
