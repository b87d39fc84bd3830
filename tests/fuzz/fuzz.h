/* What fuzz targets share: the way that an input goes, and whether it got anywhere. */
#ifndef DEVLOG_TESTS_FUZZ_H
#define DEVLOG_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

/* A bit for each of `n_ways` (up to 32) that this input goes, of several outputs, listeners or second readers. A fuzzer goes
 * one of them with each input, for many inputs find more than every way with each; the corpus, which is a test, goes all.
 * Which one hangs on all bytes, so that one and the same change goes now this way, now that. */
__attribute__((no_sanitize("coverage"))) static inline uint32_t fuzz_ways(const uint8_t *data, size_t size,
                                                                          uint32_t n_ways)
{
    uint32_t h = (uint32_t)size;
    for (size_t i = 0; i < size; i++)
        h = h * 31 + data[i];
    return UINT32_C(1) << (h ^ h >> 15) % n_ways;
}

/* An input got past the first checks of what is fuzzed. A corpus none of whose inputs does so is of a format that is no more, and
 * fails as a test (replay.c): its target would only look at how everything is refused. */
static inline void fuzz_got_inside(void) {}

#else

static inline uint32_t fuzz_ways(const uint8_t *data, size_t size, uint32_t n_ways)
{
    (void)data;
    (void)size;
    return (uint32_t)((UINT64_C(1) << n_ways) - 1);
}

void fuzz_got_inside(void);

#endif

/* Two ways to the same text say the same, or the first line that differs is shown, and the input is a finding. */
static inline void fuzz_same(const dl_str *a, const dl_str *b)
{
    size_t at = 0, line = 0;
    if (a->failed || b->failed) abort();
    for (; at < a->len && at < b->len && a->text[at] == b->text[at]; at++)
        if (a->text[at] == '\n') line = at + 1;
    if (at == a->len && at == b->len) return;
    fprintf(stderr, "%.*s\nor\n%.*s\n", (int)(a->len - line < 300 ? a->len - line : 300),
            a->len ? a->text + line : "", (int)(b->len - line < 300 ? b->len - line : 300),
            b->len ? b->text + line : "");
    abort();
}

#endif
