/* dl_sort_u64 and dl_sort_keyed against libc's qsort: random, sorted, reversed, equal, and made to be slow. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "support/cmocka_all.h"

enum { MOST = 5000 };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t random_u64(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static uint64_t value(unsigned shape, size_t i, size_t n, uint64_t *seed)
{
    switch (shape) {
    case 0: return random_u64(seed);
    case 1: return random_u64(seed) % 3;
    case 2: return i;
    case 3: return n - i;
    case 4: return 7;
    case 5: return i < n / 2 ? i : n - i; /* an organ pipe */
    default: return i % 2 ? i : UINT64_MAX - i;
    }
}

static void sorts_as_qsort(void **state)
{
    (void)state;
    static uint64_t ours[MOST], theirs[MOST];
    uint64_t seed = 88172645463325252u;
    for (unsigned round = 0; round < 700; round++) {
        size_t n = round < 100 ? round : random_u64(&seed) % MOST;
        for (size_t i = 0; i < n; i++)
            ours[i] = theirs[i] = value(round % 7, i, n, &seed);
        dl_sort_u64(ours, n);
        qsort(theirs, n, sizeof theirs[0], by_value);
        assert_memory_equal(ours, theirs, n * sizeof ours[0]);
    }
}

static int by_key_and_place(const void *a, const void *b)
{
    const dl_keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->at > y->at) - (x->at < y->at);
}

static void keys_stay_in_their_order(void **state)
{
    (void)state;
    static dl_keyed ours[MOST], theirs[MOST];
    uint64_t seed = 362436069u;
    for (unsigned round = 0; round < 700; round++) {
        size_t n = round < 100 ? round : random_u64(&seed) % MOST;
        const uint64_t mask = round % 3 ? UINT64_MAX : UINT64_C(0x8000010000000003) << round % 8;
        for (size_t i = 0; i < n; i++)
            ours[i] = theirs[i] = (dl_keyed){value(round % 7, i, n, &seed) & mask, i};
        assert_true(dl_sort_keyed(ours, n));
        qsort(theirs, n, sizeof theirs[0], by_key_and_place);
        assert_memory_equal(ours, theirs, n * sizeof ours[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_as_qsort),
                                       cmocka_unit_test(keys_stay_in_their_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
