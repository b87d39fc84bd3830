/* Ways to treat one input that a fuzz target has several of: outputs, listeners, second readers. A fuzzer goes one of
 * them with each input, for many inputs find more than every way with each; the corpus, which is a test, goes all. */
#ifndef DEVLOG_TESTS_WAYS_H
#define DEVLOG_TESTS_WAYS_H

#include <stddef.h>
#include <stdint.h>

/* A bit for each of `n_ways` (up to 32) that this input goes. Which one hangs on all of its bytes, so that one and the
 * same change goes now this way, now that. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
__attribute__((no_sanitize("coverage"))) static inline uint32_t fuzz_ways(const uint8_t *data, size_t size,
                                                                          uint32_t n_ways)
{
    uint32_t h = (uint32_t)size;
    for (size_t i = 0; i < size; i++)
        h = h * 31 + data[i];
    return UINT32_C(1) << (h ^ h >> 15) % n_ways;
}
#else
static inline uint32_t fuzz_ways(const uint8_t *data, size_t size, uint32_t n_ways)
{
    (void)data;
    (void)size;
    return (uint32_t)((UINT64_C(1) << n_ways) - 1);
}
#endif

#endif
