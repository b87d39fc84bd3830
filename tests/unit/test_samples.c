/* Statistics of durations: least, greatest, sum, median and percentiles of random sets, in one set and in
 * several, against a sorted copy. */
#include "support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "decode/far.h"
#include "report/summary_text.h"
#include "support/logs.h"

enum { CASES = 400, SETS = 3, MOST = 6000 };

/* A duration of one of the kinds that there are: alike, of a narrow range, up to 2^32, or wide. */
static uint64_t duration(unsigned kind, uint64_t *seed)
{
    uint64_t value = test_random(seed);
    switch (kind % 6) {
    case 0: return 42;
    case 1: return 5000 + value % 300;
    case 2: return value % 20000;
    case 3: return value & UINT32_MAX;
    case 4: return UINT32_MAX - 3 + value % 6;
    default: return value % 50 ? value % 100000 : value >> value % 40;
    }
}

static uint64_t nearest_rank(const uint64_t *sorted, size_t n, unsigned percent)
{
    size_t rank = (n * percent + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}

static void check_quantiles(const dl_summary *s, const uint64_t *sorted, size_t n)
{
    assert_int_equal(s->median_low, sorted[(n - 1) / 2]);
    assert_int_equal(s->median_high, sorted[n / 2]);
    assert_int_equal(s->p50, nearest_rank(sorted, n, 50));
    assert_int_equal(s->p90, nearest_rank(sorted, n, 90));
    assert_int_equal(s->p95, nearest_rank(sorted, n, 95));
    assert_int_equal(s->p99, nearest_rank(sorted, n, 99));
}

static int by_value(const void *pa, const void *pb)
{
    const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return (a > b) - (a < b);
}

/* Of values in an array, few and many. */
static void those_of_an_array(void **state)
{
    (void)state;
    enum { MOST_OF_ARRAY = 1500 };
    static uint64_t values[MOST_OF_ARRAY], sorted[MOST_OF_ARRAY];
    uint64_t seed = 9;
    for (unsigned number = 0; number < CASES * 4; number++) {
        const size_t n = 1 + (number % 5 ? number % 80 : test_random(&seed) % MOST_OF_ARRAY);
        for (size_t i = 0; i < n; i++)
            values[i] = sorted[i] = duration(number, &seed);
        qsort(sorted, n, sizeof *sorted, by_value);
        dl_summary s = {.count = n, .min = sorted[0], .max = sorted[n - 1]};
        dl_summary_quantiles_of(&s, values);
        check_quantiles(&s, sorted, n);
    }
}

static void are_those_of_a_sorted_copy(void **state)
{
    (void)state;
    uint64_t seed = 7;
    uint64_t *all = malloc(SETS * MOST * sizeof *all);
    assert_non_null(all);
    for (unsigned number = 0; number < CASES; number++) {
        dl_sample_pool pool = {0};
        dl_samples sets[SETS];
        const dl_samples *of_all[SETS] = {&sets[0], &sets[1], &sets[2]};
        dl_summary whole = {.min = UINT64_MAX};
        size_t n_all = 0;
        for (size_t k = 0; k < SETS; k++) {
            sets[k] = (dl_samples){.pool = number % 2 ? &pool : NULL};
            size_t n = 1 + test_random(&seed) % (number % 3 ? 40 : MOST);
            dl_summary expected = {.count = n, .min = UINT64_MAX}, got;
            uint64_t *mine = all + n_all;
            for (size_t i = 0; i < n; i++) {
                uint64_t value = mine[i] = duration(number, &seed);
                assert_true(dl_samples_add(&sets[k], value));
                if (value < expected.min) expected.min = value;
                if (value > expected.max) expected.max = value;
                expected.sum += value;
            }
            dl_samples_totals(&sets[k], &got);
            assert_int_equal(dl_samples_count(&sets[k]), n);
            assert_int_equal(got.count, n);
            assert_int_equal(got.first, mine[0]);
            assert_int_equal(got.min, expected.min);
            assert_int_equal(got.max, expected.max);
            assert_true(got.sum == expected.sum);
            if (got.min < whole.min) whole.min = got.min;
            if (got.max > whole.max) whole.max = got.max;
            n_all += n;
        }
        whole.count = n_all;
        assert_int_equal(dl_summary_quantiles(&whole, of_all, SETS, NULL), DEVLOG_OK);
        dl_sort_u64(all, n_all);
        check_quantiles(&whole, all, n_all);
        for (size_t k = 0; k < SETS; k++)
            dl_samples_free(&sets[k]);
        dl_sample_pool_free(&pool);
    }
    free(all);
}

/* Few values, of every range that is near a number of buckets: by sorting, too. */
static void few_of_narrow_ranges_are_selected(void **state)
{
    (void)state;
    uint64_t seed = 9, all[1024];
    for (unsigned number = 0; number < 4000; number++) {
        const size_t n = 1 + test_random(&seed) % 1024;
        const uint64_t least = test_random(&seed) % 1000, range = 1 + test_random(&seed) % 2000;
        dl_samples set = {0};
        const dl_samples *of = &set;
        dl_summary s;
        for (size_t i = 0; i < n; i++) {
            all[i] = least + test_random(&seed) % range;
            assert_true(dl_samples_add(&set, all[i]));
        }
        dl_samples_totals(&set, &s);
        dl_sort_u64(all, n);
        assert_int_equal(s.min, all[0]);
        assert_int_equal(s.max, all[n - 1]);
        assert_int_equal(dl_summary_quantiles(&s, &of, 1, NULL), DEVLOG_OK);
        check_quantiles(&s, all, n);
        dl_samples_free(&set);
    }
}

/* Two sets whose chunks alternate, of which most are in a file: every value comes back; and without room for the
 * file, too. */
static void a_pool_goes_to_a_file(void **state)
{
    (void)state;
    enum { VALUES = 6 * 1000 * 1000 };
    static const char *const folders[] = {"/tmp", "/no/such/folder"};
    for (int i = 0; i < 2; i++) {
        dl_sample_pool pool = {.filed.folder = folders[i]};
        dl_samples sets[2] = {{.pool = &pool}, {.pool = &pool}};
        for (uint64_t k = 0; k < VALUES; k++)
            if (!dl_samples_add(&sets[k & 1], k % 1000003 == 0 ? UINT64_MAX - k : k)) fail_msg("no memory");
        assert_true(i || pool.filed.n > 1 || !pool.filed.folder); /* a file system may not promise room */
        for (int set = 0; set < 2; set++) {
            dl_sample_walk w;
            uint64_t value, k = (uint64_t)set;
            dl_sample_walk_start(&w, &sets[set]);
            for (; dl_sample_walk_next(&w, &value); k += 2)
                if (value != (k % 1000003 == 0 ? UINT64_MAX - k : k)) fail_msg("value %lu", (unsigned long)k);
            assert_int_equal(k, VALUES + set);
            dl_samples_free(&sets[set]);
        }
        dl_sample_pool_free(&pool);
    }
}

/* KiB of files that are mapped and in memory. */
static long mapped_files(void)
{
    char line[200];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "RssFile:", 8) == 0) kib = strtol(line + 8, NULL, 10);
    if (f) fclose(f);
    return kib;
}

