/* Device logs of regular runs (the same zones launch after launch, as programs make them) with rows here and
 * there that are not: what a reader that expects the next run to be like the last one must not get wrong. */
#ifndef DEVLOG_TESTS_RUNS_H
#define DEVLOG_TESTS_RUNS_H

#include <stdint.h>

#include "base/str.h"

/* A log of 2023 (no zone names, no ids) or of 2026, with `odd` rows or places that are not regular. The same
 * bytes for the same arguments. */
void test_runs(dl_str *out, unsigned launches, unsigned odd, uint64_t seed);

#endif
