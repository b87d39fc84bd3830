/* Sorting numbers, without a call per comparison. */
#ifndef DEVLOG_BASE_SORT_H
#define DEVLOG_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending; n log n whatever the values are. */
void dl_sort_u64(uint64_t *values, size_t n);

/* Numbers with what they are the keys of. */
typedef struct dl_keyed {
    uint64_t key, at;
} dl_keyed;

/* Ascending by key, those with one key in the order that they had; in time proportional to n. False: no memory (for as much
 * again). */
bool dl_sort_keyed(dl_keyed *items, size_t n);

#endif