/* Reading many sets that lie all over the file brings no more of it into memory than a few pieces. */
static void what_is_read_of_a_file_is_let_go(void **state)
{
    (void)state;
    enum { VALUES = 20 * 1000 * 1000, MANY = 100, MOST_KIB = 24 * 1024 };
    static dl_samples sets[MANY];
    dl_sample_pool pool = {.filed.folder = "/tmp"};
    for (uint64_t k = 0; k < MANY; k++)
        sets[k] = (dl_samples){.pool = &pool};
    for (uint64_t k = 0; k < VALUES; k++)
        if (!dl_samples_add(&sets[k % MANY], k)) fail_msg("no memory");
    const long before = mapped_files();
    if (!pool.filed.folder || before < 0) {
        dl_sample_pool_free(&pool);
        skip(); /* the file system promises no room */
    }
    assert_true(pool.filed.n > 2L * MOST_KIB / 2048);
    for (uint64_t k = 0; k < MANY; k++) {
        devlog_error err;
        dl_summary s;
        const dl_samples *of = &sets[k];
        dl_samples_totals(of, &s);
        assert_int_equal(s.min, k);
        assert_int_equal(s.count, VALUES / MANY);
        assert_int_equal(dl_summary_quantiles(&s, &of, 1, &err), DEVLOG_OK);
        assert_int_equal(s.p50, k + (VALUES / MANY / 2 - 1) * (uint64_t)MANY);
        if (mapped_files() - before > MOST_KIB) fail_msg("%ld KiB", mapped_files() - before);
    }
    dl_sample_pool_free(&pool);
}

