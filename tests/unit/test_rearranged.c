/* Cells of the rearranged table: the digits of stamps that are near to each other, and of those that are not, in pieces of any size.
 * Not the file around them (test_golden.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rearranged.h"
#include "support/cmocka_all.h"
#include "support/logs.h"

enum { CASES = 300, MOST = 3000 };

static uint64_t step(unsigned kind, uint64_t *seed)
{
    const uint64_t value = test_random(seed);
    switch (kind % 5) {
    case 0: return value % 5000;
    case 1: return value % 40000000;
    case 2: return value % 50 ? value % 1000 : value >> (value % 64);
    case 3: return value % 20 ? 30000000 : -(value % 1000000000); /* back, too */
    default: return 99999999 + value % 3;
    }
}

static void cells_have_all_digits(void **state)
{
    (void)state;
    uint64_t seed = 5;
    dl_str expected = {0};
    char *got = malloc(MOST * (DL_U64_DIGITS + 1) + DL_STAMP_ROOM);
    assert_non_null(got);
    for (unsigned number = 0; number < CASES; number++) {
        const unsigned n = 1 + (unsigned)(test_random(&seed) % (number % 4 ? 60 : MOST));
        dl_stamp_column c = {.any = true};
        uint64_t time = c.first = number % 3 ? test_random(&seed) >> (number % 50) : number;
        const bool first = number % 2;
        dl_str_clear(&expected);
        for (unsigned i = 0; i < n; i++) {
            const uint64_t more = step(number / 2, &seed);
            if (i) assert_true(dl_samples_add(&c.steps, more));
            if (i) time += more;
            dl_str_fmt(&expected, "%s%" PRIu64, i || !first ? " " : "", time);
        }
        dl_stamp_text text;
        dl_stamp_text_start(&text, &c, first);
        size_t len = 0;
        uint64_t all = 0;
        for (uint64_t written = 1; written; all += written) {
            const size_t room = DL_STAMP_ROOM * (1 + test_random(&seed) % 70);
            const uint64_t most = 1 + test_random(&seed) % 50;
            const size_t bytes = dl_stamp_text_fill(&text, most, got + len, room, &written);
            assert_true(bytes <= room && written <= most);
            len += bytes;
        }
        assert_int_equal(all, n);
        assert_int_equal(len, expected.len);
        assert_memory_equal(got, expected.text, len);
        dl_samples_free(&c.steps);
    }
    free(got);
    dl_str_free(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_have_all_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
