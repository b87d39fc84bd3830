/* What closes in the runs that a decoder hands on, one batch of events after the other. */
#ifndef DEVLOG_TESTS_EVENTS_H
#define DEVLOG_TESTS_EVENTS_H

#include "decode/decode.h"

typedef devlog_status test_take_events(void *ctx, const dl_event *events, size_t n, devlog_error *err);

/* Before the first input. */
void test_events_to(dl_decode *d, void *ctx, test_take_events *take);

#endif