/* What reports print of an average is the average: as near as a double gets, for sums of any size. */
static void averages_are_the_nearest_double(void **state)
{
    (void)state;
    static const struct {
        uint64_t sum, count;
        const char *text;
    } known[] = {
        {0, 1, "0.0"},
        {0, 0, "0.0"},
        {600, 1, "600.0"},
        {5, 2, "2.5"},
        {1, 3, "0.3333333333333333"},
        {2, 3, "0.6666666666666666"},
        {100, 3, "33.333333333333336"},
        {1, 70000, "1.4285714285714285e-05"},
        {UINT64_MAX, 2, "9.223372036854776e+18"},
        {UINT64_MAX, 1, "1.8446744073709552e+19"},
        {1, UINT64_MAX, "5.421010862427522e-20"},
        {UINT64_MAX - 1, UINT64_MAX, "1.0"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const dl_summary s = {.count = known[i].count, .sum = known[i].sum};
        dl_str out = {0};
        dl_summary_field(&out, &s, 1);
        assert_string_equal(out.text, known[i].text);
        dl_str_free(&out);
    }
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        dl_summary s = {.count = 1 + (test_random(&seed) >> test_random(&seed) % 64)};
        s.sum = (dl_u128)test_random(&seed) << test_random(&seed) % 50 >> test_random(&seed) % 64;
        if (!s.count) s.count = 1;
        dl_str out = {0};
        dl_summary_field(&out, &s, 1);
        long double truth = (long double)s.sum / (long double)s.count;
        /* No double is nearer. */
        const double printed = strtod(out.text, NULL);
        const long double off = fabsl(printed - truth), room = truth * 1e-19L;
        if (off > fabsl(nextafter(printed, 0) - truth) + room ||
            off > fabsl(nextafter(printed, INFINITY) - truth) + room)
            fail_msg("%s is %.20Lg", out.text, truth);
        assert_true(printed == dl_summary_average(&s));
        if (s.sum >> 53 == 0 && s.count >> 53 == 0) assert_true(printed == (double)s.sum / (double)s.count);
        dl_str_free(&out);
    }
}

static void frequencies_are_printed_in_full(void **state)
{
    (void)state;
    char text[DL_GROUPED_SIZE];
    assert_string_equal(dl_mhz_text(text, 1202000), "1202");
    assert_string_equal(dl_mhz_text(text, 1202375), "1202.375");
    assert_string_equal(dl_mhz_text(text, 1234567890), "1234567.89");
    assert_string_equal(dl_mhz_text(text, 5), "0.005");
    assert_string_equal(dl_mhz_text(text, UINT64_MAX), "18446744073709551.615");
}

/* Some of the values are in other processes: here three, of which one is that which asks. */
typedef struct processes {
    dl_samples sets[SETS];
    unsigned begun, passes;
} processes;

static devlog_status begin_sets(void *ctx, const dl_samples *const *sets, size_t n, devlog_error *err)
{
    processes *p = ctx;
    (void)err;
    assert_ptr_equal(sets[0], &p->sets[0]);
    assert_int_equal(n, 1);
    p->begun++;
    return DEVLOG_OK;
}

static devlog_status count_sets(void *ctx, const dl_far_pass *pass, uint64_t *counts, devlog_error *err)
{
    processes *p = ctx;
    (void)err;
    for (size_t i = 0; i < SETS; i++)
        dl_far_count(&p->sets[i], pass, counts);
    p->passes++;
    return DEVLOG_OK;
}

static void far_ones_are_selected(void **state)
{
    (void)state;
    uint64_t seed = 11;
    uint64_t *all = malloc(SETS * MOST * sizeof *all);
    assert_non_null(all);
    for (unsigned number = 0; number < CASES / 2; number++) {
        processes p = {0};
        const dl_far far = {&p, begin_sets, count_sets};
        dl_summary s = {.min = UINT64_MAX};
        devlog_error err;
        for (size_t k = 0; k < SETS; k++) {
            for (uint64_t i = test_random(&seed) % (number % 3 ? 20 : 2000); i > 0; i--) {
                const uint64_t value = duration(number, &seed);
                assert_true(dl_samples_add(&p.sets[k], value));
                s.min = value < s.min ? value : s.min;
                s.max = value > s.max ? value : s.max;
                all[s.count++] = value;
            }
        }
        p.sets[0].far = &far;
        const dl_samples *asked = &p.sets[0];
        if (s.count) {
            assert_int_equal(dl_summary_quantiles(&s, &asked, 1, &err), DEVLOG_OK);
            dl_sort_u64(all, s.count);
            check_quantiles(&s, all, s.count);
            unsigned bits = 0;
            while (bits < 64 && (s.max - s.min) >> bits)
                bits++;
            assert_int_equal(p.passes, (bits + DL_FAR_BITS - 1) / DL_FAR_BITS);
            assert_int_equal(p.begun, 1);
            /* Another count than that of the values: a rank is nowhere. */
            s.count += 1000;
            if (s.min != s.max)
                assert_int_equal(dl_summary_quantiles(&s, &asked, 1, &err), DEVLOG_ERR_FORMAT);
        }
        for (size_t k = 0; k < SETS; k++)
            dl_samples_free(&p.sets[k]);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_those_of_a_sorted_copy),
        cmocka_unit_test(those_of_an_array),
        cmocka_unit_test(few_of_narrow_ranges_are_selected),
        cmocka_unit_test(a_pool_goes_to_a_file),
        cmocka_unit_test(what_is_read_of_a_file_is_let_go),
        cmocka_unit_test(averages_are_the_nearest_double),
        cmocka_unit_test(frequencies_are_printed_in_full),
        cmocka_unit_test(far_ones_are_selected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
