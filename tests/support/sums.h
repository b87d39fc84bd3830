/* What zones come to on each RISC, from events and from what runs say of events that they do not list (dl_run.sums): the same,
 * whichever it is. */
#ifndef DEVLOG_TESTS_SUMS_H
#define DEVLOG_TESTS_SUMS_H

#include "decode/run.h"

enum { TEST_SUM_STREAMS = 64, TEST_SUM_SITES = 256 };

typedef struct test_zone_sum {
    dl_zone_sum zones;
    uint64_t flagged; /* cycles of zones with these flags, mixed */
} test_zone_sum;

typedef struct test_sums {
    uint64_t inside[TEST_SUM_STREAMS][DL_SUMS_DEEP];
    test_zone_sum *of[TEST_SUM_STREAMS]; /* TEST_SUM_SITES, from the first zone of the RISC on */
    uint64_t n_events, n_sums;           /* zones that came as the one or the other */
} test_sums;

void test_sums_take(test_sums *t, const dl_run *run);
uint64_t test_sums_mix(const test_sums *t);
void test_sums_free(test_sums *t); /* and what it is in; NULL is fine */

#endif
