/* What zones come to on each RISC, from events and from what runs say of events that they do not list (dl_run.sums): the same,
 * whichever it is. */
#ifndef DEVLOG_TESTS_SUMS_H
#define DEVLOG_TESTS_SUMS_H

#include "decode/run.h"

enum { TEST_SUM_STREAMS = 64, TEST_SUM_SITES = 256 };

typedef struct test_sums {
    uint64_t inside[TEST_SUM_STREAMS][DL_SUMS_DEEP];
    struct {
        dl_zone_sum zones;
        uint64_t flagged; /* cycles of zones with these flags, mixed */
    } of[TEST_SUM_STREAMS][TEST_SUM_SITES];
    uint64_t n_events, n_sums; /* zones that came as the one or the other */
} test_sums;

void test_sums_take(test_sums *t, const dl_run *run);
uint64_t test_sums_mix(const test_sums *t);

#endif
